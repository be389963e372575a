// Offered versions, with the check of Cleura. The server must ask Cleura for them, so they are read after a click.
import { useState } from "preact/hooks";

import { api, ask, type Result } from "../api";
import { texts } from "../texts";
import type { Upgrades } from "../types";
import { Foreign, wordOf } from "../ui/foreign";
import { ProblemNotice } from "../ui/problem";
import { Cell, Row, Table } from "../ui/table";
import { When } from "../ui/time";

type Offer = Upgrades["kubernetes"]["offers"][number];

function checkOf({ check }: Offer): string {
  if (!check) return texts.versions.notAsked;
  if (check.error) return check.error;
  return [check.word ?? check.outcome ?? texts.none, ...(check.details ?? []), check.notes ?? ""].filter(Boolean).join(" · ");
}

function Offers({ upgrades }: { upgrades: Upgrades }) {
  const { kubernetes, machine_images } = upgrades, label = texts.versions.column;
  const images = machine_images.flatMap((one) => one.offers.map((offer) => ({ ...offer, pool: one.pool, image: one.image, current: one.current })));
  return (
    <>
      <p>
        {texts.versions.current} <Foreign mono text={kubernetes.current ?? texts.none} />{" "}
        <span class="quiet"><Foreign text={kubernetes.state} /></span>{" "}
        {kubernetes.expires_at && (
          <>
            {texts.versions.ends} <When at={kubernetes.expires_at} focusable />
          </>
        )}
      </p>
      {kubernetes.offers.length ? (
        <Table stacked labelledBy="versions-heading" columns={label}>
          {kubernetes.offers.map((offer) => (
            <Row key={offer.version}>
              <Cell label={label.version} head>
                <Foreign mono text={offer.version} />
                {offer.recommended && <span class="tag">{texts.versions.recommended}</span>}
              </Cell>
              <Cell label={label.kind}>{wordOf(texts.versions.kind, offer.kind)}</Cell>
              <Cell label={label.state}>
                <Foreign text={offer.state ?? texts.none} />
              </Cell>
              <Cell label={label.ends}>
                <When at={offer.expires_at} focusable />
              </Cell>
              <Cell label={label.rolls}>{offer.rolls_nodes ? texts.yes : texts.no}</Cell>
              <Cell label={label.check}>
                <Foreign text={checkOf(offer)} />
              </Cell>
            </Row>
          ))}
        </Table>
      ) : (
        <p class="quiet">{texts.versions.newest}</p>
      )}
      {images.map((offer) => (
        <p key={`${offer.pool} ${offer.version}`}>
          {texts.versions.image} <Foreign mono text={offer.pool} />: <Foreign mono text={`${offer.image} ${offer.current} → ${offer.version}`} />{" "}
          <span class="quiet"><Foreign text={offer.state} /></span>{" "}
          {offer.expires_at && (
            <>
              {texts.versions.ends} <When at={offer.expires_at} focusable />
            </>
          )}
        </p>
      ))}
      <p class="quiet">
        {texts.versions.asked} <When at={upgrades.fetched_at} focusable />
      </p>
    </>
  );
}

export function VersionsPanel({ project, name }: { project: string; name: string }) {
  const [result, setResult] = useState<Result<Upgrades> | "asking" | null>(null);
  async function read() {
    setResult("asking");
    setResult(await ask(api.GET("/v1/projects/{project}/clusters/{cluster}/upgrades", { params: { path: { project, cluster: name } } })));
  }
  return (
    <section class="panel" aria-labelledby="versions-heading">
      <h2 id="versions-heading">{texts.versions.heading}</h2>
      {result && result !== "asking" && (result.ok ? <Offers upgrades={result.value} /> : <ProblemNotice problem={result.problem} />)}
      <button type="button" aria-disabled={result === "asking"} onClick={() => result !== "asking" && void read()}>
        {result === "asking" ? texts.versions.asking : texts.versions.ask}
      </button>
    </section>
  );
}

// The audit log: requests with their callers and outcomes. For admins.
import { useEffect, useMemo } from "preact/hooks";

import { api, ask } from "../api";
import { clusterLink, placeQuery } from "../router";
import { texts } from "../texts";
import type { AuditEntry } from "../types";
import { useCountSpoken } from "../ui/count_spoken";
import { Foreign, visible, wordOf } from "../ui/foreign";
import { PageHead } from "../ui/page_head";
import { makePages, Pager, PagesState, type Page } from "../ui/paging";
import { optionsOf, projectField, QueryFilters, type Field } from "../ui/query_filters";
import { Cell, Row, Table } from "../ui/table";
import { When } from "../ui/time";

const PAGE = 100;

const fields = (): Field[] => [
  { name: "since", label: texts.audit.since, example: texts.audit.sinceExample },
  { name: "until", label: texts.audit.until, example: texts.audit.untilExample },
  { name: "actor", label: texts.audit.actor, example: texts.audit.actorExample },
  { name: "action", label: texts.audit.action, example: texts.audit.actionExample },
  { name: "target", label: texts.audit.target, example: texts.audit.targetExample },
  { name: "outcome", label: texts.audit.outcome, options: optionsOf(texts.audit.outcomes) },
  projectField(),
];

function readerOf(asked: URLSearchParams) {
  const text = (name: string) => asked.get(name) || undefined;
  const outcome = (asked.get("outcome") ?? "").split(",").filter(Boolean) as AuditEntry["outcome"][];
  const query = { since: text("since"), until: text("until"), actor: text("actor"), action: text("action"), target: text("target"), project: text("project"), outcome, limit: PAGE };
  return makePages<AuditEntry>(async (cursor) => {
    const result = await ask(api.GET("/v1/audit", { params: { query: { ...query, cursor } } }));
    return result.ok ? { ...result, value: result.value as unknown as Page<AuditEntry> } : result;
  });
}

function Target({ entry }: { entry: AuditEntry }) {
  const { project, cluster, target } = entry;
  if (!project && !target) return <span class="quiet">{texts.none}</span>;
  return (
    <>
      {project && cluster ? <a href={clusterLink(project, cluster)}>{visible(cluster)}</a> : null}{" "}
      {project && <span class="quiet"><Foreign text={project} /></span>}
      {target && <Foreign mono text={target} />}
    </>
  );
}

/** The names of the sent members, the reason of a refusal, the number of left out entries. */
function detailsOf(entry: AuditEntry): string {
  return [
    entry.code ?? "",
    entry.members.join(", "),
    entry.left_out === null ? "" : texts.audit.leftOut(entry.left_out),
    entry.operation_id ?? "",
  ].filter(Boolean).join(" · ");
}

function Entry({ entry }: { entry: AuditEntry }) {
  const label = texts.audit.column;
  return (
    <Row>
      <Cell label={label.at}>
        <When at={entry.at} focusable />
      </Cell>
      <Cell label={label.actor}>
        <Foreign text={entry.token_name ?? texts.audit.daemon} />
        {entry.address && <span class="quiet mono foreign">{visible(entry.address)}</span>}
      </Cell>
      <Cell label={label.action} head kind="mono">
        {visible(entry.action)}
      </Cell>
      <Cell label={label.target}>
        <Target entry={entry} />
      </Cell>
      <Cell label={label.outcome} kind="comes-first">
        <span class={`tag outcome-${entry.outcome}`}>{wordOf(texts.audit.outcomes, entry.outcome)}</span>
        {entry.status !== null && <span class="mono quiet"> {entry.status}</span>}
      </Cell>
      <Cell label={label.details}>
        <Foreign text={detailsOf(entry) || texts.none} />
      </Cell>
    </Row>
  );
}

function Entries({ items }: { items: AuditEntry[] }) {
  return (
    <Table kind="audit" panel stacked label={texts.audit.heading} columns={texts.audit.column}>
      {items.map((entry) => (
        <Entry key={entry.sequence} entry={entry} />
      ))}
    </Table>
  );
}

export function AuditPage() {
  const asked = String(placeQuery.value);
  const pages = useMemo(() => readerOf(new URLSearchParams(asked)), [asked]);
  useEffect(() => (void pages.read(), pages.goOn()), [pages]);
  const items = pages.items.value, more = pages.more.value;
  const isThere = pages.state.value === "there";
  const empty = more ? texts.audit.noneHere : asked ? texts.audit.noneMatch : texts.audit.none;
  useCountSpoken(asked, isThere && asked !== "", () => (items.length ? texts.audit.found(items.length, more) : empty));
  return (
    <>
      <PageHead heading={texts.audit.heading} />
      <QueryFilters fields={fields()}>
        <button type="button" onClick={() => void pages.again()}>
          {texts.audit.again}
        </button>
      </QueryFilters>
      <PagesState pages={pages} />
      {isThere && (items.length ? <Entries items={items} /> : <p class="panel empty">{empty}</p>)}
      <Pager pages={pages} />
    </>
  );
}

// Events as they happen. The user can hold the list while reading it.
import { useEffect, useMemo, useState } from "preact/hooks";

import { clusterLink, placeQuery, webhookLink } from "../router";
import { mayAs } from "../session";
import { texts } from "../texts";
import type { Event } from "../types";
import { useCountSpoken } from "../ui/count_spoken";
import { brief, Foreign, visible, wordOf } from "../ui/foreign";
import { PageHead } from "../ui/page_head";
import { PhaseIcon } from "../ui/phase";
import { ProblemNotice } from "../ui/problem";
import { optionsOf, projectField, QueryFilters, type Field } from "../ui/query_filters";
import { useStill } from "../ui/still";
import { When } from "../ui/time";
import { askedOf, makeEvents, MOST } from "./store";

const fields = (): Field[] => [
  { name: "type", label: texts.events.type, options: optionsOf({ ...texts.events.family, ...texts.event }) },
  projectField(),
  { name: "cluster", label: texts.events.cluster },
];

/** The subject of the event: a cluster, an account, a webhook, a token, or the scope of a freeze. */
function Subject({ event }: { event: Event }) {
  const { project, cluster, account, webhook, token_name, scope } = event.data;
  if (project && cluster)
    return (
      <>
        <a href={clusterLink(project, cluster)}>{visible(cluster)}</a> <span class="quiet project">{visible(project)}</span>
      </>
    );
  if (webhook && mayAs("operator")) return <a href={webhookLink(webhook)}>{visible(webhook)}</a>;
  return <>{visible(account ?? webhook ?? token_name ?? scope ?? project ?? "")}</>;
}

function Entry({ event }: { event: Event }) {
  const { phase, message, reason, requested_by, by, operation_type } = event.data;
  const type = operation_type ? wordOf(texts.operationType, operation_type) : null;
  const who = requested_by ?? by;
  return (
    <li class="entry">
      <When at={event.timestamp} focusable />
      <p class="entry-name">
        <Subject event={event} />
      </p>
      <div>
        <p>
          {phase && <PhaseIcon phase={phase} />} <b>{wordOf(texts.event, event.type)}</b> {type && <span>{type}</span>}{" "}
          {who && <span class="quiet foreign">{texts.operation.by(brief(who))}</span>}
        </p>
        {(message || reason) && <p><Foreign text={message || reason} /></p>}
      </div>
    </li>
  );
}

function List({ data, asked, hold }: { data: ReturnType<typeof makeEvents>; asked: string; hold: boolean }) {
  const items = data.items.value;
  const still = useStill(items, (event) => String(event.sequence), asked, hold);
  if (!still.items.length) return <p class="panel empty">{asked ? texts.events.noneMatch : texts.events.none}</p>;
  const shown = new Set(still.items.map((event) => event.sequence));
  const news = items.filter((event) => !shown.has(event.sequence)).length;
  return (
    <div class="together">
      <div class="list-area" {...still.area}>
        <ul class="panel entries" tabIndex={-1} aria-label={texts.events.heading}>
          {still.items.map((event) => (
            <Entry key={event.sequence} event={event} />
          ))}
        </ul>
        {still.differs && news > 0 && (
          <button type="button" class="primary order-note" onClick={still.apply}>
            {texts.events.news(news)}
          </button>
        )}
      </div>
      {data.cursor.value && (
        <p>
          <button type="button" onClick={() => void data.older()}>
            {texts.events.older}
          </button>
        </p>
      )}
      {items.length >= MOST && <p class="quiet">{texts.events.most(MOST)}</p>}
    </div>
  );
}

function foundOf({ items, cursor }: ReturnType<typeof makeEvents>): string {
  const found = items.value.length;
  return found ? texts.events.found(found, cursor.value !== null || found >= MOST) : texts.events.noneMatch;
}

export function EventsPage() {
  const asked = String(placeQuery.value);
  const [hold, setHold] = useState(false);
  const data = useMemo(() => makeEvents(askedOf(new URLSearchParams(asked))), [asked]);
  useEffect(() => data.start(), [data]);
  const state = data.state.value;
  useCountSpoken(asked, state === "there" && asked !== "", () => foundOf(data));
  return (
    <>
      <PageHead heading={texts.events.heading} />
      <QueryFilters fields={fields()}>
        <button type="button" aria-pressed={hold} onClick={() => setHold(!hold)}>
          {texts.events.hold}
        </button>
      </QueryFilters>
      {state === "loading" && <p class="panel empty">{texts.pages.loading}</p>}
      {(state === "failed" || data.problem.value) && <ProblemNotice problem={data.problem.value} again={() => void data.again()} />}
      {state === "there" && <List data={data} asked={asked} hold={hold} />}
    </>
  );
}

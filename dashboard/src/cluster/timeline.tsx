// Events and operations of a cluster in one order, the newest first: the last ones of each, and links to the pages that have all of them.
import { historyLink } from "../router";
import { texts } from "../texts";
import type { Event, Operation } from "../types";
import { Foreign, wordOf } from "../ui/foreign";
import { PhaseIcon } from "../ui/phase";
import { span, When } from "../ui/time";
import { historyOf, nothing, type Part } from "./history";

function OperationEntry({ operation }: { operation: Operation }) {
  const lasted = operation.finished_at && operation.created_at ? Date.parse(operation.finished_at) - Date.parse(operation.created_at) : null;
  return (
    <div>
      <p>
        <b>{wordOf(texts.operationType, operation.type)}</b>{" "}
        <span class={`tag status-${operation.status}`}>{wordOf(texts.operationStatus, operation.status)}</span>{" "}
        {lasted !== null && <span class="quiet">{texts.timeline.lasted(span(lasted))}</span>}{" "}
        {operation.requested_by && <span class="quiet"><Foreign text={texts.operation.by(operation.requested_by)} /></span>}
      </p>
      {operation.error && <p><Foreign text={operation.error.detail} /></p>}
    </div>
  );
}

function EventEntry({ event }: { event: Event }) {
  return (
    <div>
      <p>
        {event.data.phase && <PhaseIcon phase={event.data.phase} />} <b>{wordOf(texts.event, event.type)}</b>
      </p>
      {event.data.message && <p><Foreign text={event.data.message} /></p>}
    </div>
  );
}

type Props = { project: string; name: string; events: Part<Event> | null; operations: Part<Operation> | null };

export function Timeline({ project, name, events, operations }: Props) {
  const { items: entries, isWhole } = historyOf(events ?? nothing, operations ?? nothing);
  const isRead = events !== null && operations !== null;
  return (
    <section class="panel" aria-labelledby="timeline-heading">
      <h2 id="timeline-heading">{texts.timeline.heading}</h2>
      {entries.length ? (
        <ol class="timeline">
          {entries.map((entry) => (
            <li key={entry.key} class={entry.operation ? "of-operation" : "of-event"}>
              <When at={entry.at} focusable />
              {entry.operation && <OperationEntry operation={entry.operation} />}
              {entry.event && <EventEntry event={entry.event} />}
            </li>
          ))}
        </ol>
      ) : (
        isRead && <p class="quiet">{texts.timeline.none}</p>
      )}
      {!isRead && <p class="quiet">{texts.timeline.unread}</p>}
      <p>
        {!isWhole && <span class="quiet">{texts.timeline.older} </span>}
        <a href={historyLink("events", project, name)}>{texts.timeline.allEvents}</a>{" · "}
        <a href={historyLink("operations", project, name)}>{texts.timeline.allOperations}</a>
      </p>
    </section>
  );
}

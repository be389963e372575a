// Events and operations of a cluster in one order, the newest first: the last ones of each, and links to the pages that have all of them.
import { historyLink } from "../router";
import { texts } from "../texts";
import type { Event, Operation } from "../types";
import { Foreign } from "../ui/foreign";
import { PhaseIcon } from "../ui/phase";
import { span, When } from "../ui/time";

type Entry = { key: string; at: string; event?: Event; operation?: Operation };

/** Events about an operation are left out, because the operation has an entry. */
function entriesOf(events: Event[], operations: Operation[]): Entry[] {
  const known = new Set(operations.map((operation) => operation.id));
  const own = (event: Event) => event.type.startsWith("operation.") && known.has(event.data.operation_id ?? "");
  const entries: Entry[] = [
    ...events.filter((event) => !own(event)).map((event) => ({ key: event.id, at: event.timestamp, event })),
    ...operations.map((operation) => ({ key: operation.id, at: operation.created_at ?? "", operation })),
  ];
  return entries.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
}

function OperationEntry({ operation }: { operation: Operation }) {
  const lasted = operation.finished_at && operation.created_at ? Date.parse(operation.finished_at) - Date.parse(operation.created_at) : null;
  return (
    <div>
      <p>
        <b>{texts.operationType[operation.type] ?? operation.type}</b>{" "}
        <span class={`tag status-${operation.status}`}>{texts.operationStatus[operation.status] ?? operation.status}</span>{" "}
        {lasted !== null && <span class="quiet">{texts.timeline.lasted(span(lasted))}</span>}{" "}
        {operation.requested_by && <span class="quiet">{texts.operation.by(operation.requested_by)}</span>}
      </p>
      {operation.error && <p><Foreign text={operation.error.detail} /></p>}
    </div>
  );
}

function EventEntry({ event }: { event: Event }) {
  return (
    <div>
      <p>
        {event.data.phase && <PhaseIcon phase={event.data.phase} />} <b>{texts.event[event.type as keyof typeof texts.event] ?? event.type}</b>
      </p>
      {event.data.message && <p><Foreign text={event.data.message} /></p>}
    </div>
  );
}

type Props = { project: string; name: string; events: Event[]; operations: Operation[] };

export function Timeline({ project, name, events, operations }: Props) {
  const entries = entriesOf(events, operations);
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
        <p class="quiet">{texts.timeline.none}</p>
      )}
      <p>
        <a href={historyLink("events", project, name)}>{texts.timeline.allEvents}</a>{" · "}
        <a href={historyLink("operations", project, name)}>{texts.timeline.allOperations}</a>
      </p>
    </section>
  );
}

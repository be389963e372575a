// The history of a cluster: events and operations in one order, the newest first. Only the newest items of each list are read, and one list
// reaches back further than the other. The history ends where the first of them ends, because before that it would lack what the other list has.
import type { Event, Operation } from "../types";

export type Part<T> = { items: T[]; isWhole: boolean };
export type Entry = { key: string; at: string; event?: Event; operation?: Operation };

export const nothing = { items: [], isWhole: true };

const atOf = (operation: Operation) => operation.created_at ?? "";

/** The time from which a list is complete. */
function beginOf<T>({ items, isWhole }: Part<T>, at: (item: T) => string): string {
  const oldest = items.at(-1);
  return isWhole || !oldest ? "" : at(oldest);
}

/** Events about an operation are left out, because the operation has an entry. `isWhole`: there are no older entries. */
export function historyOf(events: Part<Event>, operations: Part<Operation>): Part<Entry> {
  const begins = [beginOf(events, (event) => event.timestamp), beginOf(operations, atOf)];
  const isIn = ({ at }: Entry) => begins.every((begin) => at >= begin);
  const done: Entry[] = operations.items.map((operation) => ({ key: operation.id, at: atOf(operation), operation })).filter(isIn);
  const known = new Set(done.map(({ key }) => key));
  const own = (event: Event) => event.type.startsWith("operation.") && known.has(event.data.operation_id ?? "");
  const happened: Entry[] = events.items.filter((event) => !own(event)).map((event) => ({ key: event.id, at: event.timestamp, event })).filter(isIn);
  return {
    items: [...happened, ...done].sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0)),
    isWhole: events.isWhole && operations.isWhole,
  };
}

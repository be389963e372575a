// The state of the connection to the server, as this tab knows it.
import { signal } from "@preact/signals";

/**
 * `since`: the time in ms at which this state began; for `away` the time of the last data from the server. `blocked`: the server answers,
 * but with no stream; `why` has its reason.
 */
export type Link = { state: "off" | "connecting" | "live" | "away" | "blocked"; since: number; why?: string };

export const link = signal<Link>({ state: "off", since: 0 });

/** Sets another state. The same state continues since it began. */
export function setLink(next: Link) {
  if (link.peek().state !== next.state) link.value = next;
}

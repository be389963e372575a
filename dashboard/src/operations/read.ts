// Reads the open operations, and one page of ended ones. Events start a new read. Progress causes no events, so open operations are read
// again every few seconds.
import { signal } from "@preact/signals";

import { api, ask } from "../api";
import { goesOn } from "../live/again";
import { gathered } from "../live/gather";
import { every, listen } from "../live/life";
import type { Event, Operation, Problem } from "../types";
import { makePages } from "../ui/paging";

const OPEN_MOST = 200;
const PAGE = 50;
const MOVING_MS = 3_000;
const ALL_MS = 60_000;

type Status = Operation["status"];
type Type = Operation["type"];
const openStatuses: Status[] = ["pending", "running"];
const endedStatuses: Status[] = ["succeeded", "failed", "cancelled"];

/** The filters in the address; several words of one filter are separated by commas. */
export function readOf(asked: URLSearchParams) {
  const words = (name: string) => (asked.get(name) ?? "").split(",").filter(Boolean);
  const statuses = words("status") as Status[];
  const of = (all: Status[]) => all.filter((status) => !statuses.length || statuses.includes(status));
  // An unknown status is sent to the server, which refuses it.
  const unknown = statuses.filter((status) => !openStatuses.includes(status) && !endedStatuses.includes(status));
  return {
    type: words("type") as Type[],
    project: asked.get("project") || undefined,
    cluster: asked.get("cluster") || undefined,
    open: of(openStatuses),
    ended: [...of(endedStatuses), ...unknown],
  };
}

export function makeOperations(asked: URLSearchParams) {
  const { type, project, cluster, open: openOf, ended: endedOf } = readOf(asked);
  const filter = { type, project, cluster };
  const open = signal<Operation[]>([]);
  const openMore = signal(false);
  const state = signal<"loading" | "there" | "failed">("loading");
  const problem = signal<Problem | null>(null);
  const ended = makePages<Operation>((cursor) => ask(api.GET("/v1/operations", { params: { query: { ...filter, status: endedOf, limit: PAGE, cursor } } })));

  /** Reads open operations first: an operation that ends between the two reads is in both results, and counts as ended. */
  async function readNow() {
    if (openOf.length) {
      const result = await ask(api.GET("/v1/operations", { params: { query: { ...filter, status: openOf, limit: OPEN_MOST } } }));
      if (!result.ok) return failed(result.problem);
      open.value = result.value.items;
      openMore.value = result.value.next_cursor !== null;
    }
    if (endedOf.length) await ended.read();
    if (endedOf.length && ended.state.peek() === "failed") return failed(ended.problem.peek());
    problem.value = null;
    state.value = "there";
  }

  function failed(why: Problem | null) {
    problem.value = why;
    if (state.peek() === "loading") state.value = "failed";
  }

  let reading: Promise<void> | null = null;
  const read = () => (reading ??= readNow().finally(() => (reading = null)));

  function again() {
    if (state.peek() === "failed") state.value = "loading";
    return ended.state.peek() === "failed" ? ended.again().then(read) : read();
  }

  function start() {
    void read();
    const soon = gathered(read);
    const concerns = (event: Event) => event.type.startsWith("operation.");
    const ends = [
      listen({ events: (some) => some.some(concerns) && soon(), reset: soon }),
      every(MOVING_MS, () => open.peek().length && void read()),
      every(ALL_MS, () => void read()),
      goesOn({ state, problem }, read),
    ];
    return () => ends.forEach((end) => end());
  }

  return { open, openMore, state, problem, ended, again, start };
}

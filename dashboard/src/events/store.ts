// New events from the stream of the page, and older events from the server. The number of stored events is bounded.
import { batch, signal } from "@preact/signals";

import { api, ask } from "../api";
import { goesOn } from "../live/again";
import { listen } from "../live/life";
import type { Listener } from "../live/tabs";
import type { Event, Problem } from "../types";

const PAGE = 100;
export const MOST = 500;
const PAINT_MS = 250;

export type Asked = { type: string; project: string; cluster: string };

export function askedOf(query: URLSearchParams): Asked {
  return { type: query.get("type") ?? "", project: query.get("project") ?? "", cluster: query.get("cluster") ?? "" };
}

/** Whether the server would return the event for these filters: words separated by commas; `operation.*` is a family. */
export function fits(event: Event, asked: Asked): boolean {
  const one = (text: string, of: string | undefined) => !text || (of !== undefined && text.split(",").map((word) => word.trim()).includes(of));
  const family = `${event.type.split(".", 1)[0]}.*`;
  return (one(asked.type, event.type) || one(asked.type, family)) && one(asked.project, event.data.project) && one(asked.cluster, event.data.cluster);
}

/** Merges both lists without duplicates, newest first, to at most `most` events. */
export function merged(some: Event[], others: Event[], most: number): Event[] {
  const all = new Map([...others, ...some].map((event) => [event.sequence, event]));
  return [...all.values()].sort((a, b) => b.sequence - a.sequence).slice(0, most);
}

export function makeEvents(asked: Asked) {
  const items = signal<Event[]>([]);
  const state = signal<"loading" | "there" | "failed">("loading");
  const problem = signal<Problem | null>(null);
  const cursor = signal<string | null>(null);
  const filter = { type: asked.type || undefined, project: asked.project || undefined, cluster: asked.cluster || undefined };
  /** Events from the stream. A page that was requested before them does not have them. */
  let recent: Event[] = [];
  /** Whether a page must be read, because there was a reset. A new store counts from one again, so former events are no longer merged. */
  let isDue = false;
  let timer = 0;
  let turn = 0;

  function paint() {
    timer = 0;
    items.value = merged(recent, isDue ? [] : items.peek(), MOST);
  }

  /** Reads the newest page, or the page before the oldest event of the list. */
  async function read(isOlder: boolean) {
    const mine = ++turn;
    const older = isOlder && !isDue;
    const from = older ? cursor.peek() : null;
    const query = { ...filter, order: "desc" as const, limit: PAGE, ...(from ? { cursor: from } : {}) };
    const result = await ask(api.GET("/v1/events", { params: { query } }));
    if (mine !== turn) return;
    batch(() => {
      if (!result.ok) {
        problem.value = result.problem;
        if (state.value === "loading") state.value = "failed";
        return;
      }
      const page = result.value as { items: Event[]; next_cursor: string | null };
      if (!older) isDue = false;
      items.value = merged(page.items, older ? items.value : recent, MOST);
      cursor.value = items.value.length < MOST ? page.next_cursor : null;
      problem.value = null;
      state.value = "there";
    });
  }

  /** For the event stream. */
  const toList: Listener = {
    events(some) {
      const mine = some.filter((event) => fits(event, asked));
      if (!mine.length) return;
      recent = [...recent, ...mine].slice(-MOST);
      timer ||= window.setTimeout(paint, PAINT_MS);
    },
    reset() {
      recent = [];
      isDue = true;
      void read(false);
    },
  };

  function start() {
    void read(false);
    const ends = [listen(toList), goesOn({ state, problem }, () => read(false), () => isDue)];
    return () => {
      ends.forEach((end) => end());
      clearTimeout(timer);
    };
  }

  return { items, state, problem, cursor, older: () => read(true), again: () => read(false), start, toList };
}

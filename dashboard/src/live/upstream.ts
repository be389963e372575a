// The state of the projects at Cleura: the age of the displayed data, and problems.
import { computed, signal } from "@preact/signals";

import { api, ask, type Result } from "../api";
import { onEnd, session } from "../session";
import type { Event, Project } from "../types";
import { every, listen } from "./life";

const READ_MS = 10_000;

export const projects = signal<Project[]>([]);

/** Time in ms of the oldest list of the projects that were read; null when there is none. */
export const oldestList = computed(() => {
  const times = projects.value.flatMap((project) => project.upstream.last_list_at ?? []);
  return times.length ? Math.min(...times.map((time) => Date.parse(time))) : null;
});

/** The number of projects whose clusters were never read. */
export const unread = computed(() => projects.value.filter((project) => !project.upstream.last_list_at).length);

/** Projects for which Cleura does not answer, or whose clusters are set aside. */
export const troubled = computed(() =>
  projects.value.filter((one) => one.location_change || one.upstream.breaker !== "closed" || !["ok", "unknown"].includes(one.upstream.login)));

export const frozen = computed(() => projects.value.filter((one) => one.freeze));

async function read() {
  if (session.value.kind !== "in") return;
  const all: Project[] = [];
  let cursor: string | null = null;
  do {
    const result: Result<{ items: Project[]; next_cursor: string | null }> = await ask(api.GET("/v1/projects", { params: { query: { limit: 1000, ...(cursor ? { cursor } : {}) } } }));
    if (!result.ok) return;
    all.push(...result.value.items);
    cursor = result.value.next_cursor;
  } while (cursor);
  projects.value = all;
}

const concerns = (event: Event) => event.type.startsWith("account.") || event.type.startsWith("freeze.") || event.type === "cluster.unreachable";

export function startUpstream() {
  listen({ events: (events) => events.some(concerns) && void read(), reset: () => void read() });
  every(READ_MS, () => void read());
  onEnd(() => (projects.value = []));
}

// The first view: a short page of clusters in the order of the table, and the totals as the server counts them. Both are
// requested before the event stream begins. store.ts reads all clusters afterwards.
import { signal } from "@preact/signals";

import { api, ask, type Result } from "../api";
import { route } from "../router";
import { token } from "../token";
import type { ClusterCounts, ClusterSummary } from "../types";
import { query, type Query, type SortKey } from "./query";
import { load, put, reached } from "./rows";

const FIRST = 100;

/** Totals for the time until all clusters are there. */
export const counted = signal<ClusterCounts | null>(null);

/** For each order of the table: the order of the server that begins in the same way, or almost. */
const sortOf: Record<SortKey, string> = {
  name: "name", trouble: "trouble", phase: "phase", health: "health", version: "kubernetes_version", expires: "expires_at", changed: "-updated_at",
};

/** The query with the filters that mean the same at the server. The page applies all filters to the answer. */
export function firstOf({ q, project, phase, health, sort, reverse }: Query) {
  const key = sortOf[sort], word = q.trim();
  return {
    fields: "summary" as const,
    limit: FIRST,
    sort: !reverse ? key : key.startsWith("-") ? key.slice(1) : `-${key}`,
    project: project || undefined,
    phase,
    health,
    q: word && !/\s/.test(word) ? word : undefined,
  };
}

let askedWith: string | null = null;

/** Reads the first view once for each login. A failure is not shown, because the read of all clusters then fails, too, and shows it. */
export async function readFirst() {
  const mine = token();
  if (mine === null || mine === askedWith || route.peek().page !== "fleet") return;
  askedWith = mine;
  const [page, counts] = await Promise.all([
    ask(api.GET("/v1/clusters", { params: { query: firstOf(query.peek()) } })) as Promise<Result<{ items: unknown[] }>>,
    ask(api.GET("/v1/summary")),
  ]);
  if (mine !== token() || load.peek().state !== "loading") return;
  if (counts.ok) counted.value = counts.value;
  if (!page.ok) return void (askedWith = null);
  const items = page.value.items as ClusterSummary[];
  for (const item of items) put(item, null);
  if (items.length) reached({ state: "partial" });
}

export function forgetFirst() {
  askedWith = null;
  counted.value = null;
}

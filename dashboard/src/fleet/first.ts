// The first view: a short page of clusters in the order of the table, and the totals as the server counts them. It is asked for before the
// event stream has begun; all clusters follow (store.ts).
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

/** The orders of the server that begin like those of the table, or nearly so. */
const sortOf: Record<SortKey, string> = {
  name: "name", trouble: "phase", phase: "phase", health: "health", version: "version", expires: "expires_at", changed: "-updated_at",
};

/** The filters that the server applies like this page. The page applies all of them to the answer. */
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

/** Reads it once for each login. A failure is not shown, because the read of all clusters has the same one. */
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

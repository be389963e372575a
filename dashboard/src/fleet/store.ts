// Reads the clusters that the token may see, in the short form: all of them once, in pages; afterwards events name the clusters to read again.
import { effect, signal, untracked } from "@preact/signals";

import { api, ask, type Result } from "../api";
import { restAfter } from "../live/gather";
import { every, listen } from "../live/life";
import { onEnd, session } from "../session";
import type { Cluster, ClusterSummary, Event, Phase, Problem } from "../types";
import { forgetFirst, readFirst } from "./first";
import { forgetPages, keepOnly, keepPage, samePage, tagOf } from "./pages";
import { beginRound, changed, endRound, forget, isMoving, keyOf, load, moving, put, reached, remove, rows } from "./rows";

/** Counts of changes since the page was loaded, for the summary for screen readers. */
export const changes = signal<{ changed: number; failed: number }>({ changed: 0, failed: 0 });

type Asked = { fields: "summary"; limit: number; cursor?: string; phase?: Phase[] };
type Page = { items: (Cluster | ClusterSummary)[]; next_cursor: string | null };
const PAGE = 1000;
const ONE_BY_ONE = 12;
const FLUSH_MS = 400;
const MOVING_MS = 3_000;
const ALL_MS = 60_000;
const WITHOUT_STREAM_MS = 1_500;
const RETRY_MS = 2_000;

// ---- reading ----

let generation = 0;
let reading: Promise<void> | null = null;
let again = false;

const pageAsked = (cursor: string | null): Asked => ({ fields: "summary", limit: PAGE, ...(cursor ? { cursor } : {}) });

/** Reads the clusters in these phases. A failure is not shown, because the read of all clusters then fails, too. */
async function readPhases(phase: Phase[]) {
  const mine = generation;
  let cursor: string | null = null;
  do {
    const result: Result<Page> = await ask(api.GET("/v1/clusters", { params: { query: { ...pageAsked(cursor), phase } } }));
    if (mine !== generation || !result.ok) return;
    for (const item of result.value.items as ClusterSummary[]) put(item, null);
    cursor = result.value.next_cursor;
    changed();
  } while (cursor);
}

/** Reads the pages that have changed since the read of all clusters before. `round`: the number of this read. */
async function readPages(round: number): Promise<Problem | null | "changed" | "same"> {
  const mine = generation;
  let cursor: string | null = null, outcome: "changed" | "same" = "same";
  do {
    const tag = tagOf(cursor), header = tag ? { "If-None-Match": tag } : {};
    const result: Result<Page> = await ask(api.GET("/v1/clusters", { params: { query: pageAsked(cursor), header } }));
    if (mine !== generation) return outcome;
    if (!result.ok && !(result.isSame && tag)) return result.problem;
    if (result.ok) outcome = "changed";
    cursor = result.ok ? putPage(cursor, result, round) : samePage(cursor, round);
    if (cursor && ["loading", "failed"].includes(load.peek().state)) reached({ state: "partial" });
    else if (result.ok) changed();
  } while (cursor);
  keepOnly(round);
  return outcome;
}

/** Returns the cursor of the next page. */
function putPage(cursor: string | null, { value, response }: Result<Page> & { ok: true }, round: number): string | null {
  const keys = (value.items as ClusterSummary[]).map((item) => put(item, round));
  const tag = response.headers.get("ETag"), next = value.next_cursor;
  if (tag) keepPage(cursor, { tag, keys, next, round });
  return next;
}

/** Reads all clusters, and removes those that no longer exist. When no server answers, it tries again until all are there. */
async function readAllNow() {
  const round = beginRound();
  dirty.clear();
  const mine = generation;
  const outcome = await readPages(round);
  if (mine !== generation) return;
  if (outcome !== "changed" && outcome !== "same") {
    if (load.peek().state === "loaded") return;
    reached({ state: "failed", problem: outcome });
    if (!outcome) setTimeout(() => mine === generation && load.peek().state === "failed" && void readAll(), RETRY_MS);
    return;
  }
  const someWent = endRound(round);
  if (outcome === "changed" || someWent || load.peek().state !== "loaded") reached({ state: "loaded" });
}

/** A read that is in progress may have begun too early, so another one follows it. */
export function readAll(): Promise<void> {
  if (reading) {
    again = true;
    return reading;
  }
  const mine: Promise<void> = readAllNow().finally(() => {
    if (reading !== mine) return; // the session has ended meanwhile
    reading = null;
    if (!again) return;
    again = false;
    void readAll();
  });
  return (reading = mine);
}

/** Reads the summary of one cluster: searches for its name, which finds all clusters with this text in name, project or labels. */
async function readOne(project: string, name: string): Promise<boolean> {
  const params = { path: { project }, query: { fields: "summary" as const, limit: PAGE, q: name } };
  const result = await ask(api.GET("/v1/projects/{project}/clusters", { params }));
  if (!result.ok) return true;
  const item = (result.value.items as ClusterSummary[]).find((one) => one.name === name);
  if (!item && result.value.next_cursor) return false;
  if (item) put(item, null);
  else remove(keyOf(project, name));
  changed();
  return true;
}

type Name = { project: string; name: string };

/** Reads the clusters that have changed last, twice as many as are wanted. Returns those that were not among them. */
async function readNewest(wanted: Name[]): Promise<Name[]> {
  const mine = generation;
  const query = { fields: "summary" as const, sort: "-updated_at", limit: Math.min(PAGE, wanted.length * 2) };
  const result: Result<Page> = await ask(api.GET("/v1/clusters", { params: { query } }));
  if (mine !== generation) return [];
  if (!result.ok) return wanted;
  const found = new Set<string>();
  for (const item of result.value.items as ClusterSummary[]) {
    put(item, null);
    found.add(keyOf(item.project, item.name));
  }
  changed();
  return wanted.filter(({ project, name }) => !found.has(keyOf(project, name)));
}

// ---- events ----

const dirty = new Map<string, Name>();
let flushing = false;

async function flush() {
  const began = performance.now();
  await reading;
  let wanted = [...dirty.values()];
  dirty.clear();
  if (wanted.length > ONE_BY_ONE) wanted = await readNewest(wanted);
  const whole = wanted.length > ONE_BY_ONE || (await Promise.all(wanted.map((one) => readOne(one.project, one.name)))).includes(false);
  if (whole) await readAll();
  setTimeout(() => {
    flushing = false;
    if (dirty.size) flushSoon();
  }, restAfter(began));
}

function flushSoon() {
  if (flushing) return;
  flushing = true;
  setTimeout(() => void flush(), FLUSH_MS);
}

/** The data in an event is shown at once. */
function apply(event: Event) {
  const { project, cluster, phase, revision } = event.data;
  if (!project || !cluster) return;
  const row = rows.get(keyOf(project, cluster));
  if (row && phase && revision !== undefined && revision >= row.revision) rows.set(row.key, { ...row, status: { ...row.status, phase }, revision, readIn: 0 });
  dirty.set(keyOf(project, cluster), { project, name: cluster });
  const count = changes.peek();
  changes.value = { changed: count.changed + 1, failed: count.failed + (event.type === "cluster.failed" ? 1 : 0) };
}

/** For the event stream. */
export const toStore = {
  events(events: Event[]) {
    events.forEach(apply);
    if (!dirty.size) return;
    changed();
    flushSoon();
  },
  reset: () => void readAll(),
};

function someMove() {
  for (const row of rows.values()) if (isMoving(row.status.phase) || row.status.settling) return true;
  return false;
}

/** After a reload of the page, its token is used for the first view while the server confirms it. */
function mayReadFirst() {
  const now = session.value;
  return now.kind === "in" || (now.kind === "checking" && now.restored);
}

/** Progress causes no events, so clusters in a changing phase are read again every few seconds, all others once a minute. */
export function startFleet() {
  listen(toStore);
  every(MOVING_MS, () => {
    if (!reading && session.value.kind === "in" && someMove()) void readPhases(moving);
  });
  effect(() => {
    if (mayReadFirst()) untracked(() => void readFirst());
  });
  // The start of the stream causes the read of all clusters. Without a stream that read begins after a short time.
  effect(() => {
    const isBegun = () => reading || load.peek().state === "loaded";
    if (session.value.kind === "in") setTimeout(() => !isBegun() && void readAll(), WITHOUT_STREAM_MS);
  });
  every(ALL_MS, () => session.value.kind === "in" && void readAll());
  onEnd(() => {
    generation++;
    reading = null;
    again = false;
    dirty.clear();
    forgetFirst();
    forgetPages();
    forget();
  });
}

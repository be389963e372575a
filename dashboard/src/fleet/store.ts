// All clusters that the token may see, in the short form. They are read once, in pages; afterwards events name the clusters to read again.
import { effect, signal } from "@preact/signals";

import { api, ask, type Result } from "../api";
import { every, listen } from "../live/life";
import { onEnd, session } from "../session";
import type { Cluster, ClusterSummary, Event, Phase, Problem } from "../types";

/**
 * A summary with additional members: the words for the search, and the keys for sorting by name, by version and by its end. `ends`: when
 * the version expires, in ms; Infinity when that is not known.
 */
export type Row = ClusterSummary & { key: string; words: string; byName: string; byVersion: string; ends: number };

export type Load =
  | { state: "loading" }
  | { state: "loaded" }
  | { state: "failed"; problem: Problem | null };

export const rows = new Map<string, Row>();
/** Increases when `rows` has changed, once per frame; with many rows less often. */
export const revision = signal(0);
export const load = signal<Load>({ state: "loading" });
/** Counts of changes since the page was loaded, for the summary for screen readers. */
export const changes = signal<{ changed: number; failed: number }>({ changed: 0, failed: 0 });

type Asked = { fields: "summary"; limit: number; cursor?: string; phase?: Phase[] };
type Page = { items: (Cluster | ClusterSummary)[]; next_cursor: string | null };
const PAGE = 1000;
const ONE_BY_ONE = 12;
const FLUSH_MS = 400;
const FLUSH_FACTOR = 10;
const MOVING_MS = 3_000;
const ALL_MS = 60_000;
const MANY = 1_000;
const MANY_MS = 200;
const WITHOUT_STREAM_MS = 1_500;

const moving: Phase[] = ["pending", "creating", "updating", "hibernating", "waking", "retrying", "deleting"];
export const isMoving = (phase: Phase) => moving.includes(phase);

export const keyOf = (project: string, name: string) => `${project}/${name}`;
export const partsOf = (key: string): [string, string] => [key.slice(0, key.indexOf("/")), key.slice(key.indexOf("/") + 1)];

let painting = false;
function changed() {
  if (painting) return;
  painting = true;
  const paint = () => {
    painting = false;
    revision.value++;
  };
  // Sorting and counting many rows takes some milliseconds, so several changes are applied together.
  if (document.hidden || rows.size > MANY) setTimeout(paint, MANY_MS);
  else requestAnimationFrame(paint);
}

/** Pads numbers to one width, so that a comparison of texts compares numbers. This is many times faster than a collator. */
const padded = (text: string) => text.replace(/\d+/g, (digits) => digits.padStart(8, "0"));

/** All words for the search, in lower case. */
function wordsOf(item: ClusterSummary) {
  const labels = Object.entries(item.labels).map(([key, value]) => `${key}=${value}`);
  return [item.project, item.name, ...labels].join(" ").toLowerCase();
}

const endOf = ({ expires_at }: ClusterSummary) => (expires_at ? Date.parse(expires_at) : Infinity);

/** `anyway`: accepts an older version, too, because a restored store has older versions. */
function put(item: ClusterSummary, anyway: boolean) {
  const key = keyOf(item.project, item.name);
  const old = rows.get(key);
  if (!anyway && old && old.id === item.id && old.version > item.version) return;
  const byName = padded(`${item.name} ${item.project}`), byVersion = padded(item.kubernetes_version ?? "");
  rows.set(key, { ...item, key, words: wordsOf(item), byName, byVersion, ends: endOf(item) });
}

// ---- reading ----

let generation = 0;
let reading: Promise<void> | null = null;
let again = false;

async function readPages(phases: Phase[] | null, seen: Set<string> | null): Promise<Problem | null | "done"> {
  const mine = generation;
  let cursor: string | null = null;
  do {
    const query: Asked = { fields: "summary", limit: PAGE, ...(cursor ? { cursor } : {}), ...(phases ? { phase: phases } : {}) };
    const result: Result<Page> = await ask(api.GET("/v1/clusters", { params: { query } }));
    if (mine !== generation) return "done";
    if (!result.ok) return result.problem;
    for (const item of result.value.items as ClusterSummary[]) {
      put(item, seen !== null);
      seen?.add(keyOf(item.project, item.name));
    }
    cursor = result.value.next_cursor;
    if (seen && load.value.state !== "loaded") load.value = { state: "loaded" };
    changed();
  } while (cursor);
  return "done";
}

/** Reads all clusters, and removes those that no longer exist. */
async function readAllNow() {
  const before = new Set(rows.keys());
  const seen = new Set<string>();
  dirty.clear();
  const mine = generation;
  const outcome = await readPages(null, seen);
  if (mine !== generation) return;
  if (outcome !== "done") {
    if (load.value.state !== "loaded") load.value = { state: "failed", problem: outcome };
    return;
  }
  for (const key of before) if (!seen.has(key)) rows.delete(key);
  load.value = { state: "loaded" };
  changed();
}

/** A read that is in progress may have begun too early, so another one follows it. */
export function readAll(): Promise<void> {
  if (reading) {
    again = true;
    return reading;
  }
  reading = readAllNow().finally(() => {
    reading = null;
    if (!again) return;
    again = false;
    void readAll();
  });
  return reading;
}

/** Reads the summary of one cluster: searches for its name, which finds all clusters with this text in name, project or labels. */
async function readOne(project: string, name: string): Promise<boolean> {
  const params = { path: { project }, query: { fields: "summary" as const, limit: PAGE, q: name } };
  const result = await ask(api.GET("/v1/projects/{project}/clusters", { params }));
  if (!result.ok) return true;
  const item = (result.value.items as ClusterSummary[]).find((one) => one.name === name);
  if (!item && result.value.next_cursor) return false;
  if (item) put(item, false);
  else rows.delete(keyOf(project, name));
  changed();
  return true;
}

// ---- events ----

const dirty = new Map<string, { project: string; name: string }>();
let flushing = false;

async function flush() {
  const began = performance.now();
  await reading;
  const wanted = [...dirty.values()];
  dirty.clear();
  const whole = wanted.length > ONE_BY_ONE || (await Promise.all(wanted.map((one) => readOne(one.project, one.name)))).includes(false);
  if (whole) await readAll();
  // When reads take long, they are less frequent.
  setTimeout(() => {
    flushing = false;
    if (dirty.size) flushSoon();
  }, (performance.now() - began) * FLUSH_FACTOR);
}

function flushSoon() {
  if (flushing) return;
  flushing = true;
  setTimeout(() => void flush(), FLUSH_MS);
}

/** The data in an event is shown at once. */
function apply(event: Event) {
  const { project, cluster, phase, version } = event.data;
  if (!project || !cluster) return;
  const row = rows.get(keyOf(project, cluster));
  if (row && phase && version !== undefined && version >= row.version) rows.set(row.key, { ...row, phase, version });
  dirty.set(keyOf(project, cluster), { project, name: cluster });
  const count = changes.peek();
  changes.value = { changed: count.changed + 1, failed: count.failed + (event.type === "cluster.failed" ? 1 : 0) };
}

const toStore = {
  events(events: Event[]) {
    events.forEach(apply);
    if (!dirty.size) return;
    changed();
    flushSoon();
  },
  reset: () => void readAll(),
};

/** Progress causes no events, so clusters in a changing phase are read again every few seconds, all others once a minute. */
export function startFleet() {
  listen(toStore);
  every(MOVING_MS, () => {
    const some = [...rows.values()].some((row) => isMoving(row.phase) || row.settling);
    if (some && !reading && session.value.kind === "in") void readPages(moving, null);
  });
  // The start of the stream causes the first read. Without a stream the first read begins after a short time.
  effect(() => {
    if (session.value.kind === "in") setTimeout(() => load.peek().state === "loading" && !reading && void readAll(), WITHOUT_STREAM_MS);
  });
  every(ALL_MS, () => session.value.kind === "in" && void readAll());
  onEnd(() => {
    generation++;
    reading = null;
    again = false;
    rows.clear();
    dirty.clear();
    load.value = { state: "loading" };
    changed();
  });
}

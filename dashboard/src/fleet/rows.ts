// The clusters in memory, one row each, and how complete they are.
import { batch, signal } from "@preact/signals";

import type { ClusterSummary, Phase, Problem } from "../types";

/**
 * A summary with additional members: the words for the search, and the keys for sorting by name, by version, by its end and by the last
 * change. They are computed once, because a filter or a sort reads them for each of many rows. `minor`: the version without its patch.
 * `ends`: when the version expires, in ms; Infinity when that is not known. `changed`: the last change, in ms; -Infinity for none.
 * `troubleAt`: the begin of the trouble, in ms; Infinity while there is none.
 * `seenIn`: the number of the read of all clusters that has last seen it. `readIn`: the number of the read of all clusters that its data is
 * from; 0 when an event or another read has changed it since then.
 */
export type Row = ClusterSummary & {
  key: string; words: string; byName: string; byVersion: string; minor: string; ends: number; changed: number; troubleAt: number; seenIn: number; readIn: number;
};

/** `partial`: some clusters are there, and the others are being read. */
export type Load =
  | { state: "loading" }
  | { state: "partial" }
  | { state: "loaded" }
  | { state: "failed"; problem: Problem | null };

export const rows = new Map<string, Row>();
/** Increases when `rows` has changed, once per frame; with many rows less often. */
export const revision = signal(0);
/** Increases together with `revision` when rows were added or removed. */
export const members = signal(0);
export const load = signal<Load>({ state: "loading" });

const MANY = 1_000;
const MANY_MS = 200;

/** Phases that end by themselves. */
export const moving: Phase[] = ["pending", "creating", "updating", "hibernating", "waking", "retrying", "deleting"];
export const isMoving = (phase: Phase) => moving.includes(phase);

export const keyOf = (project: string, name: string) => `${project}/${name}`;
export const partsOf = (key: string): [string, string] => [key.slice(0, key.indexOf("/")), key.slice(key.indexOf("/") + 1)];

// ---- what is painted ----

let othersAreThere = false;

function paint() {
  batch(() => {
    revision.value++;
    if (othersAreThere) members.value++;
    othersAreThere = false;
  });
}

let isDue = false;

/** Paints soon. Sorting and counting many rows takes some milliseconds, so several changes are painted together. */
export function changed() {
  if (isDue) return;
  isDue = true;
  const due = () => {
    isDue = false;
    paint();
  };
  if (document.hidden || rows.size > MANY) setTimeout(due, MANY_MS);
  else requestAnimationFrame(due);
}

/** Paints at once, so that the page never shows the new state with the old rows. */
export function reached(next: Load) {
  batch(() => {
    load.value = next;
    paint();
  });
}

// ---- one row ----

/** Pads numbers to one width, so that a comparison of texts compares numbers. This is many times faster than a collator. */
const padded = (text: string) => text.replace(/\d+/g, (digits) => digits.padStart(8, "0"));

const minorOf = (version: string | null) => (version ? version.split(".", 2).join(".") : "unknown");

/** All words for the search, in lower case. */
function wordsOf(item: ClusterSummary) {
  const labels = Object.entries(item.labels).map(([key, value]) => `${key}=${value}`);
  return [item.project, item.name, ...labels].join(" ").toLowerCase();
}

const timeOf = (text: string | null, without: number) => (text ? Date.parse(text) : without);

export function rowOf(item: ClusterSummary, seenIn: number, readIn: number): Row {
  const { project, name, kubernetes_version: version } = item;
  return {
    ...item,
    key: keyOf(project, name),
    words: wordsOf(item),
    byName: padded(`${name} ${project}`),
    byVersion: padded(version ?? ""),
    minor: minorOf(version),
    ends: timeOf(item.expires_at, Infinity),
    changed: timeOf(item.updated_at, -Infinity),
    troubleAt: timeOf(item.status.trouble_since, Infinity),
    seenIn,
    readIn,
  };
}

/** Whether the row has this data. The time of the observation is not shown. */
function hasData(row: Row, item: ClusterSummary) {
  const isSame = (a: unknown, b: unknown) => a === b || (typeof a === "object" && typeof b === "object" && JSON.stringify(a) === JSON.stringify(b));
  const ofStatus = Object.keys(item.status) as (keyof ClusterSummary["status"])[];
  return (Object.keys(item) as (keyof ClusterSummary)[]).every((name) => name === "status" || isSame(row[name], item[name])) &&
    ofStatus.every((name) => name === "observed_at" || isSame(row.status[name], item.status[name]));
}

// ---- changes ----

let round = 0;

/** Begins a read of all clusters, and returns its number. */
export const beginRound = () => ++round;

/** The row stays the same one, so that nothing is painted. */
function seenAgain(row: Row, of: number | null): string {
  if (of !== null) row.seenIn = row.readIn = of;
  return row.key;
}

/**
 * `of`: the number of a read of all clusters. Such a read also accepts older revisions, because a restored store has them. Returns the key of
 * the row.
 */
export function put(item: ClusterSummary, of: number | null): string {
  const old = rows.get(keyOf(item.project, item.name));
  if (old && hasData(old, item)) return seenAgain(old, of);
  if (of === null && old && old.id === item.id && old.revision > item.revision) return old.key;
  const row = rowOf(item, of ?? old?.seenIn ?? round, of ?? 0);
  rows.set(row.key, row);
  if (!old) othersAreThere = true;
  return row.key;
}

export function remove(key: string) {
  if (rows.delete(key)) othersAreThere = true;
}

/** Removes the rows that this read of all clusters has not seen. Rows that others added meanwhile stay. Returns whether there was one. */
export function endRound(of: number): boolean {
  const size = rows.size;
  for (const row of rows.values()) if (row.seenIn !== of) remove(row.key);
  return rows.size < size;
}

export function forget() {
  rows.clear();
  othersAreThere = true;
  reached({ state: "loading" });
}

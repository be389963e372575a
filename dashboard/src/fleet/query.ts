// The filters, the order and the columns of the clusters. All of them are in the URL; a text that is typed follows when the user stops.
import { batch, computed, signal } from "@preact/signals";

import { minute, now } from "../live/life";
import { fleetLink, replaceWith, route } from "../router";
import type { Health, Phase } from "../types";
import { revision, rows, type Row } from "./rows";

export type Mark = "drifted" | "stale" | "expired" | "expiring" | "unmanaged";
export type SortKey = "name" | "trouble" | "phase" | "health" | "version" | "expires" | "changed";

/** Short faults mend themselves, so that people ask for trouble that lasts. In ms. */
export const troubleAges = { "10m": 600_000, "1h": 3_600_000, "1d": 86_400_000 };
export type TroubleAge = keyof typeof troubleAges;
const isTroubleAge = (text: string): text is TroubleAge => Object.hasOwn(troubleAges, text);

export type Query = {
  q: string;
  phase: Phase[];
  health: Health[];
  version: string[];
  project: string;
  mark: Mark[];
  trouble: TroubleAge | "";
  sort: SortKey;
  reverse: boolean;
};

/** Trouble comes first unless the user asks for another order. */
const DEFAULT_SORT: SortKey = "trouble";
const sortKeys: SortKey[] = ["name", "trouble", "phase", "health", "version", "expires", "changed"];
const words = (text: string | null) => (text ? text.split(",").filter(Boolean) : []);

function parse(params: URLSearchParams): Query {
  const sort = params.get("sort") ?? DEFAULT_SORT;
  const key = sort.replace(/^-/, "") as SortKey;
  const trouble = params.get("trouble") ?? "";
  return {
    q: params.get("q") ?? "",
    phase: words(params.get("phase")) as Phase[],
    health: words(params.get("health")) as Health[],
    version: words(params.get("version")),
    project: params.get("project") ?? "",
    mark: words(params.get("mark")) as Mark[],
    trouble: isTroubleAge(trouble) ? trouble : "",
    sort: sortKeys.includes(key) ? key : DEFAULT_SORT,
    reverse: sort.startsWith("-"),
  };
}

const present = computed(() => (route.value.page === "fleet" ? route.value.query : new URLSearchParams()));

/** The columns in the URL as text (columns.ts); null when the URL names none. */
export const columnsAsked = computed(() => present.value.get("columns"));

/** The text in the search field that is not yet in the URL; null: there is none. */
export const typed = signal<string | null>(null);
/** The text that the rows follow until it is in the URL; it may be older than `typed`. */
const sought = signal<string | null>(null);
export const seek = () => (sought.value = typed.peek());
export const forgetTyped = () => batch(() => (typed.value = sought.value = null));

const filtersAsked = computed(() => {
  const asked = parse(present.value);
  return String(write({ ...asked, q: sought.value ?? asked.q }, null));
});

/** It stays the same value when only the columns change, or when a text that the rows follow comes into the URL: these arrange no rows. */
export const query = computed<Query>(() => parse(new URLSearchParams(filtersAsked.value)));

function write(query: Query, columns: string | null): URLSearchParams {
  const params = new URLSearchParams();
  const set = (name: string, value: string) => value && params.set(name, value);
  set("q", query.q);
  set("project", query.project);
  set("trouble", query.trouble);
  for (const name of ["phase", "health", "version", "mark"] as const) set(name, query[name].join(","));
  const sort = `${query.reverse ? "-" : ""}${query.sort}`;
  set("sort", sort === DEFAULT_SORT ? "" : sort);
  set("columns", columns ?? "");
  return params;
}

function go(part: Partial<Query>, columns: string | null) {
  const before = query.peek();
  const next = write({ ...before, q: typed.peek() ?? before.q, ...part }, columns);
  batch(() => {
    forgetTyped();
    replaceWith(fleetLink(next));
  });
}

/** A text that was typed before comes with it. */
export const change = (part: Partial<Query>) => go(part, columnsAsked.peek());

export const askColumns = (columns: string | null) => go({}, columns);

/** Adds the word to the list, or removes it from the list. */
export function toggled<T>(list: T[], word: T): T[] {
  return list.includes(word) ? list.filter((one) => one !== word) : [...list, word];
}

export const isFiltered = (query: Query) =>
  Boolean(query.q || query.project || query.trouble || query.phase.length || query.health.length || query.version.length || query.mark.length);

export const clearFilters = () => change({ q: "", project: "", trouble: "", phase: [], health: [], version: [], mark: [] });

// ---- properties of a row ----

const SOON_MS = 30 * 86_400_000;

export function hasMark(row: Row, mark: Mark, now: number): boolean {
  const left = row.ends - now;
  switch (mark) {
    case "drifted":
      return row.drifted;
    case "stale":
      return row.status.stale;
    case "unmanaged":
      return !row.managed;
    case "expired":
      return left <= 0;
    case "expiring":
      return left > 0 && left <= SOON_MS;
  }
}

/** Nothing else about a row depends on the time, except how long its trouble lasts. */
export function expiryOf(row: Row, now: number): "expired" | "expiring" | "" {
  return hasMark(row, "expired", now) ? "expired" : hasMark(row, "expiring", now) ? "expiring" : "";
}

/**
 * How many versions have expired and how many expire soon, as one value. For the same rows it changes when a mark does, because time moves a
 * version only on, to "soon" and then to "expired". Most minutes do not change it, so in them nothing that depends on it is made again.
 */
export const expiries = computed(() => {
  void revision.value;
  void minute.value;
  const present = now.peek();
  let expired = 0, expiring = 0;
  for (const row of rows.values()) {
    const expiry = expiryOf(row, present);
    if (expiry === "expired") expired++;
    else if (expiry === "expiring") expiring++;
  }
  return `${expired} ${expiring}`;
});

const severities = ["critical", "warning", "info"];
const AGES = 1e14; // more than the milliseconds of any date of an issue

/** The order of the server: by the severity of the worst issue, then the oldest. A worse state has a smaller number. */
export function troubleRank({ issue }: Row): number {
  const rank = issue ? severities.indexOf(issue.severity) : severities.length;
  return rank * AGES + (issue?.since ? Date.parse(issue.since) : AGES - 1);
}

export const isTrouble = ({ issue }: Row) => issue !== null && issue.severity !== "info";

/** Whether a row fits all filters but the text. */
function fits(query: Query, now: number): (row: Row) => boolean {
  return (row) =>
    (!query.project || row.project === query.project) &&
    (!query.phase.length || query.phase.includes(row.status.phase)) &&
    (!query.health.length || query.health.includes(row.status.health)) &&
    (!query.version.length || query.version.includes(row.minor)) &&
    (!query.mark.length || query.mark.some((mark) => hasMark(row, mark, now))) &&
    (!query.trouble || now - row.troubleAt >= troubleAges[query.trouble]);
}

/** The words of rows in one text, and where those of each row end. A search in one text takes a fifth of the time of one in many. */
export type Words = { text: string; ends: Uint32Array };

export function joined(list: Row[]): Words {
  let end = -1;
  return { text: list.map(({ words }) => words).join("\n"), ends: Uint32Array.from(list, ({ words }) => (end += words.length + 1)) };
}

/** The rows whose words have this one in them. It has no space in it, so it is never found across two rows. */
function having(word: string, list: Row[], { text, ends }: Words): Row[] {
  const found: Row[] = [];
  let i = 0;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, ends[i++])) {
    while (ends[i]! <= at) i++;
    found.push(list[i]!);
  }
  return found;
}

/** The rows that the filters leave, in the same order. `wordsOf` gives the words of `list`. */
export function filtered(list: Row[], wordsOf: () => Words, query: Query, now: number): Row[] {
  const [first, ...others] = query.q.toLowerCase().split(/\s+/).filter(Boolean);
  const some = first === undefined ? list : having(first, list, wordsOf());
  const isFit = fits(query, now);
  return some.filter((row) => others.every((word) => row.words.includes(word)) && isFit(row));
}

// ---- order ----

const phaseRank: Phase[] = ["failed", "degraded", "retrying", "unknown", "deleting", "updating", "creating", "pending", "hibernating", "waking", "hibernated", "ready"];
const healthRank: Health[] = ["unhealthy", "unknown", "progressing", "healthy"];

const compare = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0);

/** Sorts in place. Names rarely change, so all other orders are made from this one. */
export const sortByName = (list: Row[]) => list.sort((a, b) => compare(a.byName, b.byName));

/** The value by which a row is sorted, the smallest first; null: the rows stay in the order of their names. */
const rankOf: Record<SortKey, ((row: Row) => string | number) | null> = {
  name: null,
  trouble: troubleRank,
  phase: (row) => phaseRank.indexOf(row.status.phase),
  health: (row) => healthRank.indexOf(row.status.health),
  version: (row) => row.byVersion,
  expires: (row) => row.ends,
  changed: (row) => -row.changed,
};

/** The rows by rank. Many rows have the same rank, so only the ranks are sorted. */
function byRank(list: Row[], rank: (row: Row) => string | number): Row[] {
  const groups = new Map<string | number, Row[]>();
  for (const row of list) {
    const its = rank(row), group = groups.get(its);
    if (group) group.push(row);
    else groups.set(its, [row]);
  }
  return [...groups].sort(([a], [b]) => compare(a, b)).flatMap(([, rows]) => rows);
}

/** All rows in this order; the newest change comes first. `named` are rows by name, and equal rows stay in this order. */
export function arrange(named: Row[], sort: SortKey, reverse: boolean): Row[] {
  const rank = rankOf[sort];
  const arranged = rank ? byRank(named, rank) : [...named];
  return reverse ? arranged.reverse() : arranged;
}

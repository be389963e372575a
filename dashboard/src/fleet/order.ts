// The order of the rows on the screen. It does not change while the pointer or the focus is in the table: cells change in place, rows of
// deleted clusters stay, and a button offers the new order.
import { computed, effect, signal } from "@preact/signals";

import { minute, now } from "../live/life";
import { arrange, expiries, filtered, joined, query, sortByName, type Query } from "./query";
import { load, members, revision, rows } from "./rows";

const held = signal(false);
const shown = signal<string[]>([]);
/** Keys of all rows by name. */
const names = computed(() => (members.value, sortByName([...rows.values()]).map(({ key }) => key)));
const named = computed(() => {
  void revision.value;
  return names.value.map((key) => rows.get(key)).filter((row) => row !== undefined);
});
const sort = computed(() => query.value.sort), reverse = computed(() => query.value.reverse);
/** All rows in the order of the user. They are sorted before they are filtered, so that a typed text sorts nothing. */
const arranged = computed(() => arrange(named.value, sort.value, reverse.value));
/** Made only while a text is sought. */
const words = computed(() => joined(arranged.value));
const wanted = computed(() => {
  if (query.value.trouble) void minute.value; // trouble becomes older
  if (query.value.mark.length) void expiries.value;
  return filtered(arranged.value, () => words.value, query.value, now.peek()).map(({ key }) => key);
});

let shownQuery: Query | null = null;
let wereAllThere = false;

function same(a: string[], b: string[]) {
  return a.length === b.length && a.every((key, i) => key === b[i]);
}

/**
 * By how many places most rows on the screen have moved. `first` and `end` are their places in `before`. A single row may have moved far,
 * because its own state has changed.
 */
export function movedBy(before: string[], after: string[], first: number, end: number): number {
  const places = new Map(after.map((key, i) => [key, i]));
  const votes = new Map<number, number>();
  for (let i = first; i < Math.min(end, before.length); i++) {
    const at = places.get(before[i] ?? "");
    if (at !== undefined) votes.set(at - i, (votes.get(at - i) ?? 0) + 1);
  }
  return [...votes].reduce((best, one) => (one[1] > best[1] ? one : best), [0, 0])[0];
}

export const order = {
  /** Keys of the rows in the displayed order. */
  shown,
  /** Whether a different order is available. */
  differs: computed(() => held.value && !same(wanted.value, shown.value)),
  hold: (on: boolean) => (held.value = on),
  /** Applies the available order. */
  apply: () => (shown.value = wanted.peek()),
};

// A new filter or sort of the user is applied at once, and so are the clusters that the first read brings.
effect(() => {
  const next = wanted.value, asked = query.value, areAllThere = load.value.state === "loaded";
  if (held.value && asked === shownQuery && wereAllThere && areAllThere) return;
  shownQuery = asked;
  wereAllThere = areAllThere;
  if (!same(next, shown.peek())) shown.value = next;
});

// The order of the rows on the screen. It does not change while the pointer or the focus is in the table: cells change in place, rows of
// deleted clusters stay, and a button offers the new order.
import { computed, effect, signal } from "@preact/signals";

import { now } from "../live/life";
import { arrange, query, type Query } from "./query";
import { revision, rows } from "./store";

const held = signal(false);
const shown = signal<string[]>([]);
const wanted = computed(() => (revision.value, arrange(rows.values(), query.value, now.peek())));

let shownQuery: Query | null = null;

function same(a: string[], b: string[]) {
  return a.length === b.length && a.every((key, i) => key === b[i]);
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

// A new filter or sort of the user is applied at once.
effect(() => {
  const next = wanted.value, asked = query.value;
  if (held.value && asked === shownQuery) return;
  shownQuery = asked;
  if (!same(next, shown.peek())) shown.value = next;
});

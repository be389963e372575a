// The order of the rows on the screen. While the pointer or the focus is in the table it stands still: cells change in place, rows that are
// gone stay until then, and a button says that there is another order.
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
  /** Keys of the rows as they are shown. */
  shown,
  /** Whether another order waits. */
  differs: computed(() => held.value && !same(wanted.value, shown.value)),
  hold: (on: boolean) => (held.value = on),
  /** Shows the order that waits. */
  apply: () => (shown.value = wanted.peek()),
};

// A new question of the viewer is answered at once.
effect(() => {
  const next = wanted.value, asked = query.value;
  if (held.value && asked === shownQuery) return;
  shownQuery = asked;
  if (!same(next, shown.peek())) shown.value = next;
});

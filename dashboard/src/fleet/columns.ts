// The columns of the table. Those that the address names are shown; without them, the choice that this browser stores.
import { computed } from "@preact/signals";

import { choices, hidden as stored, storeHidden, type Choice } from "./kept";
import { change, query } from "./query";

/** The columns that are not shown. */
export const hidden = computed<Choice[]>(() => {
  const named = query.value.columns;
  return named ? choices.filter((key) => !named.includes(key)) : stored.value;
});

/** Shows or hides a column, stores the choice, and writes it into the address, so that a link and a view keep it. */
export function toggleColumn(key: Choice) {
  const now = hidden.peek();
  const next = now.includes(key) ? now.filter((one) => one !== key) : [...now, key];
  storeHidden(next);
  change({ columns: next.length ? choices.filter((one) => !next.includes(one)) : null });
}

// The columns of the table. Those that the address names are shown; without them, the choice that this browser stores.
import { computed } from "@preact/signals";

import { choices, hidden as stored, storeHidden, type Choice } from "./kept";
import { askColumns, columnsAsked } from "./query";

/** In the address: no columns beside name and phase. */
const NONE = "none";

/** Null for an address whose columns this page does not have: it may be from another version. */
function hiddenBy(asked: string): Choice[] | null {
  const named = asked.split(","), rest = choices.filter((key) => !named.includes(key));
  return asked === NONE || rest.length < choices.length ? rest : null;
}

/** The columns that are not shown. */
export const hidden = computed<Choice[]>(() => (columnsAsked.value && hiddenBy(columnsAsked.value)) || stored.value);

/** The columns for an address; null when all are shown. */
function columnsFor(hidden: Choice[]): string | null {
  return hidden.length ? choices.filter((key) => !hidden.includes(key)).join(",") || NONE : null;
}

/** The parameters of the address, with the columns that are shown now. */
export function withColumns(params: URLSearchParams): URLSearchParams {
  const all = new URLSearchParams(params), columns = columnsFor(hidden.peek());
  if (columns) all.set("columns", columns);
  return all;
}

/** Shows or hides a column, stores the columns that are shown then, and writes them into the address. */
export function toggleColumn(key: Choice) {
  const now = hidden.peek();
  const next = now.includes(key) ? now.filter((one) => one !== key) : [...now, key];
  storeHidden(next);
  askColumns(columnsFor(next));
}

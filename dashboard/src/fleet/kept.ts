// Choices of the user for the table, stored in this browser: views (filters, an order and columns with a name), and hidden columns.
import { signal } from "@preact/signals";

export type View = { name: string; query: string };
export type ColumnKey = "name" | "phase" | Choice;
export type Choice = "health" | "version" | "expires" | "marks" | "changed" | "message";

/** Columns that can be hidden. */
export const choices: Choice[] = ["health", "version", "expires", "marks", "changed", "message"];

const VIEWS = "shootd.views";
const COLUMNS = "shootd.columns";
const MOST = 50;

const isView = (one: unknown): one is View =>
  typeof one === "object" && one !== null && typeof (one as View).name === "string" && typeof (one as View).query === "string";
const isChoice = (one: unknown): one is Choice => choices.includes(one as Choice);

/** Returns the stored value when it has the right form: a browser may forbid storage, and another program may have changed it. */
function read<T>(key: string, is: (one: unknown) => one is T): T[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(found) ? found.filter(is).slice(0, MOST) : [];
  } catch {
    return [];
  }
}

function write(key: string, list: unknown[]) {
  try {
    if (list.length) localStorage.setItem(key, JSON.stringify(list));
    else localStorage.removeItem(key);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}

export const views = signal<View[]>(read(VIEWS, isView));
export const hidden = signal<Choice[]>(read(COLUMNS, isChoice));

function setViews(list: View[]) {
  views.value = list;
  write(VIEWS, list);
}

/** A view with the same name is replaced. */
export function saveView(name: string, query: string) {
  const others = views.peek().filter((one) => one.name !== name);
  setViews([...others, { name, query }].sort((a, b) => a.name.localeCompare(b.name, "en")).slice(0, MOST));
}

export const removeView = (name: string) => setViews(views.peek().filter((one) => one.name !== name));

export function storeHidden(keys: Choice[]) {
  hidden.value = keys;
  write(COLUMNS, keys);
}

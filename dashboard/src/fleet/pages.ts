// The pages of the last read of all clusters. The next read sends their entity tags, and the server answers with nothing for a page that is
// the same (docs/api.md).
import { rows } from "./rows";

/** `keys`: the clusters on the page. `round`: the number of the read of all clusters that has last seen it. */
type Page = { tag: string; keys: string[]; next: string | null; round: number };

/** By the cursor of the page; the first one has none. */
const pages = new Map<string | null, Page>();

/** The entity tag of the page. Null when an event or another read has changed one of its rows or removed it: the page has to be read then. */
export function tagOf(cursor: string | null): string | null {
  const page = pages.get(cursor);
  return page && page.keys.every((key) => rows.get(key)?.readIn === page.round) ? page.tag : null;
}

export function keepPage(cursor: string | null, page: Page) {
  pages.set(cursor, page);
}

/** The page is the same in this read of all clusters. Returns the cursor of the next page. A row that an event has changed meanwhile stays. */
export function samePage(cursor: string | null, round: number): string | null {
  const page = pages.get(cursor)!;
  for (const key of page.keys) {
    const row = rows.get(key);
    if (!row) continue;
    row.seenIn = round;
    if (row.readIn === page.round) row.readIn = round;
  }
  page.round = round;
  return page.next;
}

/** Forgets the pages that this read of all clusters has not seen. */
export function keepOnly(round: number) {
  for (const [cursor, page] of pages) if (page.round !== round) pages.delete(cursor);
}

export const forgetPages = () => pages.clear();

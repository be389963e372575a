// A long list, one page at a time: the browser holds one page, however long the list is.
import { batch, signal } from "@preact/signals";

import type { Result } from "../api";
import { goesOn } from "../live/again";
import { announce } from "../live/announce";
import { texts } from "../texts";
import type { Problem } from "../types";
import { ProblemNotice } from "./problem";

export type Page<T> = { items: T[]; next_cursor: string | null };

/** `read` returns the page of a cursor. When reads overlap, only the result of the latest is used. */
export function makePages<T>(read: (cursor: string | undefined) => Promise<Result<Page<T>>>) {
  const state = signal<"loading" | "there" | "failed">("loading");
  const problem = signal<Problem | null>(null);
  const items = signal<T[]>([]);
  const number = signal(1);
  const more = signal(false);
  let cursors: (string | undefined)[] = [undefined];
  let wanted = 1;
  let turn = 0;

  async function show() {
    const mine = ++turn, page = wanted;
    const result = await read(cursors[page - 1]);
    if (mine !== turn) return;
    if (!result.ok) {
      wanted = number.peek();
      batch(() => {
        problem.value = result.problem;
        if (state.value === "loading") state.value = "failed";
      });
      return;
    }
    const next = result.value.next_cursor;
    cursors = [...cursors.slice(0, page), next ?? undefined];
    batch(() => {
      state.value = "there";
      problem.value = null;
      items.value = result.value.items;
      number.value = page;
      more.value = next !== null;
    });
  }

  return {
    state, problem, items, number, more,
    /** Reads the current page again. */
    read: show,
    /** Reads the page again when it could not be read, until the returned function is called. */
    goOn: () => goesOn({ state, problem }, show),
    /** Starts at the first page again, because a cursor may have expired. */
    again: () => {
      wanted = 1;
      cursors = [undefined];
      if (state.peek() === "failed") state.value = "loading";
      return show();
    },
    async turn(by: 1 | -1) {
      if (by > 0 ? !more.peek() || wanted > number.peek() : wanted <= 1) return;
      wanted += by;
      await show();
      // The pager is below the list, so the view moves to the beginning of the list.
      scrollTo({ top: 0 });
      announce(texts.pages.page(number.peek()));
    },
  };
}

type Pages = Pick<ReturnType<typeof makePages>, "state" | "problem" | "number" | "more" | "again" | "turn">;

export function Pager({ pages }: { pages: Pages }) {
  const at = pages.number.value, more = pages.more.value;
  if (at === 1 && !more) return null;
  return (
    <div class="buttons pager" role="group" aria-label={texts.pages.label}>
      <button type="button" aria-disabled={at === 1} onClick={() => void pages.turn(-1)}>
        {texts.pages.previous}
      </button>
      <button type="button" aria-disabled={!more} onClick={() => void pages.turn(1)}>
        {texts.pages.next}
      </button>
      <span class="quiet">{texts.pages.page(at)}</span>
    </div>
  );
}

/** The text in place of a list, or above it: it is being read, or cannot be read. */
export function PagesState({ pages }: { pages: Pages }) {
  const state = pages.state.value, problem = pages.problem.value;
  if (state === "loading") return <p class="panel empty">{texts.pages.loading}</p>;
  // When the server does not answer, the banner has the details.
  if (state === "failed" || problem) return <ProblemNotice problem={problem} again={() => void pages.again()} />;
  return null;
}

// The texts of the live region: answers to the user at once, changes of others as a summary (fleet/announcer.tsx).
import { signal } from "@preact/signals";

export const spoken = signal("");

/** The number of shown notices that no server answered. */
export const unanswered = signal(0);

export function announce(text: string) {
  // A screen reader does not repeat an unchanged text, so a trailing blank is added.
  spoken.value = text === spoken.peek() ? `${text} ` : text;
}

const TOGETHER_MS = 1_000;
let last = { title: "", at: -Infinity };

/** Announces the title of a problem; when several parts of a page have the same problem, only once. */
export function announceProblem(title: string) {
  const at = performance.now();
  if (title !== last.title || at - last.at > TOGETHER_MS) announce(title);
  last = { title, at };
}

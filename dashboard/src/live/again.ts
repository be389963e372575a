// A page that could not be read continues by itself when the server answers again.
import { effect, untracked, type Signal } from "@preact/signals";

import { isPassing } from "../api";
import type { Problem } from "../types";
import { every } from "./life";
import { link } from "./link";

const RETRY_MS = 5_000;

type Shown = { state: Signal<string>; problem: Signal<Problem | null> };

/** Whether to read again; `isDue` says that the data is old in any case. The server would refuse a wrong request again. */
function isWanted({ state, problem }: Shown, isDue: boolean): boolean {
  const why = problem.peek();
  return why ? isPassing(why) : isDue || state.peek() === "failed";
}

/**
 * Reads what could not be read again: at once when the event stream comes back, and every few seconds, because there may be no stream.
 * Returns a function that stops it.
 */
export function goesOn(shown: Shown, read: () => Promise<unknown>, isDue = () => false): () => void {
  let isReading = false;
  function again() {
    if (isReading || !isWanted(shown, isDue())) return;
    isReading = true;
    void read().finally(() => (isReading = false));
  }
  const ends = [
    effect(() => {
      if (link.value.state === "live") untracked(again);
    }),
    every(RETRY_MS, again),
  ];
  return () => ends.forEach((end) => end());
}

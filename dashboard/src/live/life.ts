// Starts and stops the stream, and passes its events to the parts of the page. A hidden tab closes its stream after a while and resumes
// when it is visible again, because a browser opens only six connections to an HTTP/1.1 server, for all its tabs together.
import { effect, signal, untracked } from "@preact/signals";

import { onEnd, session } from "../session";
import type { Event } from "../types";
import { startStream, stopStream, type Listener } from "./stream";

const HIDDEN_MS = 20_000;
const TICK_MS = 1_000;

const listeners = new Set<Listener>();

/** Passes events and resets to `to` until the returned function is called. */
export function listen(to: Listener): () => void {
  listeners.add(to);
  return () => listeners.delete(to);
}

const all: Listener = {
  events: (events: Event[]) => listeners.forEach((to) => to.events(events)),
  reset: () => listeners.forEach((to) => to.reset()),
};

/** The current time in ms, updated once a second while the page is visible. Ages and durations depend on it. */
export const now = signal(Date.now());
/** Whether the page is visible. */
export const seen = signal(!document.hidden);
/** Whether the user has paused the page. It then shows its present data, and gets the missed events afterwards. */
export const paused = signal(false);

export function startLife() {
  let hiding = 0;
  setInterval(() => {
    if (!document.hidden) now.value = Date.now();
  }, TICK_MS);
  document.addEventListener("visibilitychange", () => {
    seen.value = !document.hidden;
    now.value = Date.now();
  });
  onEnd(() => stopStream(true));
  effect(() => {
    clearTimeout(hiding);
    if (session.value.kind !== "in") return;
    if (paused.value) stopStream(false);
    else if (seen.value) startStream(all);
    else hiding = window.setTimeout(() => stopStream(false), HIDDEN_MS);
  });
}

/**
 * Calls `work` every `ms` while the page is visible and not paused, and once when this state begins again. Returns a function that stops
 * it.
 */
export function every(ms: number, work: () => void): () => void {
  const may = () => !document.hidden && !paused.peek();
  const timer = setInterval(() => may() && work(), ms);
  let first = true;
  const end = effect(() => {
    const begins = seen.value && !paused.value && !first;
    first = false;
    if (begins) untracked(work);
  });
  return () => {
    clearInterval(timer);
    end();
  };
}

// Starts and stops the stream, and passes its events to the parts of the page. A hidden tab leaves the stream after a while, so that it
// does not read changes for nobody, and resumes when it is visible again.
import { computed, effect, signal, untracked } from "@preact/signals";

import { present, whenMoved } from "../clock";
import { onEnd, session } from "../session";
import type { Event } from "../types";
import { startStream, stopStream, type Listener } from "./tabs";

const HIDDEN_MS = 20_000;
const TICK_MS = 1_000;

const listeners = new Set<Listener>();

/** Passes events and resets to `to` until the returned function is called. */
export function listen(to: Listener): () => void {
  listeners.add(to);
  return () => listeners.delete(to);
}

/** A fault of one part of the page does not end the stream of the others. */
function each(work: (to: Listener) => void) {
  for (const to of listeners) {
    try {
      work(to);
    } catch (error) {
      reportError(error);
    }
  }
}

const all: Listener = { events: (events: Event[]) => each((to) => to.events(events)), reset: () => each((to) => to.reset()) };

/** The current time of the server in ms, updated once a second while the page is visible. Ages and durations depend on it. */
export const now = signal(present());
whenMoved(() => { now.value = present(); });
/** Whether the page is visible. */
export const seen = signal(!document.hidden);
/** Whether the user has paused the page. It then shows its present data, and gets the missed events afterwards. */
export const paused = signal(false);
let lastMinute = 0;
/** Changes once a minute, for what costs more than a text. It stands still while the page is paused. */
export const minute = computed(() => (paused.value ? lastMinute : (lastMinute = Math.floor(now.value / 60_000))));
/** Whether the browser keeps the page for its back button. Such a page must not hold the lock of the stream. */
const left = signal(false);

export function startLife() {
  let hiding = 0;
  setInterval(() => {
    if (!document.hidden) now.value = present();
  }, TICK_MS);
  document.addEventListener("visibilitychange", () => {
    seen.value = !document.hidden;
    now.value = present();
  });
  addEventListener("pagehide", () => (left.value = true));
  addEventListener("pageshow", () => (left.value = false));
  onEnd(() => stopStream(true));
  effect(() => {
    clearTimeout(hiding);
    const current = session.value;
    if (current.kind !== "in") return;
    if (paused.value || left.value) stopStream(false);
    else if (seen.value) startStream(all, current.who);
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

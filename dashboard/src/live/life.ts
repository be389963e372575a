// When the stream runs, and what each part of the page hears of it. A tab that nobody sees gives its stream back after a while and resumes
// when it is seen again: a browser has only six connections to a server that speaks HTTP/1.1, over all its tabs.
import { effect, signal, untracked } from "@preact/signals";

import { onEnd, session } from "../session";
import type { Event } from "../types";
import { startStream, stopStream, type Listener } from "./stream";

const HIDDEN_MS = 20_000;
const TICK_MS = 1_000;

const listeners = new Set<Listener>();

/** Hears events and resets until the returned function is called. */
export function listen(to: Listener): () => void {
  listeners.add(to);
  return () => listeners.delete(to);
}

const all: Listener = {
  events: (events: Event[]) => listeners.forEach((to) => to.events(events)),
  reset: () => listeners.forEach((to) => to.reset()),
};

/** Now, in ms, once a second while the page is seen: ages and elapsed times follow it. */
export const now = signal(Date.now());
/** Whether somebody sees the page. */
export const seen = signal(!document.hidden);
/** Whether the viewer has stopped the page: it shows what it has, and hears what it missed afterwards. */
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

/** Calls `work` every `ms` while the page is seen and not paused, and once when that begins again. Returns what ends it. */
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

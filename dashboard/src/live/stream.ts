// The only event stream of this page: `fetch` with the token in its header. It resumes after the last number that it has received, so no
// event is missed. When the server no longer has that number, it sends `reset`, and all data is read again.
import { signal } from "@preact/signals";

import { base } from "../api";
import { refuse } from "../session";
import { fresh } from "../sign_on/renew";
import { token } from "../token";
import type { Event, Problem } from "../types";
import { StreamParser, type Block } from "./sse";

/**
 * `since`: the time in ms at which this state began; for `away` the time of the last data from the server. `blocked`: the server answers,
 * but with no stream; `why` has its reason.
 */
export type Link = { state: "off" | "connecting" | "live" | "away" | "blocked"; since: number; why?: string };

export const link = signal<Link>({ state: "off", since: 0 });

export type Listener = { events: (events: Event[]) => void; reset: () => void };

/** The server sends something every 15 seconds. */
const SILENCE_MS = 45_000;
const RETRY_FIRST_MS = 500;
const RETRY_MOST_MS = 15_000;

let position: string | null = null;
let heard = 0;
let running: AbortController | null = null;

const setLink = (state: Link["state"], since: number, why?: string) => {
  if (link.peek().state !== state) link.value = { state, since, ...(why ? { why } : {}) };
};

const pause = (ms: number, stop: AbortSignal) =>
  new Promise<void>((resolve) => {
    const end = () => (clearTimeout(timer), stop.removeEventListener("abort", end), resolve());
    const timer = setTimeout(end, ms);
    stop.addEventListener("abort", end);
  });

/** The server gave an answer that is not a stream. */
class Refused extends Error {
  constructor(readonly status: number, readonly problem: Problem | null) {
    super(problem?.detail ?? `status ${status}`);
  }
}

/** An abort by `stop`, or by the timer that ends a silent stream. */
function watched(stop: AbortSignal) {
  const inner = new AbortController();
  let timer = 0;
  const end = () => inner.abort();
  stop.addEventListener("abort", end, { once: true });
  return {
    signal: inner.signal,
    alive: () => (clearTimeout(timer), (timer = window.setTimeout(end, SILENCE_MS))),
    done: () => (clearTimeout(timer), stop.removeEventListener("abort", end)),
  };
}

function handle(blocks: Block[], to: Listener) {
  const events: Event[] = [];
  for (const block of blocks) {
    if (block.id !== null) position = block.id;
    if (block.event === "reset") {
      events.length = 0;
      to.reset();
    } else if (block.data !== null) {
      events.push(JSON.parse(block.data) as Event);
    }
  }
  if (events.length) to.events(events);
}

/** Reads one stream to its end. Returns the pause in ms before the next one. */
async function readOnce(stop: AbortSignal, to: Listener): Promise<number> {
  const watch = watched(stop);
  try {
    watch.alive();
    await fresh();
    const used = token();
    const headers: Record<string, string> = { Accept: "text/event-stream", Authorization: `Bearer ${used}` };
    const first = position === null;
    if (position !== null) headers["Last-Event-ID"] = position;
    const response = await fetch(`${base}/v1/events`, { headers, signal: watch.signal, cache: "no-store" });
    if (response.status === 401 && used !== token()) return 0; // the token was renewed meanwhile
    if (!response.ok || !response.body) throw new Refused(response.status, (await response.json().catch(() => null)) as Problem | null);
    const parser = new StreamParser();
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let retry = RETRY_FIRST_MS;
    let begun = false;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return retry;
      watch.alive();
      heard = Date.now();
      setLink("live", heard);
      const blocks = parser.feed(decoder.decode(value, { stream: true }));
      // Without a position the stream begins with new events, so data that was read before may be older.
      if (first && !begun && blocks.some((block) => block.id !== null)) {
        begun = true;
        to.reset();
      }
      handle(blocks, to);
      retry = blocks.reduce((ms, block) => block.retry ?? ms, retry);
    }
  } finally {
    watch.done();
  }
}

async function run(stop: AbortSignal, to: Listener) {
  let failures = 0;
  while (!stop.aborted) {
    let wait: number;
    try {
      wait = await readOnce(stop, to);
      failures = 0;
    } catch (error) {
      if (stop.aborted) return;
      if (error instanceof Refused && error.status === 401) return refuse(error.problem);
      if (error instanceof Refused) setLink("blocked", Date.now(), error.message);
      else setLink("away", heard || Date.now());
      wait = Math.min(RETRY_MOST_MS, RETRY_FIRST_MS * 2 ** failures++) * (0.75 + Math.random() / 2);
    }
    await pause(wait, stop);
  }
}

/** Starts the stream, or resumes it. */
export function startStream(to: Listener) {
  if (running) return;
  running = new AbortController();
  heard = Date.now();
  setLink("connecting", heard);
  void run(running.signal, to);
}

/** Stops the stream; with `forget` the position is discarded, too, because another token follows. */
export function stopStream(forget: boolean) {
  running?.abort();
  running = null;
  if (forget) position = null;
  setLink("off", Date.now());
}

// One event stream: `fetch` with the token in its header.
import { base, isProblem } from "../api";
import { fresh } from "../sign_on/renew";
import { token } from "../token";
import type { Problem } from "../types";
import { StreamParser, type Block } from "./sse";

/** The server sends something every 15 seconds. */
const SILENCE_MS = 45_000;
export const RETRY_FIRST_MS = 500;

/** The server, or a proxy in its place (no problem), gave an answer that is not a stream. */
export class Refused extends Error {
  constructor(readonly status: number, readonly problem: Problem | null) {
    super(problem?.detail ?? `status ${status}`);
  }
}

/** A signal that aborts with `stop`, by `end`, or when `alive` was not called for too long. After `done` it aborts only by `end`. */
export function watched(stop: AbortSignal) {
  const inner = new AbortController();
  let timer = 0;
  const end = () => inner.abort();
  const calm = () => clearTimeout(timer);
  const alive = () => (calm(), (timer = window.setTimeout(end, SILENCE_MS)));
  stop.addEventListener("abort", end, { once: true });
  if (stop.aborted) end();
  return { signal: inner.signal, end, alive, calm, done: () => (calm(), stop.removeEventListener("abort", end)) };
}

/** Rejects when the signal aborts. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(new Error("aborted"));
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}

/**
 * Reads one stream to its end, from the event after the position `after`; null: from new events. `take` gets the blocks of each piece that
 * arrives, and there may be none in it. Returns the pause in ms before the next stream.
 */
export async function readStream(after: string | null, stop: AbortSignal, take: (blocks: Block[]) => void): Promise<number> {
  const watch = watched(stop);
  try {
    watch.alive();
    await Promise.race([fresh(), aborted(watch.signal)]);
    const used = token();
    const headers: Record<string, string> = { Accept: "text/event-stream", Authorization: `Bearer ${used}` };
    if (after !== null) headers["Last-Event-ID"] = after;
    const response = await fetch(`${base}/v1/events`, { headers, signal: watch.signal, cache: "no-store" });
    if (response.status === 401 && used !== token()) return 0; // the token was renewed meanwhile
    if (!response.ok || !response.body) {
      const body: unknown = await response.json().catch(() => null);
      throw new Refused(response.status, isProblem(body) ? body : null);
    }
    const parser = new StreamParser();
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let retry = RETRY_FIRST_MS;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return retry;
      watch.alive();
      const blocks = parser.feed(decoder.decode(value, { stream: true }));
      retry = blocks.reduce((ms, block) => block.retry ?? ms, retry);
      take(blocks);
    }
  } finally {
    watch.done();
  }
}

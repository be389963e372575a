// One event stream for all tabs of a browser that are logged in with the same rights. The tab that holds a lock reads the stream and passes
// each piece of it on; when that tab is closed or hidden, the browser gives the lock to the next one. Every tab has a position of its own
// and takes only events that follow it, so no event is missed or shown twice. Over plain http a browser has no locks, and each tab reads a
// stream of its own.
import { present } from "../clock";
import { base } from "../api";
import { refuse } from "../session";
import type { Event, Whoami } from "../types";
import { link, setLink, type Link } from "./link";
import type { Block } from "./sse";
import { readStream, Refused, RETRY_FIRST_MS, watched } from "./stream";

const RETRY_MOST_MS = 15_000;
/** The tab that reads passes something on at least this often. */
const BEAT_MS = 10_000;

export type Listener = { events: (events: Event[]) => void; reset: () => void };

/**
 * A piece of the stream, from the tab that reads it. `after`: the position before the piece; null before the first one. `log`: names the
 * numbering of these positions.
 */
type Piece = { log: string; after: string | null; blocks: Block[]; link: Link };
/** From any other tab: its position. It expects the events that follow, at once when the stream is further already. */
type Joined = { log: string; joined: string | null };

let position: string | null = null;
/** A reset changes it, because a new store counts from one again: positions of two logs cannot be compared. */
let log = "";
let running: AbortController | null = null;

const newLog = () => String(Math.random());
const isBefore = (one: string, other: string) => Number(one) < Number(other);

const pause = (ms: number, stop: AbortSignal) =>
  new Promise<void>((resolve) => {
    const end = () => (clearTimeout(timer), stop.removeEventListener("abort", end), resolve());
    const timer = setTimeout(end, ms);
    stop.addEventListener("abort", end);
    if (stop.aborted) end();
  });

// ---- every tab ----

/** The data that a tab without a position has read may be older than the stream. */
function begin(at: string | null, to: Listener) {
  if (position !== null || at === null) return;
  position = at;
  to.reset();
}

/** Passes on what this tab has not had yet. */
function apply({ log: of, after, blocks }: Omit<Piece, "link">, to: Listener) {
  const events: Event[] = [];
  if (of !== log) position = null;
  log = of;
  begin(after, to);
  for (const { id, event, data } of blocks) {
    if (event === "reset") {
      position = id ?? position;
      events.length = 0;
      to.reset();
    } else if (id !== null && (position === null || isBefore(position, id))) {
      begin(id, to);
      position = id;
      if (data !== null) events.push(JSON.parse(data) as Event);
    }
  }
  if (events.length) to.events(events);
}

// ---- the tab that reads ----

/** The state after a failure; `heard`: the time of the last data. */
function stateAfter(error: unknown, heard: number): Link {
  return error instanceof Refused ? { state: "blocked", since: present(), why: error.message } : { state: "away", since: heard };
}

/** Reads one stream after the other until `stop`. */
async function lead(stop: AbortSignal, to: Listener, channel: BroadcastChannel | null) {
  let of = log || newLog(), from = position, heard = present(), failures = 0, isMoved = false, cut = () => {};
  const pass = (blocks: Block[] = [], after = from) => {
    if (!stop.aborted) channel?.postMessage({ log: of, after, blocks, link: link.peek() } satisfies Piece);
  };

  function take(blocks: Block[]) {
    if (isMoved) return;
    failures = 0;
    heard = present();
    setLink({ state: "live", since: heard });
    const after = from;
    for (const { id } of blocks) from = id ?? from;
    if (blocks.some(({ event }) => event === "reset")) of = newLog();
    pass(blocks, after);
    apply({ log: of, after, blocks }, to);
    if (after === null) pass(); // tabs without a position begin here
  }

  /** Resumes at an earlier position of the same log. A tab with another log begins anew when it gets a piece. */
  function join(at: string | null, its: string) {
    if (at === null || (from !== null && (its !== of || !isBefore(at, from)))) return pass();
    if (from === null) of = its;
    from = at;
    isMoved = true;
    cut();
  }

  /** Returns the pause before the next stream, or null when there is no next one. */
  async function readOne(signal: AbortSignal): Promise<number | null> {
    try {
      return await readStream(from, signal, take);
    } catch (error) {
      if (stop.aborted) return null;
      if (isMoved) return 0;
      if (error instanceof Refused && error.status === 401 && error.problem) return refuse(error.problem), null;
      setLink(stateAfter(error, heard));
      pass();
      return Math.min(RETRY_MOST_MS, RETRY_FIRST_MS * 2 ** failures++) * (0.75 + Math.random() / 2);
    }
  }

  if (channel) channel.onmessage = ({ data }: MessageEvent<Piece | Joined>) => "joined" in data && join(data.joined, data.log);
  if (link.peek().state === "live") setLink({ state: "connecting", since: present() });
  const beat = setInterval(() => pass(), BEAT_MS);
  try {
    pass();
    for (let wait: number | null = 0; wait !== null && !stop.aborted; ) {
      const one = watched(stop);
      isMoved = false;
      cut = one.end;
      wait = await readOne(one.signal);
      if (wait) await pause(wait, one.signal);
      one.done();
    }
  } finally {
    clearInterval(beat);
  }
}

// ---- the other tabs ----

function follow(channel: BroadcastChannel, to: Listener, alive: () => void) {
  const join = () => channel.postMessage({ log, joined: position } satisfies Joined);
  channel.onmessage = ({ data }: MessageEvent<Piece | Joined>) => {
    if ("joined" in data) return;
    alive();
    const fits = data.after !== null && (data.log !== log || position === null || !isBefore(position, data.after));
    // A tab that is behind is not live, although the stream is.
    if (fits || data.link.state !== "live") setLink(data.link);
    if (fits) apply(data, to);
    else if (position !== null) join();
  };
  join();
}

/** Null when this browser allows no channels for this page. */
function channelOf(name: string): BroadcastChannel | null {
  try {
    return new BroadcastChannel(name);
  } catch {
    return null;
  }
}

/** Follows until this tab gets the lock. A tab that holds the lock and is silent for too long, for example in a debugger, loses it. */
async function share(stop: AbortSignal, to: Listener, name: string) {
  const channel = channelOf(name);
  if (!channel) return lead(stop, to, null);
  let isSilent = false;
  while (!stop.aborted) {
    const turn = watched(stop);
    let leads = false;
    follow(channel, to, turn.alive);
    turn.alive();
    try {
      await navigator.locks.request(name, isSilent ? { steal: true } : { signal: turn.signal }, () => {
        if (turn.signal.aborted) return;
        leads = true;
        turn.calm();
        return lead(turn.signal, to, channel);
      });
    } catch {
      // An abort is the end of the silence, of the page's wish, or of a lock that another tab took. Any other reason: there are no locks.
      if (!leads && !turn.signal.aborted) {
        channel.close();
        return lead(stop, to, null);
      }
    } finally {
      isSilent = !leads;
      turn.end();
      turn.done();
    }
  }
  channel.close();
}

// ---- for the page ----

/** Starts, or continues after the last event. */
export function startStream(to: Listener, { id, role, projects }: Whoami) {
  if (running) return;
  running = new AbortController();
  setLink({ state: "connecting", since: present() });
  const { signal } = running;
  // Tabs with other rights, or of another shootd behind the same proxy, get other events. 1: the form of the messages.
  if ("locks" in navigator) void share(signal, to, `shootd events 1 ${base} ${JSON.stringify([id, role, projects])}`);
  else void lead(signal, to, null);
}

/** Stops; with `forget` the position is discarded, too, because another token follows. */
export function stopStream(forget: boolean) {
  running?.abort();
  running = null;
  if (forget) {
    position = null;
    log = "";
  }
  setLink({ state: "off", since: present() });
}

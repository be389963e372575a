// Parts that need no browser; tests/api/test_dashboard_sources.py runs this file with Node's own test runner.
import assert from "node:assert/strict";
import { createHash, webcrypto } from "node:crypto";
import { test } from "node:test";

import { effect, signal } from "@preact/signals";

import { api, ask, whenRefused } from "../src/api";
import { historyOf } from "../src/cluster/history";
import { compare, say } from "../src/cluster/spec";
import { present } from "../src/clock";
import { byDay, dailySpans, minutesUtc, movedBy as movedByMinutes, offsetOf, readCron, sleepSpans } from "../src/cluster/times";
import { fits, makeEvents, merged } from "../src/events/store";
import { counted, firstOf, forgetFirst, readFirst } from "../src/fleet/first";
import { movedBy, order } from "../src/fleet/order";
import { arrange, expiries, filtered, joined, sortByName, type Query } from "../src/fleet/query";
import { forget, load, put, remove, revision, rowOf, rows, type Row } from "../src/fleet/rows";
import { readAll, toStore } from "../src/fleet/store";
import { countsOf } from "../src/fleet/totals";
import { goesOn } from "../src/live/again";
import { restAfter } from "../src/live/gather";
import { now } from "../src/live/life";
import { setLink } from "../src/live/link";
import { StreamParser, type Block } from "../src/live/sse";
import { readStream, Refused } from "../src/live/stream";
import { filesOf, isOther } from "../src/live/version";
import { readOf } from "../src/operations/read";
import { readReturn } from "../src/sign_on/flow";
import { authorizationUrl, base64url, canBeCalled, challengeOf, discoveryUrl, goodUrl, hasNonce, nameOf, readDiscovery, readIssued, reasonOf } from "../src/sign_on/issuer";
import { dueAt, fresh, keepRenewing, renewalFault, stopRenewing } from "../src/sign_on/renew";
import { keepToken, token } from "../src/token";
import type { Cluster, ClusterCounts, ClusterSummary, Event, Operation, Problem } from "../src/types";
import { inPlace } from "../src/ui/still";
import { clock, span } from "../src/ui/time";

test("an event stream is the same in whatever pieces it comes", () => {
  const text = ":\n\nid: 17\n\nid: 18\nevent: cluster.ready\ndata: {\"a\":\ndata:1}\n\nevent: reset\r\ndata: {}\r\n\r\nretry: 700\nnonsense\n\n";
  const whole = new StreamParser().feed(text);
  const wanted: Partial<Block>[] = [
    { id: null, data: null }, { id: "17", data: null }, { id: "18", event: "cluster.ready", data: '{"a":\n1}' }, { event: "reset", data: "{}" },
    { retry: 700, data: null },
  ];
  assert.equal(whole.length, wanted.length);
  wanted.forEach((part, i) => assert.deepEqual({ ...whole[i], ...part }, whole[i]));
  for (const size of [1, 2, 3, 7]) {
    const parser = new StreamParser(), blocks: Block[] = [];
    for (let at = 0; at < text.length; at += size) blocks.push(...parser.feed(text.slice(at, at + size)));
    assert.deepEqual(blocks, whole);
  }
  assert.deepEqual(new StreamParser().feed("id: 1\ndata: x\n"), [], "a block ends with an empty line");
});

type More = Partial<Omit<ClusterSummary, "status">> & { status?: Partial<ClusterSummary["status"]> };
const summary = (name: string, more: More = {}): ClusterSummary => ({
  id: name, project: "p", name, managed: true, labels: { team: "web" }, drifted: false, issue: null, kubernetes_version: "1.33.7", node_pool_count: 1, expires_at: null,
  operation: null, revision: 1, created_at: null, updated_at: null, ...more,
  status: { phase: "ready", health: "healthy", trouble_since: null, progress: null, message: null, summary: "", settling: false, stale: false, observed_at: null, ...more.status },
});
const row = (name: string, more: More = {}): Row => rowOf(summary(name, more), 0, 0);

const everything: Query = { q: "", phase: [], health: [], version: [], project: "", mark: [], trouble: "", sort: "name", reverse: false };
const NOW = Date.parse("2026-03-01T00:00:00Z");
const list = (rows: Row[], part: Partial<Query>) => {
  const asked = { ...everything, ...part };
  const arranged = arrange(sortByName([...rows]), asked.sort, asked.reverse);
  return filtered(arranged, () => joined(arranged), asked, NOW).map(({ key }) => key.slice(2));
};

test("order and filters", () => {
  const rows = [
    row("c10"), row("c9"), row("bad", { status: { phase: "failed" } }), row("weak", { status: { phase: "degraded" } }), row("drift", { drifted: true }),
    row("old", { expires_at: "2026-02-01T00:00:00Z" }), row("soon", { expires_at: "2026-03-20T00:00:00Z" }), row("late", { expires_at: "2026-06-20T00:00:00Z" }),
    row("v", { kubernetes_version: "1.9.0" }), row("none", { kubernetes_version: null, status: { phase: "pending" } }),
  ];
  assert.deepEqual(list(rows, { q: "c" }), ["c9", "c10"], "numbers count as numbers");
  const issue = (severity: "critical" | "warning" | "info", since: string | null = null) => ({ issue: { code: "x", severity, title: "x", since } });
  const failed = { status: { phase: "failed" as const } };
  const troubled = [
    row("fine"), row("note", issue("info")), row("works", { ...failed, ...issue("warning", "2026-02-01T00:00:00Z") }), row("new", issue("critical", "2026-02-02T00:00:00Z")),
    row("undated", issue("critical")), row("old", issue("critical", "2026-02-01T00:00:00Z")), row("better", failed),
  ];
  assert.deepEqual(list(troubled, { sort: "trouble" }), ["old", "new", "undated", "works", "note", "better", "fine"], "the worst issue first, then the oldest");
  assert.deepEqual(list(rows, { mark: ["expired", "expiring"] }), ["old", "soon"]);
  assert.deepEqual(list(rows, { version: ["1.9"] }), ["v"]);
  assert.deepEqual(list(rows, { version: ["unknown"] }), ["none"]);
  assert.deepEqual(list(rows, { sort: "version", reverse: true }).at(-2), "v");
  assert.deepEqual(list(rows, { sort: "expires" }).slice(0, 4), ["old", "soon", "late", "bad"], "those without an end come last, by name");
  assert.deepEqual(list(rows, { sort: "expires", reverse: true }).slice(-3), ["late", "soon", "old"]);
  const changed = [row("b", { updated_at: "2026-02-01T00:00:00Z" }), row("never"), row("c", { updated_at: "2026-03-01T00:00:00Z" }), row("a", { updated_at: "2026-02-01T00:00:00Z" })];
  assert.deepEqual(list(changed, { sort: "changed" }), ["c", "a", "b", "never"], "the last change comes first");
  assert.deepEqual(list(changed, { sort: "changed", reverse: true }), ["never", "b", "a", "c"]);
  assert.deepEqual(list(rows, { q: "TEAM=web weak" }), ["weak"], "all words have to be there");
  const every = list(rows, {});
  for (const q of ["t", "team=web", "p", "p/", "b", "ad", "e team", "c10", "c10x", "web p"]) {
    assert.deepEqual(list(rows, { q }), every.filter((name) => q.split(" ").every((word) => rows.find((one) => one.name === name)!.words.includes(word))), q);
  }
  assert.deepEqual(list([], { q: "c" }), []);
  assert.deepEqual(list(rows, { phase: ["failed", "degraded"], sort: "phase" }), ["bad", "weak"]);
  const since = [row("works"), row("day", { status: { trouble_since: "2026-02-28T00:00:00Z" } }), row("hour", { status: { trouble_since: "2026-02-28T23:00:00Z" } }),
    row("long", { status: { trouble_since: "2026-02-28T23:50:00Z" } }), row("short", { status: { trouble_since: "2026-02-28T23:50:01Z" } })];
  assert.deepEqual(list(since, { trouble: "10m" }), ["day", "hour", "long"]);
  assert.deepEqual(list(since, { trouble: "1h" }), ["day", "hour"]);
  assert.deepEqual(list(since, { trouble: "1d" }), ["day"]);
});

test("a minute changes only what depends on a version that expired in it", () => {
  now.value = NOW;
  forget();
  const fiveMinutes = "2026-03-01T00:05:00Z", monthAndTen = "2026-03-31T00:10:00Z";
  [summary("never"), summary("soon", { expires_at: fiveMinutes }), summary("late", { expires_at: monthAndTen })].forEach((one) => put(one, 0));
  const seen: string[] = [];
  const end = effect(() => void seen.push(expiries.value));
  for (let minutes = 1; minutes <= 11; minutes++) now.value = NOW + minutes * 60_000;
  end();
  forget();
  assert.deepEqual(seen, ["0 1", "1 0", "1 1"]);
});

/**
 * A server with these clusters, in pages of two, each with an entity tag. The function returns the answer of a path that is refused. Returns the
 * requests; those that are answered with 304 have it at their end.
 */
function serve(clusters: ClusterSummary[], refuses: (url: URL) => Response | undefined = () => undefined) {
  const asked: string[] = [];
  async function answer({ url, headers }: Request) {
    const at = new URL(url), refused = refuses(at), begin = Number(at.searchParams.get("cursor") ?? 0);
    const end = begin + (at.searchParams.get("sort") === "-updated_at" ? Number(at.searchParams.get("limit")) : 2);
    asked.push(at.pathname + at.search);
    if (refused) return refused;
    if (at.pathname === "/v1/summary") return Response.json({ total: clusters.length, by_phase: { ready: 4, failed: 1, pending: 0 }, by_health: { healthy: 5 },
      by_kubernetes_version: { "1.33": 5 }, expired: 1, expiring_30d: 0, drifted: 2, stale: 0, unmanaged: 0 });
    const found = clusters.filter((one) => one.name.includes(at.searchParams.get("q") ?? ""));
    const text = JSON.stringify({ items: found.slice(begin, end), next_cursor: end < found.length ? String(end) : null });
    const ETag = `"${createHash("sha256").update(text).digest("hex")}"`;
    if (headers.get("If-None-Match") !== ETag) return new Response(text, { headers: { ETag } });
    asked.push(`${asked.pop()} 304`);
    return new Response(null, { status: 304, headers: { ETag } });
  }
  Object.assign(globalThis, { serve: answer, requestAnimationFrame: (work: () => void) => setTimeout(work) });
  return asked;
}

const clustersOf = (text: string, more: More = {}) => text.split(" ").map((name) => summary(name, more));
const shownNames = () => order.shown.value.map((key) => key.slice(2)).join(" ");

test("a refusal of a request that the end of the session overtook is not reported", async () => {
  const reported: (string | undefined)[] = [];
  whenRefused((problem) => reported.push(problem?.code));
  Object.assign(globalThis, { serve: async () => Response.json({ code: "unauthorized", title: "Unauthorized" }, { status: 401 }) });
  for (const given of [null, "present"]) {
    keepToken(given);
    await ask(api.GET("/v1/whoami"));
  }
  keepToken("former");
  const late = ask(api.GET("/v1/whoami"));
  keepToken(null);
  await late;
  assert.deepEqual(reported, ["unauthorized"], "only the one with a token that is in use");
  whenRefused(() => {});
});

test("ages are measured by the clock of the server", async (t) => {
  const at = (ms: number, status = 200) => async () => new Response("{}", { status, headers: { Date: new Date(Date.now() + ms).toUTCString(), "Content-Type": "application/json" } });
  const near = (ms: number) => assert.ok(Math.abs(present() - Date.now() - ms) < 2_500, `${present() - Date.now()} and not ${ms}`);
  near(0);
  for (const [serve, wanted] of [[at(500), 0], [at(3_600_000), 3_600_000], [at(0), 3_600_000], [at(3_600_000, 503), 3_600_000]] as const) {
    Object.assign(globalThis, { serve });
    await ask(api.GET("/v1/whoami"));
    near(wanted);
  }
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() + 3_600_000 }); // somebody sets the clock of the browser
  Object.assign(globalThis, { serve: at(0) });
  await ask(api.GET("/v1/whoami"));
  near(0);
});

test("a 401 of a proxy ends no session", async () => {
  const reported: Problem[] = [];
  whenRefused((problem) => reported.push(problem));
  keepToken("good");
  for (const answer of [() => new Response("<html>sign in</html>", { status: 401, headers: { "Content-Type": "text/html" } }), () => Response.json({ message: "no" }, { status: 401 })]) {
    Object.assign(globalThis, { serve: async () => answer(), window: globalThis });
    assert.deepEqual(await ask(api.GET("/v1/whoami")), { ok: false, problem: null, isSame: false });
    await assert.rejects(readStream(null, new AbortController().signal, () => {}), (error) => error instanceof Refused && error.status === 401 && error.problem === null);
  }
  assert.deepEqual([reported, token()], [[], "good"]);
  whenRefused(() => {});
  keepToken(null);
});

test("the first clusters are shown before all are there, with the totals of the server", async (t) => {
  const seen: string[] = [];
  const look = () => {
    const now = `${load.value.state}: ${shownNames()}`;
    if (now !== seen.at(-1)) seen.push(now);
  };
  const end = effect(() => (void [load.value, order.shown.value], queueMicrotask(look)));
  t.after(() => (end(), order.hold(false), keepToken(null), forgetFirst(), forget()));
  let asked = serve(clustersOf("a b c d e"));
  keepToken("t");
  await Promise.all([readFirst(), readFirst()]);
  assert.deepEqual(asked, ["/v1/clusters?fields=summary&limit=100&sort=trouble", "/v1/summary"], "once for a token");
  assert.deepEqual([load.value.state, rows.size, counted.value?.total], ["partial", 2, 5]);
  order.hold(true);
  await readAll();
  assert.deepEqual(seen.filter((one) => one !== "partial: a b c d"), ["loading: ", "partial: a b", "loaded: a b c d e"],
    "no state is shown with other rows; the first read is shown under the pointer, too");
  assert.equal(order.differs.value, false);

  serve(clustersOf("a c d e f"));
  await readAll();
  assert.deepEqual([[...rows.keys()].join(" "), shownNames(), order.differs.value], ["p/a p/c p/d p/e p/f", "a b c d e", true], "later changes wait");
  order.hold(false);
  assert.equal(shownNames(), "a c d e f");

  forget();
  asked = serve(clustersOf("a b c d e"), (url) => (url.searchParams.get("cursor") === "2" ? Response.json({ code: "x", title: "Too much" }, { status: 429 }) : undefined));
  await readAll();
  assert.deepEqual([load.value.state, load.value.state === "failed" && load.value.problem?.title, rows.size, asked.length], ["failed", "Too much", 2, 2]);
  serve(clustersOf("a b c"));
  await readAll();
  assert.deepEqual([load.value.state, rows.size], ["loaded", 3]);
  put(summary("a", { revision: 0, status: { phase: "failed" } }), null);
  assert.equal(rows.get("p/a")?.status.phase, "ready", "an older revision is left out");
});

test("a repeated read of all clusters brings only the pages that have changed", async (t) => {
  t.after(forget);
  /** The pages that are asked for: by their first cluster, in capitals when it comes anew. */
  const pagesOf = (asked: string[]) => asked.map((one) => {
    const name = "ace"[Number(/cursor=(\d+)/.exec(one)?.[1] ?? 0) / 2]!;
    return one.endsWith(" 304") ? name : name.toUpperCase();
  }).join("");
  const read = async (clusters: ClusterSummary[]) => {
    const asked = serve(clusters);
    await readAll();
    return pagesOf(asked);
  };
  const five = clustersOf("a b c d e"), other = five.map((one) => (one.name === "d" ? summary("d", { revision: 2, status: { phase: "failed" } }) : one));
  assert.equal(await read(five), "ACE");
  const rest = () => new Promise((resolve) => setTimeout(resolve, 10));
  await rest();
  const before = [...rows.values()], painted = revision.value;
  assert.equal(await read(five), "ace");
  await rest();
  assert.equal(revision.value, painted, "nothing is painted");
  assert.ok(before.every((one) => rows.get(one.key) === one), "no row is made again");
  assert.equal(await read(other), "aCe");
  assert.equal(rows.get("p/d")?.status.phase, "failed");

  toStore.events([{ type: "cluster.updated", data: { project: "p", cluster: "a", phase: "updating", revision: 9 } } as unknown as Event]);
  assert.equal(rows.get("p/a")?.status.phase, "updating");
  assert.equal(await read(other), "Ace", "an event has changed a row, and the server still has the page of before");
  assert.equal(rows.get("p/a")?.status.phase, "ready");
  put(summary("b", { revision: 9, status: { stale: true } }), null);
  assert.equal(await read(other), "Ace", "another read has brought a row");
  assert.equal(rows.get("p/b")?.status.stale, false);
  put(summary("b", { status: { observed_at: "2026-11-27T10:00:00Z" } }), null);
  assert.equal(await read(other), "ace", "another read has brought the same row");
  remove("p/e");
  assert.equal(await read(other), "acE", "a row is away");
  assert.equal(await read(other), "ace");

  assert.equal(await read(other.filter((one) => one.name !== "e")), "aC", "the page after it is away, so its cursor is, too");
  assert.deepEqual([...rows.keys()].join(" "), "p/a p/b p/c p/d");
  assert.equal(await read(other), "aCE");
  const asked = serve(other, (url) => (url.searchParams.get("cursor") === "2" ? Response.json({ code: "x", title: "Too much" }, { status: 429 }) : undefined));
  await readAll();
  assert.equal(pagesOf(asked), "aC", "a read that fails in the middle");
  assert.equal(await read(other), "ace");
  forget();
  assert.equal(await read(other), "ACE", "after another login");
});

test("an event during the read of its page is not lost", async (t) => {
  t.after(forget);
  serve(clustersOf("a b c"));
  await readAll();
  const asked = serve(clustersOf("a b c"), (url) => {
    if (url.searchParams.get("cursor")) toStore.events([{ type: "cluster.updated", data: { project: "p", cluster: "c", phase: "failed", revision: 2 } } as unknown as Event]);
    return undefined;
  });
  await readAll();
  assert.ok(asked.every((one) => one.endsWith(" 304")), asked.join());
  assert.equal(rows.get("p/c")?.status.phase, "failed");
  const again = serve([...clustersOf("a b"), summary("c", { revision: 2, status: { phase: "failed", message: "m" } })]);
  while (rows.get("p/c")?.status.message !== "m") await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(again, ["/v1/projects/p/clusters?fields=summary&limit=1000&q=c"], "the row is read alone");
});

test("many changes at once are read in one page, and few of them one by one", async (t) => {
  t.after(forget);
  const names = Array.from({ length: 40 }, (_, i) => `c${i}`);
  serve(clustersOf(names.join(" ")));
  await readAll();
  const asked = serve(clustersOf(names.slice(0, 39).join(" "), { revision: 2, status: { phase: "updating" } }));
  const change = (...some: string[]) => toStore.events(some.map((cluster) => ({ type: "cluster.updated", data: { project: "p", cluster, phase: "failed", revision: 2 } }) as unknown as Event));
  change(...names.slice(0, 20));
  assert.equal(rows.get("p/c0")?.status.phase, "failed", "the data of the event is there at once");
  while (rows.get("p/c0")?.status.phase !== "updating") await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(asked.splice(0), ["/v1/clusters?fields=summary&sort=-updated_at&limit=40"]);

  change(...names.slice(20));
  while (rows.has("p/c39")) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(asked, ["/v1/clusters?fields=summary&sort=-updated_at&limit=40", "/v1/projects/p/clusters?fields=summary&limit=1000&q=c39"], "one that is gone is asked for by name");
  assert.equal(restAfter(performance.now() - 3_600_000), 10_000, "the machine slept for an hour during a read");
});

test("the server begins with the clusters that the table begins with", () => {
  const first = (part: Partial<Query>) => Object.entries(firstOf({ ...everything, ...part })).filter(([name, value]) => !["fields", "limit"].includes(name) && String(value ?? ""));
  assert.deepEqual(first({}), [["sort", "name"]]);
  assert.deepEqual(first({ sort: "trouble", phase: ["failed"], project: "p" }), [["sort", "trouble"], ["project", "p"], ["phase", ["failed"]]]);
  assert.deepEqual(first({ sort: "changed", q: " Web " }), [["sort", "-updated_at"], ["q", "Web"]]);
  assert.deepEqual(first({ sort: "changed", reverse: true, q: "two words" }), [["sort", "updated_at"]], "the server takes several words as one text");
  assert.deepEqual(first({ sort: "expires", reverse: true }), [["sort", "-expires_at"]]);
  const counts = countsOf({ by_phase: { ready: 4, failed: 1, pending: 0 }, by_health: { healthy: 5 }, by_kubernetes_version: { "1.33": 5 }, expired: 1, expiring_30d: 0, drifted: 2, stale: 0,
    unmanaged: 0 } as unknown as ClusterCounts);
  assert.deepEqual(Object.values(counts).map((some) => [...some]), [[["ready", 4], ["failed", 1]], [["healthy", 5]], [["1.33", 5]], [["expired", 1], ["drifted", 2]]]);
});

test("the week of a cluster", () => {
  assert.deepEqual(movedByMinutes({ hour: 23, minute: 0, days: [1, 6] }, 660), { hour: 10, minute: 0, days: [2, 0] }, "the next day in Sydney");
  assert.deepEqual(movedByMinutes({ hour: 1, minute: 30, days: [0, 3] }, -120), { hour: 23, minute: 30, days: [6, 2] });
  assert.deepEqual(movedByMinutes({ hour: 23, minute: 30, days: null }, 60), { hour: 0, minute: 30, days: null });
  assert.deepEqual(dailySpans(1380, 60).slice(0, 2), [{ from: 1380, to: 1500 }, { from: 2820, to: 2940 }]);
  assert.deepEqual([dailySpans(NaN, 60), dailySpans(60, 60)[0]], [[], { from: 60, to: 1500 }]);
  const winter = new Date("2026-01-15T12:00:30Z"), summer = new Date("2026-07-15T12:00:00Z");
  assert.deepEqual(["UTC", "Europe/Stockholm", "Asia/Kolkata", "no/where"].map((zone) => offsetOf(zone, winter)), [0, 60, 330, null]);
  assert.equal(offsetOf("Europe/Stockholm", summer), 120);

  const weekdays = { start: "00 18 * * 1-5", end: "00 07 * * 1-5", location: "UTC" };
  const spans = sleepSpans([weekdays], winter);
  assert.deepEqual([spans[0], spans[4]], [{ from: 1080, to: 1440 + 420 }, { from: 4 * 1440 + 1080, to: 7 * 1440 + 420 }], "from Friday evening to Monday");
  assert.deepEqual(sleepSpans([{ ...weekdays, location: "Europe/Stockholm" }], summer)[0], { from: 960, to: 1440 + 300 });
  assert.deepEqual(sleepSpans([{ start: "0 20 * * *", end: null }, { start: null, end: "0 6 * * 1" }], winter).at(-1), { from: 5 * 1440 + 1200, to: 7 * 1440 + 360 });
  for (const odd of [{ ...weekdays, end: null }, { ...weekdays, end: "*/5 * * * *" }, { ...weekdays, location: "no/where" }]) assert.deepEqual(sleepSpans([odd], winter), []);

  assert.deepEqual(byDay([{ from: 1080, to: 1860 }], 0), [{ day: 0, from: 1080, to: 1440 }, { day: 1, from: 0, to: 420 }]);
  assert.deepEqual(byDay([{ from: 0, to: 60 }], -120), [{ day: 6, from: 1320, to: 1380 }], "Sunday evening in the west");
  assert.deepEqual(byDay([{ from: 6 * 1440 + 1380, to: 7 * 1440 }], 60), [{ day: 0, from: 0, to: 60 }], "Monday in the east");
});

test("times of schedules", () => {
  assert.equal(minutesUtc("020000+0000"), 120);
  assert.equal(minutesUtc("003000+0100"), 23 * 60 + 30);
  assert.equal(minutesUtc("233000-0130"), 60);
  assert.ok(Number.isNaN(minutesUtc("2 o'clock")));
  assert.deepEqual(readCron("00 18 * * 1,2,3,4,5"), { minute: 0, hour: 18, days: [1, 2, 3, 4, 5] });
  assert.deepEqual(readCron("5 07 * * 1-3,0"), { minute: 5, hour: 7, days: [1, 2, 3, 0] });
  assert.deepEqual(readCron("0 0 * * 7"), { minute: 0, hour: 0, days: [0] });
  assert.deepEqual(readCron("0 0 * * *"), { minute: 0, hour: 0, days: null });
  for (const odd of ["*/5 * * * *", "0 25 * * *", "60 1 * * *", "0 1 1 * *", "", null]) assert.equal(readCron(odd), null, String(odd));
});

test("spans", () => {
  assert.deepEqual([0, 59_999, 60_000, 3_600_000, 47 * 3_600_000, 49 * 3_600_000].map(span), ["0 s", "59 s", "1 min", "1 h", "47 h", "2 d"]);
  assert.deepEqual([0, 61_000, 3_727_000].map(clock), ["0:00", "1:01", "1:02:07"]);
  assert.equal(span(-5), "0 s", "a clock that is behind");
});

test("spec beside what is there", () => {
  const cluster = {
    spec: { kubernetes_version: "1.33", networking: { type: "calico" } },
    observed: { kubernetes_version: "1.33.7", high_availability: false, networking: { type: "calico", nodes_cidr: null }, allowed_cidrs: [], node_pools: [] },
    drift: [{ path: "allowed_cidrs", wanted: ["192.0.2.0/24"], found: [] }, { path: "node_pools.default.maximum", wanted: 3, found: 5 }],
  } as unknown as Cluster;
  const rows = compare(cluster);
  assert.deepEqual(rows.slice(0, 2).map((one) => [one.path, one.differs, say(one.wanted), say(one.found)]), [
    ["allowed_cidrs", true, "192.0.2.0/24", "(empty)"], ["node_pools.default.maximum", true, "3", "5"],
  ]);
  assert.deepEqual(rows.find((one) => one.path === "networking.type"), { path: "networking.type", wanted: "calico", found: "calico", differs: false });
  assert.equal(rows.some((one) => one.path === "node_pools"), false);
});

test("events: what fits the filters, and what is kept", () => {
  const event = (sequence: number, type: string, data = {}) => ({ id: `evt_${sequence}`, sequence, type, timestamp: "", data }) as unknown as Event;
  const ready = event(3, "cluster.ready", { project: "p", cluster: "c" });
  const asked = { type: "", project: "", cluster: "" };
  for (const [part, wanted] of [[{}, true], [{ type: "cluster.*" }, true], [{ type: "cluster.failed, cluster.ready" }, true], [{ type: "cluster" }, false],
    [{ project: "q,p" }, true], [{ project: "q" }, false], [{ cluster: "c", project: "p" }, true], [{ cluster: "C" }, false]] as const)
    assert.equal(fits(ready, { ...asked, ...part }), wanted, JSON.stringify(part));
  assert.equal(fits(event(4, "account.recovered", { account: "main" }), { ...asked, project: "p" }), false);
  const numbers = (events: Event[]) => events.map((one) => one.sequence);
  assert.deepEqual(numbers(merged([event(5, "a.b"), ready], [ready, event(1, "a.b")], 9)), [5, 3, 1]);
  assert.deepEqual(numbers(merged([event(5, "a.b")], [ready, event(1, "a.b")], 2)), [5, 3]);
});

test("events that come before the first page stay, and those from before a reset go", async () => {
  const happened = (sequence: number) => ({ id: `evt_${sequence}`, sequence, type: "cluster.ready", timestamp: "", data: {} }) as unknown as Event;
  const answers: ((answer: Response) => void)[] = [], paints: (() => void)[] = [];
  Object.assign(globalThis, { window: { setTimeout: (work: () => void) => paints.push(work) }, serve: () => new Promise((resolve) => answers.push(resolve)) });
  const data = makeEvents({ type: "", project: "", cluster: "" });
  const shown = () => data.items.value.map(({ sequence }) => sequence).join(" ");
  const paint = () => paints.splice(0).forEach((work) => work());
  async function serves(sequences: number[], next_cursor: string | null) {
    while (!answers.length) await new Promise((resolve) => setTimeout(resolve));
    answers.shift()?.(Response.json({ items: sequences.map(happened), next_cursor }));
  }
  const first = data.again();
  data.toList.events([happened(7)]);
  paint();
  data.toList.events([happened(8)]);
  await serves([6, 5], "more");
  await first;
  assert.equal(shown(), "8 7 6 5", "one was painted before the page, the other was not");
  paint();
  const older = data.older();
  await serves([4, 3], null);
  await older;
  assert.equal(shown(), "8 7 6 5 4 3");

  data.toList.reset();
  assert.equal(shown(), "8 7 6 5 4 3", "until the new log is there");
  data.toList.events([happened(2)]);
  paint();
  assert.equal(shown(), "2", "the new log counts from one again");
  await serves([1], null);
  while (shown() === "2") await new Promise((resolve) => setTimeout(resolve));
  assert.equal(shown(), "2 1");
});

test("a page that could not be read is read again when the server is back", async (t) => {
  const ticks: (() => void)[] = [], state = signal("failed"), problem = signal<Problem | null>(null);
  let reads = 0, isDue = false, answer = Promise.resolve();
  t.mock.method(globalThis, "setInterval", (work: () => void) => ticks.push(work));
  setLink({ state: "away", since: 0 });
  const end = goesOn({ state, problem }, () => (reads++, answer), () => isDue);
  t.after(() => (end(), setLink({ state: "off", since: 0 })));
  async function returns() {
    for (const one of ["away", "live"] as const) setLink({ state: one, since: 0 });
    await new Promise((resolve) => setTimeout(resolve));
    return reads;
  }
  const refusedWith = (status: number) => (problem.value = { status } as Problem);
  assert.equal(reads, 0);
  assert.equal(await returns(), 1);
  ticks[0]?.();
  assert.equal(reads, 2, "there may be no stream");
  await answer;
  refusedWith(422);
  assert.equal(await returns(), 2, "the server would refuse it again");
  refusedWith(503);
  assert.equal(await returns(), 3);
  problem.value = null;
  state.value = "there";
  assert.equal(await returns(), 3);
  isDue = true;
  answer = new Promise(() => {});
  assert.equal(await returns(), 4);
  assert.equal(await returns(), 4, "a read that is under way is not begun again");
});

test("the history of a cluster ends where one of its lists ends", () => {
  const at = (minute: number) => `2026-03-01T00:${String(minute).padStart(2, "0")}:00Z`;
  const event = (minute: number, operation?: string) =>
    ({ id: `e${minute}`, timestamp: at(minute), type: operation ? "operation.succeeded" : "cluster.updated", data: { operation_id: operation } }) as unknown as Event;
  const operation = (minute: number) => ({ id: `o${minute}`, created_at: at(minute) }) as unknown as Operation;
  const events = [event(9, "o8"), event(7), event(6, "o3"), event(5)], operations = [operation(8), operation(4), operation(3)];
  const history = (areAllEvents: boolean, areAllOperations: boolean) => {
    const { items, isWhole } = historyOf({ items: events, isWhole: areAllEvents }, { items: operations, isWhole: areAllOperations });
    return `${items.map(({ key }) => key).join(" ")} ${isWhole}`;
  };
  assert.equal(history(true, true), "o8 e7 e5 o4 o3 true");
  assert.equal(history(true, false), "o8 e7 e5 o4 o3 false");
  assert.equal(history(false, true), "o8 e7 e6 e5 false", "the event of an operation that is left out is shown");
  assert.equal(historyOf({ items: [], isWhole: true }, { items: [], isWhole: true }).items.length, 0);
});

test("a page notices that the server has another version of it", () => {
  const page = (script: string) => `<link rel="stylesheet" href="dashboard/style-0123456789ab.css"><script src="dashboard/${script}"></script>`;
  const own = filesOf(page("app-0123456789ab.js"));
  assert.equal(own, "dashboard/app-0123456789ab.js dashboard/style-0123456789ab.css");
  const isNew = (served: string, tag: string | null) => isOther(own, served, tag);
  assert.equal(isNew("<form>Log in to the proxy</form>", '"x"'), false);
  assert.equal(isNew(page("app-0123456789ab.js"), '"a"'), false);
  assert.equal(isNew(page("app-ba9876543210.js"), '"a"'), true, "another build");
  assert.equal(isNew(page("app-0123456789ab.js"), '"b"'), true, "another policy");
  assert.equal(isNew(page("app-0123456789ab.js"), null), false, "a proxy may remove the tag");
  assert.equal(isNew(page("app-0123456789ab.js"), '"a"'), false, "it is taken back");
});

test("lists stand still, and are asked for in two parts", () => {
  const list = (text: string) => text.split(" ").map((word) => ({ key: word[0] ?? "", word }));
  const still = (shown: string, next: string) => inPlace(list(shown), list(next), (one) => one.key).map((one) => one.word).join(" ");
  assert.equal(still("a1 b1", "c1 a1 b1"), "a1 b1", "a new one at the top waits");
  assert.equal(still("a1 b1", "b2 a2"), "a2 b2", "members change in place");
  assert.equal(still("a1 b1", "b2"), "a1 b2", "one that is gone stays");
  assert.equal(still("a1 b1", "c1 a1 b1 d1"), "a1 b1 d1", "what is added below moves nothing");
  const moved = (before: string, after: string, first: number, end: number) => movedBy([...before], [...after], first, end);
  assert.equal(moved("abcdef", "xyabcdef", 2, 5), 2, "two rows came above the screen");
  assert.equal(moved("abcdef", "acxdef", 2, 5), 0, "one went above the screen, and one came on it: most rows stay");
  assert.equal(moved("abcdef", "cabdef", 2, 5), 0, "a single row has moved far");
  assert.equal(moved("abcdef", "cdef", 2, 5), -2, "two rows above the screen are gone");
  assert.equal(moved("abcdef", "xyz", 2, 5), 0, "no row is left");
  const parts = (text: string) => [readOf(new URLSearchParams(text)).open, readOf(new URLSearchParams(text)).ended].map((some) => some.join(","));
  assert.deepEqual(parts(""), ["pending,running", "succeeded,failed,cancelled"]);
  assert.deepEqual(parts("status=running,failed"), ["running", "failed"]);
  assert.deepEqual(parts("status=odd"), ["", "odd"], "the server says what is wrong with it");
});

test("an issuer names addresses that are safe", async () => {
  for (const good of ["https://login.example.com/realms/it", "http://127.0.0.1:8080", "http://localhost/x", "https://login.example.com?policy=p"]) assert.ok(goodUrl(good), good);
  for (const bad of ["http://login.example.com", "https://a@b.example.com", "https://a.example.com/#x", "javascript:alert(1)", "data:text/html,x", "/login", " https://a.example.com",
    "http://127.0.0.1.example.com", "http://localhost.example.com", `https://a.example.com/${"x".repeat(3000)}`, null, 5, {}]) assert.equal(goodUrl(bad), null, String(bad));
  assert.deepEqual(["https://a.example.com", "http://127.0.0.1:1", "http://[::1]:1", "http://a.example.com"].map(canBeCalled), [true, true, false, false]);
  assert.equal(discoveryUrl("https://a.example.com/realms/it/"), "https://a.example.com/realms/it/.well-known/openid-configuration");

  const issuer = "https://a.example.com/it";
  const document = { issuer, authorization_endpoint: "https://login.example.com/go?p=1", token_endpoint: "https://a.example.com/token" };
  assert.deepEqual(readDiscovery(document, issuer), { authorization: "https://login.example.com/go?p=1", token: "https://a.example.com/token", namesIssuer: false });
  const faults: [object, string][] = [
    [{ issuer: `${issuer}/` }, "issuer"], [{ authorization_endpoint: "javascript:alert(1)" }, "endpoints"], [{ token_endpoint: undefined }, "endpoints"],
    [{ token_endpoint: "https://b.example.com/token" }, "foreign"], [{ code_challenge_methods_supported: ["plain"] }, "pkce"],
  ];
  for (const [part, fault] of faults) assert.equal(readDiscovery({ ...document, ...part }, issuer), fault);
  for (const odd of [null, [], "x", 5]) assert.equal(readDiscovery(odd, issuer), "form");

  const address = new URL(authorizationUrl("https://login.example.com/go?p=1", { state: "a&b", scope: "openid api" }));
  assert.deepEqual([...address.searchParams], [["p", "1"], ["state", "a&b"], ["scope", "openid api"]]);
  const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"; // RFC 7636, appendix B
  assert.equal(await challengeOf(verifier, webcrypto.subtle as SubtleCrypto), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
  assert.equal(base64url(new Uint8Array([251, 255, 191])), "-_-_");
});

test("each issuer has a name of its own: the host, or more when others are there, too", () => {
  const names = (...urls: string[]) => urls.map((one) => nameOf(one, urls));
  assert.deepEqual(names("https://a.example.com/realms/it", "https://b.example.com/x"), ["a.example.com", "b.example.com"]);
  assert.deepEqual(names("https://a.example.com/realms/it", "https://a.example.com/realms/hr", "https://b.example.com/x"),
    ["a.example.com/realms/it", "a.example.com/realms/hr", "b.example.com"]);
  assert.deepEqual(names("https://a.example.com", "https://a.example.com/", "https://a.example.com:8443/"), ["a.example.com", "a.example.com/", "a.example.com:8443"]);
  assert.deepEqual(names("https://a.example.com/x?p=1", "https://a.example.com/x?p=2"), ["a.example.com/x?p=1", "a.example.com/x?p=2"]);
});

test("answers of an issuer are read member by member", () => {
  assert.deepEqual(readIssued({ access_token: "a.b-c_d", token_type: "bearer", expires_in: 60, refresh_token: "r", id_token: "i" }),
    { access: "a.b-c_d", refresh: "r", idToken: "i", expiresIn: 60 });
  assert.deepEqual(readIssued({ access_token: "a", expires_in: "60", refresh_token: 5 }), { access: "a", refresh: null, idToken: null, expiresIn: null });
  for (const odd of [null, [], {}, { access_token: "a b" }, { access_token: "a\r\nX: y" }, { access_token: "" }, { access_token: "a", token_type: "DPoP" }, { access_token: "a", token_type: 1 }])
    assert.equal(readIssued(odd), null);
  assert.equal(reasonOf({ error: "invalid_grant", error_description: "<b>it</b> is over" }), "invalid_grant: <b>it</b> is over");
  assert.deepEqual([{ error: "x" }, { error_description: "x" }, { error: 5 }, null, { error: "x".repeat(5000) }].map(reasonOf), ["x", null, null, null, null]);

  const idToken = (claims: unknown) => `e30.${base64url(new TextEncoder().encode(JSON.stringify(claims)))}.x`;
  assert.ok(hasNonce(idToken({ nonce: "n", name: "Åsa" }), "n"));
  for (const odd of [idToken({ nonce: "m" }), idToken({}), idToken(null), "e30", "a.%.c", ""]) assert.equal(hasNonce(odd, "n"), false, odd);

  assert.equal(readReturn(""), null);
  assert.equal(readReturn("?state=x&utm_source=mail"), null);
  assert.deepEqual(readReturn("?code=c&state=s&iss=https%3A%2F%2Fa.example.com&session_state=1"), { state: "s", code: "c", issuer: "https://a.example.com", error: null });
  assert.deepEqual(readReturn("?error=access_denied&error_description=no+%3Cb%3E"), { state: null, code: null, issuer: null, error: { error: "access_denied", error_description: "no <b>" } });

  assert.deepEqual([600, 120, 60, 1].map((seconds) => dueAt(0, seconds)), [540_000, 60_000, 30_000, 500]);
});

test("a token that ended while the machine slept is renewed before the next call", async (t) => {
  const forms: Record<string, string>[] = [];
  let present = NOW, answer: () => Response = () => Response.json({ access_token: `new-${forms.length}`, refresh_token: `refresh-${forms.length}`, expires_in: 600 });
  const tick: (() => void)[] = [];
  Object.assign(globalThis, { window: { setInterval: (work: () => void) => (tick.splice(0, 1, work), 1) } });
  Object.assign(document, { addEventListener() {}, removeEventListener() {} });
  t.after(stopRenewing);
  t.mock.method(Date, "now", () => present);
  t.mock.method(globalThis, "fetch", async (_: string, init: RequestInit) => {
    if (init.method === "POST") forms.push(Object.fromEntries(init.body as URLSearchParams));
    return answer();
  });
  const grant = { name: "a.example.com", endpoint: "https://a.example.com/token", clientId: "page" };
  const issued = { access: "first", refresh: "refresh-0", idToken: null, expiresIn: 600 };
  const minutes = (n: number) => NOW + n * 60_000;
  const begin = () => (keepToken("first"), keepRenewing(grant, issued, (present = NOW)), forms.splice(0));

  begin();
  for (const at of [0, 8.9, 9.5]) await ((present = minutes(at)), fresh());
  assert.deepEqual([forms.length, token()], [0, "first"], "a call waits for no renewal while the token is good");

  present = minutes(90);
  await Promise.all([fresh(), fresh(), fresh()]);
  assert.deepEqual([forms, token()], [[{ grant_type: "refresh_token", refresh_token: "refresh-0", client_id: "page" }], "new-1"]);
  await fresh();
  assert.equal(forms.length, 1, "the new one is good");

  present = minutes(200);
  tick[0]?.();
  await fresh();
  assert.deepEqual([forms.map((form) => form.refresh_token), token()], [["refresh-0", "refresh-1"], "new-2"], "a call waits for the renewal that has begun");

  begin();
  answer = () => { throw new TypeError("no network yet"); };
  present = minutes(90);
  await fresh();
  present += 29_000;
  await fresh();
  assert.deepEqual([forms.length, token()], [1, "first"], "an issuer that is away is not asked by each call");
  assert.match(renewalFault() ?? "", /does not answer/);
  answer = () => Response.json({ access_token: "back", expires_in: 600 });
  present += 1_000;
  await fresh();
  assert.deepEqual([forms.length, token(), renewalFault()], [2, "back", null]);

  begin();
  answer = () => new Response("<html>", { status: 403, headers: { "Content-Type": "text/html" } });
  for (const at of [90, 91]) await ((present = minutes(at)), fresh());
  assert.deepEqual([forms.length, token()], [2, "first"], "a proxy refuses nothing for good");

  begin();
  answer = () => Response.json({ error: "invalid_grant" }, { status: 400 });
  for (const at of [90, 91, 200]) await ((present = minutes(at)), fresh());
  assert.deepEqual([forms.length, token()], [1, "first"], "a refusal is final: the server says that the token is over");
});

#!/usr/bin/python3
"""The dashboard with 10,000 clusters in real Chromium: the time until the first view, the frames while somebody scrolls and types, and the
memory while 100 clusters change in each second. Ends with 1 when a figure is over its bound. A run lasts two minutes longer than the
clusters change; its progress is on standard error. A fault in the middle leaves the figures of the parts before it."""

import argparse
import concurrent.futures
import contextlib
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from load import CORES, ROOT, SomebodyElse, quiet
from report import Stopwatch, goal, section, table
from scale import BY_HAND, FRESH, Fleet
import browser
import harness

CLUSTERS, OF_A_PROJECT = 10000, 1000
VIEWS, VIEW_MS, FRAME_MS = 7, 1000, 50
CLOCK_MS = 0.1  # the step of the browser's clock: three refreshes of a screen of 60 Hz are 50.0 or 50.1 ms
SCREENS = 200  # frames in which the whole table passes
CHANGES, BATCHES = 100, 2  # changes in a second, in so many batches, each followed by a look of shootd at its project
SAMPLE_S, SAMPLES, GROWTH_MIB, ARRIVED = 30, 9, 2, 0.99
MIB = 2**20

# The times of one navigation, in ms since its begin: a frame with rows and the totals of all clusters has been painted; all clusters are
# there.
VIEW = """
  await page.addInitScript((args) => {
    if (!location.protocol.startsWith("http")) return;
    sessionStorage.setItem("shootd.token", args.token);
    const times = (window.times = {});
    const number = (one) => Number(one.textContent.replace(/,/g, ""));
    const total = () => [...document.querySelectorAll(".totals-group:first-child .chip-count")].map(number).reduce((a, b) => a + b, 0);
    const isUseful = () => document.querySelectorAll(".tbody [role=row]").length >= 10 && total() === args.count;
    let painted = false;
    const look = () => {
      if (painted) times.useful ??= performance.now();
      painted = isUseful();
      if (document.title.startsWith("10,000 ")) times.all = performance.now();
      if (!times.all || !times.useful) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, args);
  const cdp = await context.newCDPSession(page);
  await cdp.send("Network.enable");
  await cdp.send("Network.clearBrowserCache");
  await page.goto(args.url, { waitUntil: "commit" });
  const end = Date.now() + 60_000;
  for (;;) {
    const times = await page.evaluate(() => window.times);
    if (times?.useful && times.all) return times;
    if (Date.now() > end) throw new Error("not all clusters were shown in 60 s: " + (await page.evaluate(() => document.body.innerText.slice(0, 1000))));
    await page.waitForTimeout(50);
  }
"""

# The frames during `act`: the time from each to the next, by requestAnimationFrame, and the tasks of the page's thread, by the browser's
# trace. The trace has only what it needs, because one of the whole timeline makes frames late. `late`: the frames over `args.bound` ms,
# with the processor time of the page's thread in each. A mark that is in the page and in the trace gives the difference of their clocks.
FRAMES = """
  const cdp = (page.cdp ??= await context.newCDPSession(page));
  const trace = [], TASK = "ThreadControllerImpl::RunTask";
  const take = ({ value }) => trace.push(...value.filter((one) => [TASK, "thread_name", "frames"].includes(one.name)));
  cdp.on("Tracing.dataCollected", take);
  await cdp.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: {
    includedCategories: ["__metadata", "blink.user_timing", "toplevel"], excludedCategories: ["*"] } });
  await page.evaluate(() => {
    performance.mark("frames");
    const begins = (window.begins = []);
    const step = (now) => {
      begins.push(now);
      window.frame = requestAnimationFrame(step);
    };
    window.frame = requestAnimationFrame(step);
  });
  await page.waitForTimeout(500);  // the begin of a trace is work for all processes of the browser
  await page.evaluate(() => (window.begins.length = 0));
  %s
  const begins = await page.evaluate(() => (cancelAnimationFrame(window.frame), window.begins));
  const gaps = begins.slice(1).map((now, i) => Math.round((now - begins[i]) * 10) / 10);
  const ended = new Promise((resolve) => cdp.once("Tracing.tracingComplete", resolve));
  await cdp.send("Tracing.end");
  await ended;
  cdp.off("Tracing.dataCollected", take);
  const pages = new Set(trace.filter((one) => one.name === "thread_name" && one.args.name === "CrRendererMain").map((one) => `${one.pid} ${one.tid}`));
  const tasks = trace.filter((one) => one.name === TASK && pages.has(`${one.pid} ${one.tid}`));
  const longest = (of) => tasks.reduce((most, one) => Math.max(most, of(one) ?? 0), 0) / 1000;
  const mark = trace.findLast((one) => one.name === "frames" && one.args.data);
  const inTrace = (now) => now + mark.ts / 1000 - mark.args.data.startTime;
  const worked = (begin, end) => tasks.reduce((sum, { ts, dur, tdur }) =>
    sum + Math.max(0, Math.min(end, (ts + dur) / 1000) - Math.max(begin, ts / 1000)) * (dur ? (tdur ?? 0) / dur : 0), 0);
  const late = gaps.map((ms, i) => ({ ms, worked: worked(inTrace(begins[i]), inTrace(begins[i + 1])) })).filter(({ ms }) => ms > args.bound);
  return { gaps, tasks: tasks.length, longest: longest((one) => one.dur), ofProcessor: longest((one) => one.tdur), late };
"""
ORDER = 'the order "Trouble first"'  # a change of the address, which has no bound
ACTS = {
    "scrolling with the mouse wheel": """
      await page.locator(".table").hover();
      for (let i = 0; i < 150; i++) await page.mouse.wheel(0, i < 100 ? 240 : -480);
      await page.mouse.move(0, 0);
      await page.waitForTimeout(300);  // rows beyond the screen follow when the user rests
    """,
    f"scrolling from the top to the bottom of the table in {SCREENS} steps": """
      await page.evaluate((screens) => new Promise((resolve) => {
        const table = document.querySelector(".table");
        const far = Math.max(table.clientHeight, table.scrollHeight / screens);
        table.scrollTop = 0;
        const step = () => {
          table.scrollTop += far;
          if (table.scrollTop + table.clientHeight < table.scrollHeight - 1) requestAnimationFrame(step);
          else resolve();
        };
        requestAnimationFrame(step);
      }), args.screens);
      await page.waitForTimeout(300);
    """,
    ORDER: """
      await page.evaluate(() => { location.hash = "/?sort=trouble"; });
      await page.waitForTimeout(600);
    """,
    "typing and deleting text in the search field, in this order": """
      await page.getByLabel("Search").focus();
      for (const text of ["c-07", "p3 c-00", "nothing"]) {
        await page.keyboard.type(text, { delay: 80 });
        await page.waitForTimeout(600);  // the address follows when the user stops
        for (let i = 0; i < text.length; i++) await page.keyboard.press("Backspace", { delay: 40 });
      }
      await page.waitForTimeout(600);
    """,
}

# Sums the changes that the live region reports; the last ones are at the top, so that rows move all the time.
COUNT = """
  await page.evaluate(() => {
    location.hash = "/?sort=changed";
    const region = document.querySelector(".visually-hidden[role=status]");
    window.arrived = 0;
    new MutationObserver(() => (window.arrived += Number(/([\\d,]+) change/.exec(region.textContent)?.[1].replace(/,/g, "") ?? 0)))
      .observe(region, { childList: true, characterData: true, subtree: true });
  });
"""
HEAP = """
  const cdp = (page.cdp ??= await context.newCDPSession(page));
  for (let i = 0; i < 2; i++) await cdp.send("HeapProfiler.collectGarbage");
  const { usedSize } = await cdp.send("Runtime.getHeapUsage");
  const { nodes, jsEventListeners } = await cdp.send("Memory.getDOMCounters");
  return { heap: usedSize, nodes, listeners: jsEventListeners, arrived: await page.evaluate(() => window.arrived) };
"""


class Changes(threading.Thread):
    """Somebody else who puts clusters to sleep and wakes them at Cleura; shootd looks after each batch, so each is an event of its own. The
    next batch begins during the look."""

    def __init__(self, f):
        super().__init__(daemon=True)
        self.f, self.made, self.late, self.asleep, self.ends, self.fault = f, 0, 0.0, set(), threading.Event(), None
        self.looks, self.last = concurrent.futures.ThreadPoolExecutor(1), None

    def run(self):
        somebody = SomebodyElse(self.f.sim)
        try:
            turn, due = 0, time.monotonic()
            while not self.ends.wait(max(0.0, due - time.monotonic())):
                self.late = max(self.late, time.monotonic() - due)
                self.batch(somebody, turn)
                turn, due = turn + 1, due + 1 / BATCHES
        except (Exception, SystemExit) as fault:  # noqa: BLE001: the main thread reports it
            self.fault = fault
        finally:
            somebody.close()

    def batch(self, somebody, turn):
        """Changes the next clusters of the next project."""
        project, size = turn % len(self.f.ids), CHANGES // BATCHES
        first = turn // len(self.f.ids) * size
        for place in range(first, first + size):
            i = project + len(self.f.ids) * (place % OF_A_PROJECT)
            somebody.act(self.f.ids[project], self.f.name(i), "wakeup" if i in self.asleep else "hibernate")
            self.asleep ^= {i}
        if self.last:
            self.last.result()  # one look at a time
        self.last = self.looks.submit(self.look, project)
        self.made += size

    def look(self, project):
        self.f.d.http.get(f"/v1/projects/p{project}/clusters", params={"limit": 1}, headers=dict([FRESH.split(": ")])).raise_for_status()

    def stop(self):
        self.ends.set()
        self.join(30)
        self.looks.shutdown()
        if self.fault:
            raise SystemExit(f"the changes ended: {self.fault!r}")
        for project in range(len(self.f.ids)):  # the last ones may have been under way at the last look
            self.look(project)


class Figures:
    """Rows of the report; those over their bound are missed."""

    def __init__(self):
        self.rows, self.missed, self.watch = [], [], Stopwatch()

    def progress(self, text):
        print(f"{self.watch.seconds():5.0f} s: {text}", file=sys.stderr, flush=True)

    def add(self, what, now, bound=None, at_least=False):
        self.rows.append([what, now, "" if bound is None else f"at {'least' if at_least else 'most'} {bound:,}"])
        if bound is None:
            return
        goal(f"dashboard, 10,000 clusters: {what}", now, bound)
        if now < bound if at_least else now > bound:
            self.progress(f"missed: {what}: {now:.3f}, bound {bound}")
            self.missed.append(f"{what}: {now:.3f}, bound {bound}")


def need_browser():
    if not shutil.which("chromium") or not (browser.JS / "node_modules/playwright-core").is_dir():
        raise SystemExit("bench needs chromium and tests/js/node_modules/playwright-core: make deps-test")
    if not (ROOT / "build/dashboard/index.html").exists():
        raise SystemExit("the dashboard was not built: npm or its registry was absent")


def view(chromium, f, page):
    return chromium.run(page, VIEW, url=f.d.url + "/", token=f.d.token(), count=f.count)


def descendants(pid):
    children = [int(one) for task in pathlib.Path(f"/proc/{pid}/task").iterdir() for one in (task / "children").read_text().split()]
    return children + [one for child in children for one in descendants(child)]


def first_views(chromium, f, figures):
    for pid in descendants(chromium.popen.pid):  # a browser that has just been started is still busy
        quiet(pid)
    views = []
    for i in range(VIEWS):
        views.append(view(chromium, f, f"view{i}"))
        chromium.run(None, "")
    figures.add("first view, ms, median", statistics.median(v["useful"] for v in views), VIEW_MS)
    figures.add("first view, ms, slowest", max(v["useful"] for v in views), VIEW_MS)
    figures.add("time until the page has read all clusters, ms, median", statistics.median(v["all"] for v in views))


def frames(chromium, figures, beside="", bounded=True):
    for what, act in ACTS.items():
        seen = chromium.run("page", FRAMES % act, screens=SCREENS, bound=FRAME_MS + CLOCK_MS)
        assert seen["gaps"] and seen["tasks"], "the browser has traced nothing"
        bound = FRAME_MS if bounded and what != ORDER else None
        figures.add(f"{what}{beside}: slowest of {len(seen['gaps']):,} frames, ms", max(seen["gaps"]), bound and bound + CLOCK_MS)
        figures.add(f"{what}{beside}: frames over {FRAME_MS} ms", len(seen["late"]))
        for one in seen["late"]:
            figures.progress(f"{what}{beside}: a frame of {one['ms']} ms; the page's thread worked for {one['worked']:.1f} ms of it")
        figures.add(f"{what}{beside}: median frame, ms", statistics.median(seen["gaps"]))
        figures.add(f"{what}{beside}: most processor time of a task, ms", seen["ofProcessor"], bound)
        figures.add(f"{what}{beside}: longest task, with its waits for a core, ms", seen["longest"])


def memory(chromium, f, figures, minutes):
    """100 changes a second; the heap after a forced collection, in equal steps of time."""
    changes, watch, samples = Changes(f), Stopwatch(), []
    step = min(SAMPLE_S, minutes * 60 / SAMPLES)
    chromium.run("page", COUNT)
    changes.start()
    while not changes.fault and (watch.seconds() < minutes * 60 or len(samples) < 3):
        time.sleep(step)
        samples.append(chromium.run("page", HEAP))
        figures.progress(f"{samples[-1]['heap'] / MIB:.2f} MiB, {samples[-1]['nodes']} nodes, {samples[-1]['arrived']:,} of {changes.made:,} changes")
    if not changes.fault:
        frames(chromium, figures, f", with {CHANGES} changes a second", bounded=False)
    changes.stop()
    seconds = watch.seconds()
    with contextlib.suppress(AssertionError):  # the figures say how many are missing
        harness.wait_until(lambda: shown_asleep(chromium) == len(changes.asleep) and
                           chromium.run("page", HEAP)["arrived"] >= changes.made * ARRIVED, timeout=10, interval=1, what="the last changes")
    third = len(samples) // 3
    first, last = (statistics.mean(s["heap"] for s in part) / MIB for part in (samples[:third], samples[-third:]))
    figures.add("changes in a second", changes.made / seconds, CHANGES * 0.95, at_least=True)
    figures.add("longest delay of a batch of changes, ms", changes.late * 1e3)
    figures.add("changes that reached the page, divided by all changes", chromium.run("page", HEAP)["arrived"] / changes.made, ARRIVED, at_least=True)
    figures.add("hibernated clusters that the page counts wrongly in the end", abs(shown_asleep(chromium) - len(changes.asleep)), 0)
    figures.add(f"heap, MiB, mean of the first {third} of {len(samples)} samples in {minutes:g} minutes", first)
    figures.add(f"heap, MiB, mean of the last {third}", last)
    figures.add("growth of the heap, MiB", last - first, GROWTH_MIB)
    figures.add("growth of the nodes of the document", statistics.mean(s["nodes"] for s in samples[-third:]) - statistics.mean(s["nodes"] for s in samples[:third]))
    figures.add("growth of the listeners", statistics.mean(s["listeners"] for s in samples[-third:]) - statistics.mean(s["listeners"] for s in samples[:third]))


def shown_asleep(chromium):
    """The number of hibernated clusters that the page counts."""
    chip = chromium.run("page", 'return page.locator(".chip", { hasText: /^Hibernated/ }).locator(".chip-count").allTextContents();')
    return int(chip[0].replace(",", "")) if chip else 0


def measure(figures, minutes):
    chromium = None
    with tempfile.TemporaryDirectory() as name:
        f = Fleet(name, CLUSTERS, polling=BY_HAND, of_a_project=OF_A_PROJECT, limits="{fresh_reads_per_minute: 0}")
        try:
            f.sim.post("settings", stale_seconds=0, care_seconds=0, durations={"hibernate": 1, "wake": 1})
            f.d.start()
            f.wait_for_all()
            quiet(f.pid)
            figures.progress("shootd knows all clusters")
            chromium = browser.Chromium(pathlib.Path(name), browser.WHOLE)
            first_views(chromium, f, figures)
            figures.progress(f"{VIEWS} first views")
            view(chromium, f, "page")
            frames(chromium, figures)
            figures.progress("frames while somebody scrolls and types")
            if minutes:
                memory(chromium, f, figures, minutes)
        finally:
            if chromium:
                chromium.stop()
            f.stop()


def report(figures, load):
    version = subprocess.run([browser.WHOLE, "--version"], capture_output=True, text=True, check=True).stdout
    section("The dashboard with 10,000 clusters",
            f"{re.search(r'Chromium [0-9.]+', version)[0]} runs without a graphics card, on the same cores as shootd and the simulator, with a window of 1440 by 900. "
            "The first view lasts from the navigation to the first painted frame that has rows and the totals of all clusters. "
            f"It is measured {VIEWS} times, each time in a new tab with an empty cache. "
            "The browser has been idle before. The time of a frame is the time between two calls of "
            "`requestAnimationFrame`. The tasks of the page's main thread are taken from the browser's trace; a task also waits for the cores, which "
            "other processes use. The heap is measured after a "
            f"forced garbage collection. The load of the machine before the start was {load:.2f}.")
    table(["what", "now", "bound"], figures.rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="how long clusters change (10); 0 leaves this part out")
    minutes = parser.parse_args().minutes
    need_browser()
    figures, load = Figures(), os.getloadavg()[0]
    if load > len(CORES) / 4:
        figures.progress(f"the load of this machine is {load:.2f}: times will be longer than those of the page")
    try:
        measure(figures, minutes)
    finally:
        report(figures, load)
    for line in figures.missed:
        print(f"missed: {line}", file=sys.stderr)
    return 1 if figures.missed else 0


if __name__ == "__main__":
    sys.exit(main())

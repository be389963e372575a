"""What a process holds, looked at once a second, and the straight line through it that single outliers do not turn."""

import collections
import pathlib
import re
import statistics
import threading
import time

import httpx

POINTS = 240  # of a fit: pairs of points grow with the square

Sample = collections.namedtuple("Sample", "at rss_kib descriptors threads")


def look(d):
    """What the kernel tells, but for the descriptors: nobody else may count those of a process that lets nobody look into it."""
    status = pathlib.Path(f"/proc/{d.process.pid}/status").read_text()
    rss, threads = (int(re.search(rf"^{name}:\s+(\d+)", status, re.M)[1]) for name in ("VmRSS", "Threads"))
    told = httpx.get(d.url + "/metrics", timeout=30).text
    return Sample(time.monotonic(), rss, int(float(re.search(r"^process_open_fds (\S+)", told, re.M)[1])), threads)


class Sampler(threading.Thread):
    """Looks until it is stopped or the process has ended."""

    def __init__(self, d, every):
        super().__init__(daemon=True)
        self.d, self.every, self.samples = d, every, []
        self.over = threading.Event()
        self.start()

    def run(self):
        while not self.over.wait(self.every):
            try:
                self.samples.append(look(self.d))
            except (OSError, TypeError, httpx.HTTPError):
                return  # ended: whoever talks to it finds out

    def stop(self):
        self.over.set()
        self.join()


def thinned(points):
    """At most POINTS of them: the medians of as many equal parts."""
    size = max(1, -(-len(points) // POINTS))
    parts = [points[i:i + size] for i in range(0, len(points), size)]
    return [(statistics.median(x for x, _ in part), statistics.median(y for _, y in part)) for part in parts]


def slope(points):
    """Theil and Sen: the median of the slopes of all pairs. Up to 29 % of the points may be anything."""
    few = thinned(points)
    rises = [(y2 - y1) / (x2 - x1) for i, (x1, y1) in enumerate(few) for x2, y2 in few[i + 1:] if x2 > x1]
    return statistics.median(rises)


Fit = collections.namedtuple("Fit", "first last lowest highest per_hour grown")


def fit(samples, member):
    """How a member went: its line in units per hour, and what the line rose by over all samples."""
    points = [(s.at, getattr(s, member)) for s in samples]
    values, rise = [y for _, y in points], slope(points)
    return Fit(values[0], values[-1], min(values), max(values), rise * 3600, rise * (points[-1][0] - points[0][0]))

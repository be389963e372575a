"""Samples of the resources of a process, and the straight line through them."""

import collections
import pathlib
import re
import statistics
import threading
import time

import httpx

import web

Sample = collections.namedtuple("Sample", "at rss_kib descriptors threads")
Line = collections.namedtuple("Line", "first last least most per_hour")


def look(d):
    """Values from the kernel, except the number of descriptors: other processes may not count those of shootd, so it comes from
    /metrics."""
    status = pathlib.Path(f"/proc/{d.process.pid}/status").read_text()
    rss, threads = (int(re.search(rf"^{name}:\s+(\d+)", status, re.M)[1]) for name in ("VmRSS", "Threads"))
    told = web.get(d.url + "/metrics", timeout=30).text
    return Sample(time.monotonic(), rss, int(float(re.search(r"^process_open_fds (\S+)", told, re.M)[1])), threads)


class Sampler(threading.Thread):
    """Takes a sample each second until it is stopped or the process has ended."""

    def __init__(self, d):
        super().__init__(daemon=True)
        self.d, self.samples, self.over = d, [], threading.Event()
        self.start()

    def run(self):
        while not self.over.wait(1):
            try:
                self.samples.append(look(self.d))
            except (OSError, TypeError, httpx.HTTPError):
                return  # other parts of the load report that the daemon has ended

    def stop(self):
        self.over.set()
        self.join()
        return self.samples


def line(samples, member):
    """The line through a member by least squares."""
    values = [getattr(s, member) for s in samples]
    slope = statistics.linear_regression([s.at for s in samples], values).slope
    return Line(values[0], values[-1], min(values), max(values), slope * 3600)

"""What a process holds, looked at again and again, and the straight line through it."""

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
    """What the kernel tells, but for the descriptors: nobody else may count those of a process that lets nobody look into it."""
    status = pathlib.Path(f"/proc/{d.process.pid}/status").read_text()
    rss, threads = (int(re.search(rf"^{name}:\s+(\d+)", status, re.M)[1]) for name in ("VmRSS", "Threads"))
    told = web.get(d.url + "/metrics", timeout=30).text
    return Sample(time.monotonic(), rss, int(float(re.search(r"^process_open_fds (\S+)", told, re.M)[1])), threads)


class Sampler(threading.Thread):
    """Looks once a second until it is stopped or the process has ended."""

    def __init__(self, d):
        super().__init__(daemon=True)
        self.d, self.samples, self.over = d, [], threading.Event()
        self.start()

    def run(self):
        while not self.over.wait(1):
            try:
                self.samples.append(look(self.d))
            except (OSError, TypeError, httpx.HTTPError):
                return  # whoever talks to it finds out

    def stop(self):
        self.over.set()
        self.join()
        return self.samples


def line(samples, member):
    """How a member went; the slope is that of the least squares."""
    values = [getattr(s, member) for s in samples]
    slope = statistics.linear_regression([s.at for s in samples], values).slope
    return Line(values[0], values[-1], min(values), max(values), slope * 3600)

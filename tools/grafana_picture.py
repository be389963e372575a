#!/usr/bin/python3
"""Draws contrib/grafana/shootd.json as it looks over some minutes of a busy day: docs/images/grafana.svg.

    tools/grafana_picture.py [SECONDS] [FILE]     180 seconds, docs/images/grafana.svg

The numbers are real: shootd beside cleura-sim, scraped by a real Prometheus with the rules of contrib/prometheus; each panel's
expressions are evaluated by its API. Grafana itself is no package of Debian 12 and none of npm's, so the lines are drawn here."""

import html
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/api"))

import harness  # noqa: E402
import web  # noqa: E402

DASHBOARD = ROOT / "contrib/grafana/shootd.json"
POINTS = 90
COLUMN, ROW_OF_GRID, GAP = 68, 26, 6  # pixels
COLOURS = ["#1f60c4", "#c4321f", "#37872d", "#a0600a", "#8f3bb8", "#0f7f86", "#c15c17", "#5a6a00", "#7c2855", "#444b5a"]
LEGEND_LINES = 4


# ---- a busy day, and the metrics that Prometheus scraped -------------------------------------------------------------------------

class Day:
    """shootd, cleura-sim, a receiver of webhooks and Prometheus in a temporary directory."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.sim = harness.Sim(directory, speed=60)
        self.receiver = harness.Receiver()
        self.shootd = harness.Shootd(self.directory / "shootd", self.sim.url)
        self.shootd.start().wait_upstream()
        self.prometheus = self.start_prometheus()
        self.over = threading.Event()

    def start_prometheus(self):
        port = harness.free_port()
        config = self.directory / "prometheus.yaml"
        config.write_text(f"global: {{scrape_interval: 1s, evaluation_interval: 1s}}\nrule_files: ['{ROOT}/contrib/prometheus/rules.yaml']\n"
                          f"scrape_configs: [{{job_name: shootd, static_configs: [{{targets: ['127.0.0.1:{self.shootd.port}']}}]}}]\n")
        process = subprocess.Popen(["prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.directory}/tsdb",
                                    f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"])
        self.url = f"http://127.0.0.1:{port}/api/v1/query_range"
        return process

    def reads(self):
        with web.Client(base_url=self.shootd.url, headers={"Authorization": "Bearer " + self.shootd.token()}) as http:
            while not self.over.wait(0.02):
                for path in ("/v1/clusters", "/v1/projects/team-a/clusters/shop-1", "/v1/operations", "/v1/events?limit=10"):
                    http.get(path)

    def events(self):
        steps = [("shop", {}), ("pay", {}), ("search", {}), ("lab", {"labels": {"team": "research"}})]
        d = self.shootd
        d.http.post("/v1/webhooks", json={"url": self.receiver.url})
        for i in range(1, 100):
            name, more = steps[i % len(steps)]
            d.http.post(d.clusters_path(), json={"name": f"{name}-{i}", **more})
            if i > 6:
                d.http.post(d.clusters_path(f"{steps[(i - 4) % len(steps)][0]}-{i - 4}") + "/actions/hibernate")
            if i % 5 == 0:
                d.http.delete(d.clusters_path(f"{steps[(i - 3) % len(steps)][0]}-{i - 3}"))
                self.sim.fault("get_shoot", "status", status=503, count=3)
            if i % 7 == 0:
                web.get(d.url + "/v1/clusters", headers={"Authorization": "Bearer shd_wrong"})
            if i < 4:
                d.http.get("/v1/operations/" + d.http.get("/v1/operations").json()["items"][0]["id"], params={"wait": 5})
            if self.over.wait(5):
                return

    def happen(self, seconds):
        threads = [threading.Thread(target=work) for work in (self.reads, self.events)]
        for t in threads:
            t.start()
        time.sleep(seconds)
        self.over.set()
        for t in threads:
            t.join()

    def stop(self):
        self.over.set()
        self.prometheus.terminate()
        self.prometheus.wait(30)
        self.shootd.stop()
        self.receiver.stop()
        self.sim.stop()

    def series(self, target, began, ended):
        """(legend, [(time, value)]) of each line that an expression returns. Raises the error that Prometheus reports."""
        expression = target["expr"].replace("$__rate_interval", "15s").replace("$job", "shootd").replace("$instance", ".*")
        answer = web.get(self.url, params={"query": expression, "start": began, "end": ended, "step": max(1, (ended - began) / POINTS)}).json()
        if answer["status"] != "success":
            raise ValueError(f"{expression}: {answer}")
        for line in answer["data"]["result"]:
            values = [(t, float(v)) for t, v in line["values"]]
            legend = re.sub(r"{{(\w+)}}", lambda m: line["metric"].get(m[1], ""), target["legendFormat"])
            yield legend, [(t, v) for t, v in values if math.isfinite(v)]


# ---- the drawing -------------------------------------------------------------------------------------------------------------

def text(x, y, words, **attributes):
    fields = "".join(f' {name.strip("_").replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f'<text x="{x:.0f}" y="{y:.0f}"{fields}>{html.escape(words)}</text>'


def in_unit(value, unit):
    if unit == "percentunit":
        return f"{value * 100:.3g} %"
    if unit == "s":
        return f"{value * 1000:.3g} ms" if value < 1 else f"{value:.3g} s"
    if unit == "bytes":
        return f"{value / 2**20:.3g} MiB"
    return f"{value:.3g}" + ("/s" if unit == "reqps" else "")


def ceiling(most):
    """The next larger number of 1, 2, 5, 10 and so on."""
    if most <= 0:
        return 1
    power = 10 ** math.floor(math.log10(most))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= most * 0.999)


def draw_panel(panel, lines, began, ended):
    grid = panel["gridPos"]
    x, y = grid["x"] * COLUMN + GAP, grid["y"] * ROW_OF_GRID + GAP
    width, height = grid["w"] * COLUMN - GAP, grid["h"] * ROW_OF_GRID - GAP
    if panel["type"] == "row":
        yield text(x, y + height - 4, panel["title"], class_="row")
        return
    unit = panel["fieldConfig"]["defaults"]["unit"]
    shown = [(legend, values) for legend, values in lines if values]
    legend_height = 13 * min(LEGEND_LINES, max(1, len(shown)))
    left, right, top, bottom = x + 62, x + width - 12, y + 30, y + height - legend_height - 26
    most = ceiling(max((v for _, values in shown for _, v in values), default=0))
    yield f'<rect class="panel" x="{x}" y="{y}" width="{width}" height="{height}" rx="3"/>'
    yield text(x + 10, y + 19, panel["title"], class_="title")
    for part in (0, 0.5, 1):
        level = bottom - part * (bottom - top)
        yield f'<path class="grid" d="M{left} {level:.0f}H{right}"/>'
        yield text(left - 6, level + 4, in_unit(part * most, unit), text_anchor="end")
    for part in (0, 0.5, 1):
        yield text(left + part * (right - left), bottom + 14, f"{part * (ended - began) / 60:.2g} min",
                   text_anchor=("start", "middle", "end")[int(part * 2)])
    for i, (legend, values) in enumerate(shown):
        colour = COLOURS[i % len(COLOURS)]
        points = " ".join(f"{left + (t - began) / (ended - began) * (right - left):.0f},{bottom - v / most * (bottom - top):.1f}" for t, v in values)
        yield f'<polyline points="{points}" stroke="{colour}"/>'
        if i < LEGEND_LINES:
            more = f"  and {len(shown) - LEGEND_LINES} more" if i == LEGEND_LINES - 1 and len(shown) > LEGEND_LINES else ""
            at = y + height - legend_height + 13 * i
            yield f'<rect x="{x + 12}" y="{at - 6}" width="12" height="3" fill="{colour}"/>'
            yield text(x + 30, at, f"{legend}: {in_unit(values[-1][1], unit)}{more}")
    if not shown:
        yield text((left + right) / 2, (top + bottom) / 2, "nothing happened", text_anchor="middle")


STYLE = ("text{font:11px sans-serif;fill:#4a4f57}.title{font-size:13px;font-weight:600;fill:#1c1f24}.row{font-size:15px;font-weight:600;fill:#1c1f24}"
         ".panel{fill:#fff;stroke:#d5d9e0}.grid{stroke:#e4e7ec}polyline{fill:none;stroke-width:1.5}")


def draw(dashboard, series, began, ended):
    """Draws the whole page; series(target) returns the lines of a target."""
    panels = dashboard["panels"]
    width = 24 * COLUMN + GAP
    height = max(p["gridPos"]["y"] + p["gridPos"]["h"] for p in panels) * ROW_OF_GRID + GAP
    yield f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
    yield f'<title>{html.escape(dashboard["title"])}</title><style>{STYLE}</style><rect width="{width}" height="{height}" fill="#f4f5f7"/>'
    for panel in panels:
        yield from draw_panel(panel, [line for target in panel.get("targets", []) for line in series(target)], began, ended)
    yield "</svg>"


def main(seconds=180, target=ROOT / "docs/images/grafana.svg"):
    dashboard = json.loads(DASHBOARD.read_text())
    with tempfile.TemporaryDirectory() as directory:
        day = Day(directory)
        try:
            began = time.time()
            day.happen(float(seconds))
            ended = time.time()
            picture = "\n".join(draw(dashboard, lambda t: day.series(t, began, ended), began, ended))
        finally:
            day.stop()
    pathlib.Path(target).write_text(picture + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""The look of the dashboard: pictures of its pages in both themes and two widths, compared with those in tests/api/pictures and docs/images.
docs/dashboard.md has the command that makes them again."""

import json
import os

import pytest

import browser
import harness
from browser import OTHER_PROJECT
from harness import ROOT, wait_until

PICTURES = ROOT / "tests/api/pictures"
# The browser and the fonts that drew the pictures. Others draw the same page differently.
DRAWN_BY = PICTURES / "drawn_by.json"
SIZE_MAX = 1_700_000
WRITE = os.environ.get("DASHBOARD_REFERENCES") == "write"

HEIGHTS = {390: 1200, 1440: 900}  # at most so much of a page
PATIENCE_MS = 20_000
LOOKS = [(theme, width) for width in HEIGHTS for theme in ("light", "dark")]
# Each page: its place, an element of it that is there last, and the element at which the picture begins.
PAGES = {
    "fleet": ("/", ".tbody .row >> text=web-0000"),
    "cluster": ("/clusters/team-a/broken", ".timeline .of-operation >> nth=1"),
    "creating": ("/clusters/team-a/lab", ".timeline .of-operation >> nth=0"),
    "ready": ("/clusters/team-a/shop", ".timeline .of-operation >> nth=1"),
    "pools": ("/clusters/team-a/shop", ".timeline .of-operation >> nth=1", "[aria-labelledby=pools-heading]"),
    "spec": ("/clusters/team-a/broken", ".timeline .of-operation >> nth=1", "[aria-labelledby=spec-heading]"),
    "operations": ("/operations", ".entry >> nth=4"),
    "events": ("/events?type=operation.*", ".entry >> nth=8"),
    "webhooks": ("/webhooks", ".card >> nth=1"),
    "webhook": ("/webhooks/{good}", ".entry >> nth=8"),
    "accounts": ("/accounts", "tbody tr >> nth=1"),
    "audit": ("/audit", "table.audit"),
}
IN_DOCS = ("fleet", "cluster", "operations")


def picture_of(page, theme, width):
    if page in IN_DOCS and (theme, width) == ("light", 1440):
        return ROOT / f"docs/images/dashboard-{page}.png"
    return PICTURES / f"{page}-{width}-{theme}.png"


def all_pictures():
    return [picture_of(page, theme, width) for page in ("login", *PAGES) for theme, width in LOOKS]


class World(browser.World):
    """Clusters and operations that are the same in each run, and two webhooks. Nothing happens any more once it is made."""

    def __init__(self, directory):
        super().__init__(directory, polling="{active: 100ms, idle: 300ms, discovery: 300ms}")
        self.receivers = {"good": harness.Receiver(), "gone": harness.Receiver(410)}
        self.fill()
        self.open("pages")
        self.log_in("pages")
        self.drawn_by = self.drawn("pages")

    def fill(self):
        self.sim.post("shoots", count=12, prefix="web", state="ready")
        self.sim.post("shoots", count=2, prefix="night", state="hibernated", project=OTHER_PROJECT)
        self.wait_total(14)
        self.hooks = {name: self.hook(name, one.url) for name, one in self.receivers.items()}
        self.ends("succeeded", self.d.create("shop", labels={"team": "web", "stage": "production"}, description="The shop of the web team", spec={
            "kubernetes_version": "1.33.6", "hibernation_schedules": [{"start": "00 18 * * 1-5", "end": "00 07 * * 1-5"}]}))
        self.ends("succeeded", self.d.create("broken"))
        self.sim.post("lifecycle", shoot="broken", operation="reconcile", outcome="failed", at_progress=40, codes=["ERR_INFRA_QUOTA_EXCEEDED"],
                      description="The quota of the project is used up")
        self.ends("failed", self.d.http.patch(self.d.clusters_path("broken"), json={"spec": {"allowed_cidrs": ["192.0.2.0/24"]}}).json())
        self.ends("succeeded", self.d.http.post(self.d.clusters_path("shop") + "/actions/reconcile").json())
        self.sim.post("lifecycle", shoot="lab", operation="create", outcome="hang", at_progress=43)
        lab = self.d.create("lab")["operation"]["id"]
        wait_until(lambda: self.d.operation(lab)["progress"] == 43, what="the operation that stays open")
        self.wait_calm()

    def hook(self, name, url):
        body = {"url": f"{url}/{name}", "event_types": ["operation.*"], "description": f"For the {name} receiver"}
        return self.d.http.post("/v1/webhooks", json=body).json()["id"]

    def ends(self, status, cluster):
        assert self.d.wait_operation(cluster["operation"]["id"])["status"] == status

    def summary(self):
        return self.d.http.get("/v1/summary").json()

    def wait_calm(self):
        """Waits until each cluster is in its last phase, and all is delivered: two events of each operation that has ended, one of the other."""
        phases = {"creating": 1, "failed": 1, "hibernated": 2, "ready": 13}
        wait_until(lambda: {k: n for k, n in self.summary()["by_phase"].items() if n} == phases, what="the last phases")
        wait_until(lambda: not any(one["status"]["settling"] for one in self.d.http.get("/v1/clusters", params={"fields": "summary"}).json()["items"]), what="calm")
        wait_until(lambda: [one["status"] for one in self.deliveries("good")] == ["delivered"] * 9, what="the deliveries")
        wait_until(lambda: self.d.http.get(f"/v1/webhooks/{self.hooks['gone']}").json()["status"]["state"] == "disabled", what="the other webhook")

    def deliveries(self, name):
        return self.d.http.get(f"/v1/webhooks/{self.hooks[name]}/deliveries").json()["items"]

    def open(self, page):
        """The page of the login; its tab has no session."""
        self.run(page, """
          await pictures.fixAnswers(page);
          await page.goto(args.url);
          await page.getByLabel("Token").waitFor();
        """)

    def look(self, page, theme, width):
        self.run(page, """
          await page.emulateMedia({ colorScheme: args.theme, reducedMotion: "reduce" });
          await page.setViewportSize({ width: args.width, height: 900 });
        """, theme=theme, width=width)

    def log_in(self, page):
        self.run(page, """
          await page.getByLabel("Token").fill(args.token);
          await page.keyboard.press("Enter");
          await page.getByText("Live", { exact: true }).waitFor();
        """)

    def visit(self, page, name):
        """Opens the page; of a list the first entries are open."""
        place, last, *_ = PAGES[name]
        self.run(page, """
          await page.evaluate((place) => { location.hash = place; }, args.place);
          await page.locator(args.last).first().waitFor();
          if (args.name === "fleet") await page.getByText("17 clusters", { exact: true }).waitFor();
          const opened = await page.evaluate(() => {
            const some = [...document.querySelectorAll(".entry details")].slice(0, 3);
            some.forEach((one) => { one.open = true; });
            return some.length;
          });
          if (opened) await page.locator(".entry-body").nth(opened - 1).waitFor();
        """, name=name, place=place.format(**self.hooks), last=last)

    def drawn(self, page):
        """The version of Chromium, and the fonts that it uses for text and for numbers."""
        return self.run(page, """
          const session = await context.newCDPSession(page);
          await session.send("DOM.enable");
          await session.send("CSS.enable");
          const { root } = await session.send("DOM.getDocument");
          const fonts = [];
          for (const selector of [".brand", ".chip-count"]) {
            const { nodeId } = await session.send("DOM.querySelector", { nodeId: root.nodeId, selector });
            fonts.push(...(await session.send("CSS.getPlatformFontsForNode", { nodeId })).fonts.map((font) => font.familyName));
          }
          await session.detach();
          const version = await page.evaluate(() => Number(/Chrome\\/(\\d+)/.exec(navigator.userAgent)[1]));
          return { chromium: version, fonts };
        """)

    def stop(self):
        super().stop()
        for one in self.receivers.values():
            one.stop()


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    w = World(tmp_path_factory.mktemp("pictures"))
    yield w
    w.stop()


def begin_of(name):
    """The selector of the element at which the pictures of this page begin, or None."""
    return PAGES[name][2] if len(PAGES.get(name, ())) > 2 else None


def compared(world, page, reference, width, tmp_path, **more):
    """None, or the difference of the shown page and the file. The fault names the files that show it."""
    actual, differs = tmp_path / f"{reference.stem}-actual.png", tmp_path / f"{reference.stem}-difference.png"
    found = world.run(page, "return pictures.compare(page, args.height, args);", height=HEIGHTS[width], reference=str(reference), actual=str(actual), differs=str(differs), **more)
    return found and f"{reference.relative_to(ROOT) if ROOT in reference.parents else reference}: {found}; {actual}, {differs}"


def write(world, page, path, width, begin=None):
    world.run(page, "pictures.write(args.path, await pictures.take(page, args.height, args.begin));", path=str(path), height=HEIGHTS[width], begin=begin)


@pytest.mark.parametrize("name", ["login", *PAGES])
def test_a_page_looks_like_its_pictures(world, tmp_path, name):
    page, begin, faults = "login" if name == "login" else "pages", begin_of(name), []
    if name == "login":
        world.open(page)
    else:
        world.visit(page, name)
    for theme, width in LOOKS:
        reference = picture_of(name, theme, width)
        world.look(page, theme, width)
        fault = compared(world, page, reference, width, tmp_path, patience=0 if WRITE else PATIENCE_MS, begin=begin)
        if fault and WRITE:
            write(world, page, reference, width, begin)
            assert not compared(world, page, reference, width, tmp_path, patience=PATIENCE_MS, begin=begin)
        elif fault:
            faults.append(fault)
    if WRITE:
        DRAWN_BY.write_text(json.dumps(world.drawn_by) + "\n")
    if faults and world.drawn_by != (there := json.loads(DRAWN_BY.read_text())):
        pytest.skip(f"drawn by {world.drawn_by}, the pictures by {there}: {len(faults)} differ")
    assert not faults, "\n".join(faults)


# Small changes of the style, each in one look, and each must be seen.
PLANTED = {
    "a colour": ("light", 1440, ".chip { background: #ebeff3; }"),
    "a colour of text": ("dark", 390, ".quiet { color: #808080; }"),
    "a hidden column": ("light", 1440, ".cell.expires { visibility: hidden; }"),
    "a place": ("dark", 390, ".chip-count { position: relative; left: 2px; }"),
    "a letter": ("light", 390, ".brand::after { content: 's'; }"),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_a_small_change_of_the_look_is_seen(world, tmp_path, planted):
    theme, width, style = PLANTED[planted]
    page, reference = "pages", tmp_path / "reference.png"
    world.visit(page, "fleet")
    world.look(page, theme, width)
    write(world, page, reference, width)
    for sheet in (style, ""):
        world.run(page, """
          await page.evaluate((style) => {
            const sheet = new CSSStyleSheet();
            sheet.replaceSync(style);
            document.adoptedStyleSheets = [sheet];
          }, args.sheet);
        """, sheet=sheet)
        fault = compared(world, page, reference, width, tmp_path, patience=0 if sheet else PATIENCE_MS)
        assert bool(fault) == bool(sheet), fault
    assert (tmp_path / "reference-actual.png").exists() and (tmp_path / "reference-difference.png").exists()


def test_there_are_all_pictures_and_they_are_small():
    there = sorted([*PICTURES.glob("*.png"), *(ROOT / "docs/images").glob("dashboard-*.png")])
    assert there == sorted(all_pictures())
    assert sum(path.stat().st_size for path in there) <= SIZE_MAX

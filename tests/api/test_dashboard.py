"""The dashboard in real Chromium, against shootd and cleura-sim: its content, use by keyboard only, a killed daemon, hostile names, both
themes, all widths. A report of the content security policy or a script error fails any run."""

import contextlib
import itertools
import os
import pathlib
import re
import subprocess

import pytest

import browser
import contract
import harness
from browser import OTHER_PROJECT
from harness import PROJECT_ID, ROOT, wait_until
from streams import Stream

HOSTILE = "<img src=x onerror=alert(1)>\u202e</script><script>alert(2)</script>" + "w" * 300
# The directory for pictures of the pages, see docs/dashboard.md.
PICTURES = os.environ.get("DASHBOARD_PICTURES")

LOGIN = """
  await page.goto(args.url);
  await page.getByLabel("Token").fill(args.token);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Clusters", exact: true }).waitFor();
"""


def accessible(world, page):
    """axe-core finds nothing in the page as it is now, in both themes."""
    if not browser.AXE.exists():
        return
    for theme in ("light", "dark"):
        found = world.chromium.run(page, "await page.emulateMedia({ colorScheme: args.theme }); return page.axe();", theme=theme)
        assert not found, f"{theme}\n" + "\n".join(found)


class World(browser.World):
    """Clusters in several states, a receiver of webhooks that takes them, and one that refuses them."""

    def __init__(self, directory):
        super().__init__(directory)
        self.receivers = {"good": harness.Receiver(), "bad": harness.Receiver(500)}
        self.receivers["bad"].answer = HOSTILE.encode()[:200]
        self.hooks = {name: self.hook(name, one.url) for name, one in self.receivers.items()}
        self.failures = itertools.count(1)
        self.fill()

    def hook(self, name, url):
        body = {"url": f"{url}/{name}", "event_types": ["operation.*"], "description": HOSTILE[:400]}
        made = self.d.http.post("/v1/webhooks", json=body)
        assert made.status_code == 201, made.text
        return made.json()["id"]

    def fill(self):
        """Adds clusters in several states, one with a hostile spec."""
        self.sim.post("shoots", count=12, prefix="web", state="ready")
        self.sim.post("shoots", count=2, prefix="night", state="hibernated", project=OTHER_PROJECT)
        created = self.d.create("shop", labels={"team": "web"}, description="The shop", spec={
            "kubernetes_version": "1.33.6", "hibernation_schedules": [{"start": "00 18 * * 1-5", "end": "00 07 * * 1-5"}],
            "maintenance": {"begin": "020000+0000", "end": "030000+0000"}})
        self.d.wait_operation(created["operation"]["id"])
        broken = self.d.create("broken")
        self.d.wait_operation(broken["operation"]["id"])
        self.let_fail()
        self.d.wait_phase("web-0011", "ready")

    def let_fail(self):
        """A change of the cluster `broken` to another value of its spec fails."""
        cidr = f"192.0.2.{next(self.failures)}/32"
        self.sim.post("lifecycle", shoot="broken", operation="reconcile", outcome="failed", at_progress=40, codes=["ERR_INFRA_QUOTA_EXCEEDED"],
                      description="The quota of the project is used up")
        self.d.http.patch(self.d.clusters_path("broken"), json={"spec": {"allowed_cidrs": [cidr]}})
        self.d.wait_phase("broken", "failed")

    def put_shoots(self, change):
        """Puts the clusters at Cleura into the state that `change` makes of them. This state does not say that one has failed."""
        state = self.sim.get("state")
        change(state["shoots"])
        self.sim.http.put("/_sim/state", json={"bootstrapped": state["bootstrapped"], "shoots": state["shoots"]}).raise_for_status()

    def let_fail_again(self):
        """After `put_shoots`."""
        self.d.wait_phase("broken", "ready")
        self.let_fail()

    @contextlib.contextmanager
    def changed_by_somebody_else(self, name, maximum):
        """Somebody else changes the size of the pool of a cluster, and takes the change back at the end."""
        def to(value):
            return lambda shoots: next(one for one in shoots if one["name"] == name)["spec"]["workers"][0].update(maximum=value)

        def drift():
            return self.d.cluster(name).json()["drift"]

        before = self.d.cluster(name).json()["observed"]["node_pools"][0]["maximum"]
        self.put_shoots(to(maximum))
        try:
            yield wait_until(drift, what="drift")
        finally:
            self.put_shoots(to(before))
            wait_until(lambda: not drift(), what="the drift to end")
            self.let_fail_again()

    def open(self, page, place="", token=None):
        """Logs in and opens that place."""
        self.run(page, LOGIN, token=token or self.d.token())
        if place:
            self.go(page, place)

    def stop(self):
        super().stop()
        for one in self.receivers.values():
            one.stop()


@pytest.fixture(scope="module")
def shared_world(tmp_path_factory):
    w = World(tmp_path_factory.mktemp("dashboard"))
    yield w
    w.stop()


@pytest.fixture
def world(shared_world):
    """Closes the pages of a test at its end: the browser allows six connections to the server, and each page holds some."""
    yield shared_world
    shared_world.chromium.run(None, "")


# All clusters are there. Until then the first of them are shown, in an order that still changes.
ALL_READ = 'await page.locator("main").getByText(/^([\\d,]+ of )?[\\d,]+ clusters?$/).waitFor();'

# The names of the shown rows, from the top.
NAMES = """
  return page.evaluate(() => [...document.querySelectorAll('.tbody [role=row]')]
    .sort((a, b) => a.ariaRowIndex - b.ariaRowIndex).map((row) => row.querySelector('a').textContent));
"""


def names(world, page):
    return world.chromium.run(page, NAMES)


def test_login_says_what_is_wrong_and_keeps_the_token_to_this_tab(world):
    said = world.run("login", """
      await page.goto(args.url);
      const said = [await page.title()];
      await page.getByRole("button", { name: "Log in" }).click();
      said.push(await page.getByRole("alert").textContent());
      await page.getByLabel("Token").fill("shd_wrong");
      await page.getByRole("button", { name: "Log in" }).click();
      await page.getByText("does not accept").waitFor();
      said.push(await page.evaluate(() => sessionStorage.length));
      return said;
    """)
    assert said[0] == "Log in · shootd" and "shd_" in said[1] and said[2] == 0
    world.open("login")
    kept = world.run("login", """
      await page.reload();
      await page.getByRole("heading", { name: "Clusters", exact: true }).waitFor();
      await page.getByText("Live", { exact: true }).waitFor();
      const other = await context.newPage();
      await other.goto(args.url);
      await other.getByLabel("Token").waitFor();
      await other.close();
      return { url: page.url(), cookies: await context.cookies(), stored: await page.evaluate(() => [Object.keys(localStorage), Object.keys(sessionStorage)]) };
    """)
    assert world.d.token() not in kept["url"] and kept["cookies"] == [] and kept["stored"] == [[], ["shootd.token"]]
    out = world.run("login", """
      await page.getByRole("button", { name: "Log out" }).click();
      await page.getByLabel("Token").waitFor();
      return page.evaluate(() => [sessionStorage.length, document.body.textContent.includes("web-0000")]);
    """)
    assert out == [0, False]


def counted(d):
    """The chips of health, version and expiry, by the API."""
    counts = d.http.get("/v1/summary").json()
    some = [*((health.capitalize(), n) for health, n in counts["by_health"].items() if n), *counts["by_version"].items()]
    return {f"{word}{n:,}" for word, n in (*some, ("Version expired", counts["expired"]), ("Expires in 30 days", counts["expiring_30d"]))}


def test_totals_filters_and_order_are_in_the_address(world):
    world.open("fleet")
    first = world.run("fleet", """
      await page.getByRole("button", { name: /^Failed/ }).waitFor();
      const chips = await page.locator(".chip").allTextContents();
      await page.getByRole("button", { name: "Trouble first" }).click();
      await page.locator('.tbody [aria-rowindex="2"]', { hasText: "broken" }).waitFor();
      return { chips, url: page.url() };
    """)
    assert set(first["chips"]) >= {"Failed1", "Hibernated2", *counted(world.d)} and first["url"].endswith("#/?sort=trouble")
    assert names(world, "fleet")[0] == "broken"
    found = world.run("fleet", """
      await page.getByLabel("Search").fill("TEAM=web");
      await page.locator(".tbody [role=row]").nth(1).waitFor({ state: "detached" });
      await page.getByRole("status").filter({ hasText: /^1 of \\d+ clusters/ }).waitFor({ state: "attached" });
      const searched = page.url();
      await page.getByLabel("Search").fill("");
      await page.getByRole("button", { name: /^Hibernated/ }).click();
      await page.locator(".tbody", { hasText: "night" }).waitFor();
      await page.reload();
      await page.locator("main").getByText(/^2 of \\d+ clusters/).waitFor();  // the first view has these rows, and counts none
      return { searched, url: page.url(), pressed: await page.getByRole("button", { name: /^Hibernated/ }).getAttribute("aria-pressed"),
        count: await page.getByRole("table").getAttribute("aria-rowcount") };
    """)
    assert "q=TEAM%3Dweb" in found["searched"] and "phase=hibernated" in found["url"]
    assert found["pressed"] == "true" and found["count"] == "3"
    assert names(world, "fleet") == ["night-0000", "night-0001"]
    none = world.run("fleet", """
      await page.getByLabel("Search").fill("nothing like this");
      await page.getByText("No cluster fits the filters").waitFor();
      await page.getByRole("button", { name: "Clear filters" }).last().click();
      await page.getByText("web-0000").waitFor();
      return page.getByText("No cluster fits").count();
    """)
    assert none == 0


def test_the_first_view_does_not_wait_for_all_clusters(world):
    """It has the totals of all clusters, and does not call the first clusters all of them. A read that was cut is repeated by itself, and so
    is the check of the token after a reload."""
    total = world.d.http.get("/v1/summary").json()["total"]
    first = world.run("first", """
      page.held = new Promise((resolve) => { page.release = resolve; });
      await page.route(/clusters\\?.*limit=1000/, async (route) => ((await page.held) ? route.continue() : route.abort()));
    """ + LOGIN + """
      await page.getByText(/^Reading the clusters: /).waitFor();
      const first = { said: await page.locator(".heading").innerText(), chips: await page.locator(".chip").allTextContents(), title: await page.title(),
        rows: await page.locator(".tbody [role=row]").count() };
      await page.getByLabel("Search").fill("nothing like this");
      await page.getByText("The clusters are being read.").waitFor();
      return { ...first, none: await page.getByText("No cluster fits").count() };
    """)
    assert first["said"].split("\n")[-1] == f"Reading the clusters: {total} of {total}" and first["title"] == "Clusters · shootd"
    assert {"Failed1", "Hibernated2"} <= set(first["chips"]) and first["rows"] >= 10 and first["none"] == 0
    world.run("first", """
      page.release(false);
      await page.getByLabel("Search").fill("");
      await page.getByRole("group", { name: "Problem" }).waitFor();
      await page.getByText(/^Only \\d+ clusters could be read$/).waitFor();
      page.held = true;
      await page.getByRole("group", { name: "Problem" }).waitFor({ state: "detached" });
      await page.getByText(args.count, { exact: true }).waitFor();
      const identity = /whoami/;
      await page.route(identity, (route) => route.abort());
      await page.reload();
      await page.getByText("The page continues by itself").waitFor();
      await page.unroute(identity);
      await page.getByText(args.count, { exact: true }).waitFor();
    """, count=f"{total} clusters")


def test_views_and_columns_by_choice_stay_in_the_browser(world):
    world.open("views", "/?phase=hibernated&sort=-name")
    out = world.run("views", """
      const cells = () => page.evaluate(() => [".thead .cell", ".tbody .row:first-child > .cell"].map((cells) => [...document.querySelectorAll(cells)].length));
      await page.locator(".tbody", { hasText: "night" }).waitFor();
      await page.getByText("Views", { exact: true }).click();
      await page.getByLabel("Name of the view").fill("<b>Sleepers");
      await page.keyboard.press("Enter");
      await page.getByRole("link", { name: "<b>Sleepers" }).waitFor();
      await page.keyboard.press("Escape");
      const focus = await page.evaluate(() => document.activeElement.textContent);
      await page.getByText("Columns", { exact: true }).click();
      await page.getByLabel("Expires").uncheck();
      await page.getByLabel("Message").uncheck();
      await page.getByRole("columnheader", { name: "Expires" }).waitFor({ state: "detached" });
      await page.evaluate(() => { location.hash = "/"; });
      await page.reload();
      await page.getByText("web-0000").waitFor();
      const fewer = await cells();
      await page.getByText("Views", { exact: true }).click();
      await page.getByRole("link", { name: "<b>Sleepers" }).click();
      await page.locator('.tbody [aria-rowindex="2"]', { hasText: "night-0001" }).waitFor();
      const url = page.url();
      if (!(await page.getByLabel("Name of the view").isVisible())) await page.getByText("Views", { exact: true }).click();
      await page.getByRole("button", { name: "Remove the view" }).click();
      await page.getByText("There is none yet").waitFor();
      await page.getByText("Columns", { exact: true }).click();
      await page.getByLabel("Expires").check();
      await page.getByLabel("Message").check();
      return { focus, fewer, url, kept: await page.evaluate(() => Object.keys(localStorage)) };
    """)
    assert out["focus"] == "Views" and out["fewer"] == [6, 6] and out["url"].endswith("#/?phase=hibernated&sort=-name")
    assert out["kept"] == [], "nothing is left of what was taken back"
    accessible(world, "views")  # the menu of columns is open


def test_the_columns_are_in_the_address(world):
    """A link and a view show the columns of whoever made them. They change nothing that this browser stores."""
    shown = 'return page.locator(".thead .cell").evaluateAll((heads) => heads.map((one) => one.className.replace("cell ", "")));'
    columns, every = "health,version,marks,changed", ["health", "version", "expires", "marks", "changed", "message"]
    world.open("maker")
    made = world.run("maker", ALL_READ + """
      await page.getByText("Columns", { exact: true }).click();
      await page.getByLabel("Expires").uncheck();
      await page.getByLabel("Message").uncheck();
      const url = page.url();
      await page.getByText("Views", { exact: true }).click();
      await page.getByLabel("Name of the view").fill("Narrow");
      await page.keyboard.press("Enter");
      const view = await page.getByRole("link", { name: "Narrow", exact: true }).getAttribute("href");
      await page.getByRole("button", { name: "Remove the view" }).click();
      await page.getByText("Columns", { exact: true }).click();
      await page.getByLabel("Expires").check();
      await page.getByLabel("Message").check();
      return { url, view, after: page.url(), kept: await page.evaluate(() => Object.keys(localStorage)) };
    """)
    hash = "#/?columns=" + columns.replace(",", "%2C")
    assert made["url"].endswith(hash) and made["view"] == hash and made["after"].endswith("#/") and made["kept"] == [], made
    for place, wanted in ((f"/?columns={columns}", columns.split(",")), ("/?columns=none", []), ("/?columns=marks,nonsense", ["marks"]),
                          ("/?columns=nonsense", every), ("/?columns=", every), ("/", every)):
        world.go("maker", place)
        wait_until(lambda: world.run("maker", shown) == ["name", "phase", *wanted], what=f"the columns of {place}")
    assert world.run("maker", "return page.evaluate(() => Object.keys(localStorage));") == []
    world.go("maker", f"/?columns={columns}&phase=ready")
    cleared = world.run("maker", """
      await page.getByRole("button", { name: "Clear filters" }).first().click();
      await page.getByRole("button", { name: "Clear filters" }).first().waitFor({ state: "detached" });
      return page.url();
    """)
    assert cleared.endswith(hash), "a filter goes, the columns stay"
    # A stored choice: a link shows its own columns and leaves the choice alone; a view keeps what is shown.
    kept = world.run("maker", """
      await page.getByText("Columns", { exact: true }).click();
      await page.getByRole("checkbox", { name: "Version" }).uncheck();
      const before = await page.evaluate(() => localStorage.getItem("shootd.columns"));
      await page.evaluate(() => { location.hash = "/?columns=marks"; });
      await page.getByRole("columnheader", { name: "Health" }).waitFor({ state: "detached" });
      const after = await page.evaluate(() => localStorage.getItem("shootd.columns"));
      await page.evaluate(() => { location.hash = "/"; });
      await page.getByRole("columnheader", { name: "Health" }).waitFor();
      await page.getByText("Views", { exact: true }).click();
      await page.getByLabel("Name of the view").fill("Kept");
      await page.keyboard.press("Enter");
      const view = await page.getByRole("link", { name: "Kept", exact: true }).getAttribute("href");
      await page.getByRole("button", { name: "Remove the view" }).click();
      return { before, after, view, url: page.url() };
    """)
    assert kept["before"] == kept["after"] != None and kept["view"] == "#/?columns=health%2Cmarks%2Cchanged" and kept["url"].endswith("#/"), kept  # noqa: E711
    world.run("maker", "await page.evaluate(() => localStorage.clear());")


def test_a_create_is_watched_live_through_a_killed_daemon(world):
    d, sim = world.d, world.sim
    world.open("live", "/clusters/team-a/watched")
    world.run("live", 'await page.getByText("There is no such cluster").waitFor();')
    d.wait_phase("shop", "ready")
    world.run("live", """
      await page.evaluate(() => {
        window.phases = [];
        new MutationObserver(() => {
          const shown = document.querySelector("#state-heading")?.textContent;
          if (shown && shown !== window.phases.at(-1)) window.phases.push(shown);
        }).observe(document.body, { childList: true, characterData: true, subtree: true });
      });
    """)
    sim.fault("create_shoot", "delay", delay_ms=2_000)  # meanwhile the change is accepted, and has not begun at Cleura
    sim.post("clock", speed=150)  # a create takes 5 seconds
    try:
        d.create("watched")
        seen = world.run("live", """
          await page.getByRole("heading", { name: "Creating", exact: true }).waitFor();
          await page.getByRole("heading", { name: "Operation under way" }).waitFor();
          await page.locator("progress").waitFor();
          return page.locator(".steps").textContent();
        """)
        assert "Create the cluster" in seen and "Wait until it is ready" in seen
        d.kill()
        away = world.run("live", """
          await page.getByText(/^Server away for/).waitFor();
          await page.getByText(/The server has not answered for \\d+:\\d\\d/).waitFor();
          return page.getByRole("heading", { name: "watched" }).count();
        """)
        assert away == 1, "what was there stays"
        accessible(world, "live")
        d.start()
        world.run("live", """
          await page.getByText("Live", { exact: true }).waitFor();
          await page.getByRole("heading", { name: "Ready", exact: true }).waitFor();
          await page.getByText("The server has not answered").waitFor({ state: "detached" });
          await page.locator(".timeline").getByText("Created", { exact: true }).waitFor();
          await page.locator(".timeline .of-operation").getByText("succeeded").waitFor();
        """)
        assert world.run("live", "return page.evaluate(() => window.phases);") == ["Pending", "Creating", "Ready"]
    finally:
        sim.post("clock", speed=720)
    world.run("live", """
      await page.getByRole("link", { name: "Clusters" }).first().click();
      await page.locator(".tbody", { hasText: "watched" }).waitFor();
    """)
    deleted = d.http.delete(d.clusters_path("watched"))
    d.wait_operation(deleted.json()["operation"]["id"])
    world.run("live", 'await page.locator(".tbody", { hasText: "watched" }).waitFor({ state: "detached" });')


def test_nothing_that_happened_while_the_stream_was_cut_is_missed(world):
    d, sim = world.d, world.sim
    world.open("gap")
    world.run("gap", 'await page.getByText("Live", { exact: true }).waitFor(); await page.getByText("web-0000").waitFor();')
    d.kill()
    world.run("gap", "await page.getByText(/^Server away for/).waitFor();")
    sim.post("shoots", count=3, prefix="gap", state="ready")
    d.start()
    world.run("gap", 'await page.locator(".tbody", { hasText: "gap-0002" }).waitFor();')
    for i in range(3):
        sim.http.delete(f"/_sim/shoots/gap-000{i}")
    wait_until(lambda: d.cluster("gap-0002").status_code == 404, what="them to be gone")
    world.run("gap", 'await page.locator(".tbody", { hasText: "gap-" }).waitFor({ state: "detached" });')


def test_a_paused_page_stands_still_and_misses_nothing(world):
    d, sim = world.d, world.sim
    world.open("pause")
    world.run("pause", ALL_READ + """
      await page.getByText("Live", { exact: true }).waitFor();
      await page.getByText("web-0000").waitFor();
      await page.getByRole("button", { name: "Pause" }).click();
      await page.getByText("Paused", { exact: true }).waitFor();
    """)
    sim.post("shoots", count=1, prefix="new", state="ready")
    d.wait_phase("new-0000", "ready")
    accessible(world, "pause")
    assert "new-0000" not in names(world, "pause")
    world.run("pause", """
      await page.getByRole("button", { name: "Pause" }).click();
      await page.locator(".tbody", { hasText: "new-0000" }).waitFor();
    """)
    sim.http.delete("/_sim/shoots/new-0000")
    wait_until(lambda: d.cluster("new-0000").status_code == 404, what="it to be gone")
    world.run("pause", 'await page.locator(".tbody", { hasText: "new-0000" }).waitFor({ state: "detached" });')


def test_an_issue_says_who_has_to_act(world):
    world.run("who", """
      await page.route(/clusters\\/broken\\/issues/, async (route) => {
        const response = await route.fetch(), all = await response.json(), [one] = all.items;
        all.items = ["user", "operator", "cleura", "a new one"].map((responsible, i) => ({ ...one, responsible, subject: String(i) }));
        await route.fulfill({ response, json: all });
      });
    """)
    world.open("who", "/clusters/team-a/broken")
    told = world.run("who", """
      await page.locator(".issue .action").nth(3).waitFor();
      return page.locator(".issue .action b").allInnerTexts();
    """)
    assert told == ["To do:", "For the operator of shootd:", "Cleura acts:", "a new one:"]


def test_the_cluster_page_tells_all(world):
    d = world.d
    world.open("cluster", "/clusters/team-a/shop")
    text = world.run("cluster", """
      await page.getByRole("heading", { name: "Ready", exact: true }).waitFor();
      await page.getByText("Created", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Look up at Cleura" }).click();
      await page.getByText("Check by Cleura").waitFor();
      return page.locator("main").innerText();
    """)
    for piece in ("team=web", "The shop", "The cluster works.", "b.2c4gb", "Daily 0", "02:00 to 03:00 UTC", "Mon, Tue, Wed, Thu, Fri at 18:00 UTC", "1.33.7", "Recommended",
                  "kubernetes_version", "Last operation", "Create"):
        assert piece in text, (piece, text)
    world.run("cluster", 'await page.evaluate(() => { location.hash = "/clusters/team-a/broken"; });')
    text = world.run("cluster", """
      await page.getByRole("heading", { name: "Failed", exact: true }).waitFor();
      await page.getByText("To do:").first().waitFor();
      return page.locator("main").innerText();
    """)
    for piece in ("Cleura reports a failure and does not try again", "To do:", "critical", "ERR_INFRA_QUOTA_EXCEEDED", "failed"):
        assert piece in text, (piece, text)
    world.run("cluster", """
      await page.getByRole("link", { name: "All operations of this cluster" }).click();
      await page.locator(".entry", { hasText: "broken" }).first().waitFor();
      await page.locator('nav [aria-current="page"]', { hasText: "Operations" }).waitFor();
      if (!page.url().endsWith("#/operations?project=team-a&cluster=broken")) throw new Error(page.url());
    """)
    week = world.run("cluster", """
      await page.evaluate(() => { location.hash = "/clusters/team-a/shop"; });
      await page.getByRole("img", { name: /^The week in \\S+ and UTC/ }).waitFor();
      return page.evaluate(() => [".week-maintenance", ".week-sleep"].map((bars) => [...document.querySelectorAll(bars)].map((bar) => Number(bar.getAttribute("width")))));
    """)
    # An hour in each night. From 18:00 to 07:00 UTC on four weekdays, and from Friday to Monday: midnight divides each of them.
    assert week[0] == [12] * 7 and len(week[1]) == 4 * 2 + 4 and sum(week[1]) == (4 * 13 + 61) * 12
    path = pathlib.Path(world.directory) / "saved.yaml"
    shown = world.run("cluster", """
      await page.evaluate(() => { location.hash = "/clusters/team-a/shop"; });
      await page.getByRole("heading", { name: "Ready", exact: true }).waitFor();
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download", exact: true }).click()]);
      await download.saveAs(args.path);
      await page.getByRole("status").filter({ hasText: "Saved by the browser" }).waitFor({ state: "attached" });
      return [download.suggestedFilename(), await page.evaluate(() => document.documentElement.outerHTML.includes("kind: Config"))];
    """, path=str(path))
    assert shown == ["shop.kubeconfig.yaml", False] and "kind: Config" in path.read_text(), "it is nowhere in the document"
    exact = world.run("cluster", """
      const time = page.locator("main time[tabindex]").first();
      await time.focus();
      await page.getByRole("tooltip").waitFor();
      const text = await page.getByRole("tooltip").textContent();
      await page.keyboard.press("Escape");
      await page.getByRole("tooltip").waitFor({ state: "hidden" });
      return text;
    """)
    assert " UTC" in exact and ("CET" in exact or "GMT+" in exact), exact


def test_a_change_by_somebody_else_is_marked(world):
    """In the counts, in the table, beside the spec and in the list of pools."""
    d = world.d
    d.wait_operation(d.create("drifter", spec={"node_pools": [{"name": "default", "maximum": 5}]})["operation"]["id"])
    world.open("drift")
    world.run("drift", ALL_READ)
    with world.changed_by_somebody_else("drifter", 9) as [one]:
        rows = world.run("drift", """
          await page.getByRole("button", { name: /^Drifted ?1$/ }).click();
          await page.locator("main").getByText(/^1 of \\d+ clusters/).waitFor();
          return page.locator(".tbody [role=row]", { has: page.locator(".tag.drifted") }).getByRole("link").allTextContents();
        """)
        assert rows == ["drifter"]
        marked = world.run("drift", """
          await page.getByRole("link", { name: "drifter", exact: true }).click();
          await page.getByText("1 member differs from the spec.").waitFor();
          await page.getByRole("heading", { name: "Node pools" }).waitFor();
          return page.locator("tr.differs").evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
        """)
        assert one == {"path": "node_pools.default.maximum", "wanted": 5, "found": 9}
        assert len(marked) == 2 and [f"{one['path']}Differs", "5", "9"] in marked and any(row[0] == "defaultDiffers" and row[2].endswith(" to 9") for row in marked), marked
        accessible(world, "drift")
    world.run("drift", """
      await page.reload();  // the end of a drift is no event, so an open page shows it at its next read
      await page.getByText("The cluster matches its spec.").waitFor();
      await page.locator("tr.differs").first().waitFor({ state: "detached" });
    """)
    d.wait_operation(d.http.delete(d.clusters_path("drifter")).json()["operation"]["id"])


def test_a_kubeconfig_without_secrets_and_one_in_the_clipboard(world):
    """Neither of them is stored."""
    path = pathlib.Path(world.directory) / "exec.yaml"
    world.open("kubeconfig", "/clusters/team-a/shop")
    name = world.run("kubeconfig", """
      await page.getByRole("heading", { name: "Ready", exact: true }).waitFor();
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download without secrets" }).click()]);
      await download.saveAs(args.path);
      return download.suggestedFilename();
    """, path=str(path))
    text = path.read_text()
    assert name == "shop.exec.kubeconfig.yaml" and "kind: Config" in text and "command: curl" in text
    assert not re.search(r"client-key|client-certificate|PRIVATE|\btoken:|password", text) and world.d.token() not in text
    copied = world.run("kubeconfig", """
      await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: new URL(args.url).origin });
      await page.bringToFront();
      await page.getByRole("button", { name: "Copy", exact: true }).click();
      await page.getByText("Copied.", { exact: true }).first().waitFor();
      const text = await page.evaluate(async () => {
        const text = await navigator.clipboard.readText();
        await navigator.clipboard.writeText("");
        return text;
      });
      await context.clearPermissions();
      return { text, page: await page.evaluate(() => document.documentElement.outerHTML),
        stored: await page.evaluate(() => JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)])) };
    """)
    assert "kind: Config" in copied["text"] and "client-key-data" in copied["text"]
    key = re.search(r"client-key-data: *(\S+)", copied["text"])[1]
    for place in ("page", "stored"):
        assert "kind: Config" not in copied[place] and "client-key" not in copied[place] and key not in copied[place], place
    assert world.d.token() in copied["stored"], "the session is there"


def test_da34_over_plain_http_a_kubeconfig_is_shown_for_a_minute(world):
    """The browser gives the clipboard to secure contexts only. The text is selected, and leaves the document by itself."""
    shown = world.chromium.run("plain", "await page.clock.install();" + LOGIN + """
      await page.evaluate(() => { location.hash = "/clusters/team-a/shop"; });
      await page.getByRole("button", { name: "Copy" }).click();
      const field = page.getByLabel(/copy the text/);
      await field.waitFor();
      return field.evaluate((one) => [isSecureContext, one.value.slice(one.selectionStart, one.selectionEnd).includes("kind: Config")]);
    """, url=world.d.url.replace("127.0.0.1", "shootd.test") + "/", token=world.d.token())
    accessible(world, "plain")
    left = world.chromium.run("plain", """
      await page.clock.fastForward(60_000);
      await page.getByLabel(/copy the text/).waitFor({ state: "detached" });
      return [await page.evaluate(() => document.documentElement.outerHTML.includes("kind: Config")),
        await page.evaluate(() => JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)]).includes("kind: Config"))];
    """)
    assert shown == [False, True] and left == [False, False]


def test_with_the_keyboard_only(world):
    """From the login to a cluster and back; the focus is always visible and never lost."""
    world.run("keys", """
      await page.goto(args.url);
      await page.getByLabel("Token").waitFor();
      await page.keyboard.type(args.token);
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Clusters", exact: true }).waitFor();
      await page.getByText("web-0000").waitFor();
    """)
    reached = world.run("keys", """
      const reached = [];
      for (let i = 0; i < 80; i++) {
        await page.keyboard.press("Tab");
        const at = await page.evaluate(() => {
          const one = document.activeElement, box = one.getBoundingClientRect(), style = getComputedStyle(one);
          return { text: one.textContent.slice(0, 20), tag: one.tagName, body: one === document.body, outline: style.outlineStyle,
            seen: box.bottom > 0 && box.top < innerHeight && box.height >= 16, row: Boolean(one.closest(".tbody")) };
        });
        reached.push(at);
        if (at.text === "web-0005") break;
      }
      return reached;
    """)
    assert reached[0]["text"] == "Skip to the content" and reached[-1]["text"] == "web-0005", [r["text"] for r in reached]
    assert all(r["outline"] != "none" and r["seen"] and not r["body"] for r in reached), [r for r in reached if r["outline"] == "none" or not r["seen"]]
    world.run("keys", """
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "web-0005" }).waitFor();
    """)
    at = world.run("keys", """
      const deadline = Date.now() + 5000;
      let at;
      do at = await page.evaluate(() => document.activeElement.textContent); while (at !== "web-0005" && Date.now() < deadline);
      return at;
    """)
    assert at == "web-0005", "a reader begins at the heading"
    world.run("keys", """
      await page.keyboard.press("Shift+Tab");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Clusters", exact: true }).waitFor();
    """)


def test_the_order_stands_still_under_the_pointer_and_the_focus(world):
    d, sim = world.d, world.sim
    world.open("still", "/?sort=trouble")
    world.run("still", ALL_READ + """
      await page.locator('.tbody [aria-rowindex="2"]', { hasText: "broken" }).waitFor();
      await page.getByRole("link", { name: "web-0011" }).waitFor({ state: "attached" });  // beyond the screen
      await page.getByRole("link", { name: "web-0003", exact: true }).focus();
    """)
    before = names(world, "still")
    sim.post("shoots", count=1, prefix="aaa", state="ready")
    d.wait_phase("aaa-0000", "ready")
    world.run("still", 'await page.getByRole("button", { name: "Show the new order" }).waitFor();')
    assert names(world, "still") == before
    sim.http.delete("/_sim/shoots/aaa-0000")
    sim.http.delete("/_sim/shoots/web-0003")
    wait_until(lambda: d.cluster("web-0003").status_code == 404, what="it to be gone")
    gone = world.run("still", """
      await page.locator(".row.gone", { hasText: "web-0003" }).waitFor();
      return page.evaluate(() => document.activeElement.textContent);
    """)
    assert gone == "web-0003" and names(world, "still") == before, "the focus stays on what is gone until it leaves"
    accessible(world, "still")
    world.run("still", """
      await page.getByLabel("Search").focus();
      await page.locator(".tbody", { hasText: "web-0003" }).waitFor({ state: "detached" });
    """)
    sim.post("shoots", count=12, prefix="web", state="ready")
    d.wait_phase("web-0003", "ready")


# Types in one task, so that no other one is between the keys; `click` is clicked and `place` visited in the same task.
TYPE_AT_ONCE = """
  await page.evaluate(({ texts, click, place }) => {
    const field = document.querySelector("input[type=search]");
    for (const text of texts) {
      field.value = text;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
    if (click) [...document.querySelectorAll("button")].find((one) => one.textContent === click).click();
    if (place) location.hash = place;
  }, args);
"""


def test_a_search_loses_no_key_and_holds_nobody_back(world):
    """The rows follow the keys in another task. Nothing else that the user does meanwhile is lost, nor are the keys."""
    world.open("search")

    def type_at_once(then, *texts, click=None, place=None):
        return world.run("search", TYPE_AT_ONCE + then + """
          await page.getByText(/^2 of \\d+ clusters/).first().waitFor();
          return { field: await page.getByLabel("Search").inputValue(), at: await page.evaluate(() => location.hash) };
        """, texts=texts, click=click, place=place)

    world.run("search", ALL_READ)
    assert type_at_once("", "n", "ni", "night") == {"field": "night", "at": "#/?q=night"}
    assert type_at_once("", "nigh", click="Trouble first") == {"field": "nigh", "at": "#/?q=nigh&sort=trouble"}
    left = type_at_once("""
      await page.getByRole("heading", { name: "Events", exact: true }).waitFor();
      await page.goBack();
    """, "nothing", place="#/events")
    assert left == {"field": "nigh", "at": "#/?q=nigh&sort=trouble"}, "the user has left before the search began"


def test_a_long_table_is_virtual_and_keeps_the_focused_row(world):
    d, sim = world.d, world.sim
    sim.post("shoots", count=120, prefix="many", state="ready", project=OTHER_PROJECT)
    try:
        wait_until(lambda: d.http.get("/v1/summary").json()["total"] >= 134, what="all of them")
        world.open("many", "/?q=many")
        seen = world.run("many", """
          await page.locator("main").getByText("120 of").waitFor();
          await page.getByRole("link", { name: "many-0002" }).focus();
          await page.evaluate(() => { document.querySelector(".table").scrollTop = 1e6; });
          await page.getByRole("link", { name: "many-0119" }).waitFor();
          await page.getByRole("link", { name: "many-0100" }).waitFor({ state: "attached" });  // beyond the screen
          return page.evaluate(() => ({ rows: document.querySelectorAll(".tbody [role=row]").length, at: document.activeElement.textContent,
            count: document.querySelector("[role=table]").ariaRowCount, last: [...document.querySelectorAll(".tbody [role=row]")].at(-1).ariaRowIndex }));
        """)
        assert seen["at"] == "many-0002" and seen["count"] == "121" and seen["last"] == "121" and seen["rows"] < 60
        jump = world.run("many", """
          const box = await page.evaluate(() => {
            const table = document.querySelector(".table"), body = document.querySelector(".tbody");
            window.counts = [];
            new MutationObserver(() => window.counts.push(body.children.length)).observe(body, { childList: true });
            table.scrollTop = body.firstChild.offsetHeight * 60;
            return { height: table.clientHeight, row: body.firstChild.offsetHeight };
          });
          await page.waitForFunction(() => window.counts.at(-1) > window.counts[0]);
          return { ...box, counts: await page.evaluate(() => window.counts) };
        """)
        on_screen = jump["height"] / jump["row"]
        assert on_screen <= jump["counts"][0] <= on_screen + 3, "at first the rows on the screen and the one with the focus"
        assert jump["counts"][-1] == jump["counts"][0] + 16, jump
    finally:
        for i in range(120):
            sim.http.delete(f"/_sim/shoots/many-{i:04}")
        wait_until(lambda: d.http.get("/v1/summary").json()["total"] < 30, what="them to be gone")


def test_da31_hostile_texts_are_text(world):
    """Markup, marks that turn the text direction, and long words in texts of users and of Cleura. Cleura's message has 64 KB; shootd keeps its
    beginning."""
    d, sim = world.d, world.sim
    world.put_shoots(lambda shoots: shoots.append({"name": "evil", "region": "Sto2", "project": PROJECT_ID, "state": "ready", "spec": {
        "floating_pool_name": HOSTILE[:200], "allowed_cidrs": [HOSTILE[:200]] * 50}}))
    d.wait_phase("evil", "ready")
    sim.post("lifecycle", shoot="shop", operation="reconcile", outcome="error_heals", at_progress=40, description=HOSTILE + "w" * 65536, heal_after_seconds=72000,
             codes=["ERR_<b>bold</b>"])
    assert d.http.patch(d.clusters_path("shop"), json={"description": HOSTILE * 2, "spec": {"allowed_cidrs": ["192.0.2.0/24"]}}).status_code == 202
    wait_until(lambda: "<img" in (d.cluster("shop").json()["status"]["message"] or ""), what="the hostile message")
    try:
        world.open("evil", "/?q=shop")
        for place, where in (("/?q=shop", ".cell.message"), ("/clusters/team-a/shop", "main"), ("/clusters/team-a/evil", "main")):
            world.run("evil", """
              await page.evaluate((place) => { location.hash = place; }, args.place);
              await page.getByRole("heading", { name: args.heading, exact: true }).waitFor();
            """, place=place, heading="Clusters" if where != "main" else place.rsplit("/", 1)[1])
            for width in (320, 1440):
                found = world.run("evil", """
                  await page.setViewportSize({ width: args.width, height: 900 });
                  await page.locator(args.where, { hasText: "<img src=x" }).first().waitFor({ state: "attached" });
                  return page.evaluate(() => ({ images: document.images.length, scripts: document.scripts.length, wide: document.documentElement.scrollWidth - innerWidth,
                    turned: /[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.documentElement.textContent + document.title),
                    told: document.body.textContent.includes("\\\\u202e") }));
                """, where=where, width=width)
                # shootd replaces such a mark by a blank in a message of Gardener; in a description the page shows it as an escape.
                assert found == {"images": 0, "scripts": 1, "wide": 0, "turned": False, "told": where == "main"}, (place, width)
    finally:
        sim.http.delete("/_sim/shoots/evil")
        sim.post("clock", advance_seconds=72000)
        d.wait_phase("shop", "ready")
        world.let_fail_again()
    odd = world.run("evil", """
      await page.evaluate((place) => { location.hash = place; }, "/clusters/" + encodeURIComponent("<b>x") + "/%E2%80%AEevil%");
      await page.getByText("There is no such cluster").waitFor();
      return page.evaluate(() => document.querySelectorAll("main b").length);
    """)
    assert odd == 0


PLACES = {"fleet": "/", "trouble": "/?sort=trouble&phase=failed", "nothing": "/?q=nothing", "ready": "/clusters/team-a/shop", "failed": "/clusters/team-a/broken",
          "gone": "/clusters/team-a/none", "unknown": "/no/such/page", "operations": "/operations", "events": "/events?type=operation.*",
          "webhooks": "/webhooks", "webhook": "/webhooks/{bad}", "accounts": "/accounts", "audit": "/audit?action=createCluster,createWebhook"}
READY = {"fleet": "web-0000", "trouble": "broken", "nothing": "No cluster fits", "ready": "The cluster works", "failed": "css=.issue .action", "gone": "no such cluster",
         "unknown": "no such page", "operations": "css=.entry >> nth=2", "events": "css=.entry >> nth=2", "webhooks": "css=.card >> nth=1",
         "webhook": "css=.entry", "accounts": "logged in", "audit": "css=table.audit"}


# States of a page that a click or the focus shows.
OPEN = {"fleet": 'await page.getByText("Views", { exact: true }).click(); await page.getByLabel("Name of the view").waitFor();',
        "ready": 'await page.locator("main time[tabindex]").first().focus(); await page.getByRole("tooltip").waitFor();'}


def visit(world, page, name, theme, width):
    """The page when it is complete; of a list the first entries are open."""
    world.run(page, """
      await page.emulateMedia({ colorScheme: args.theme });
      await page.setViewportSize({ width: args.width, height: 900 });
      await page.evaluate((place) => { location.hash = place; }, args.place);
      await (args.ready.startsWith("css=") ? page.locator(args.ready) : page.getByText(args.ready)).first().waitFor();
      const opened = await page.evaluate(() => {
        const some = [...document.querySelectorAll(".entry details")].slice(0, 3);
        some.forEach((one) => { one.open = true; });
        return some.length;
      });
      if (opened) await page.locator(".entry-body").nth(opened - 1).waitFor();
    """, theme=theme, width=width, place=PLACES[name].format(**world.hooks), ready=READY[name])


# A control is what the Tab key can reach. `next` goes on by one, and says which control has the focus and what a click on it would hit.
CONTROLS = """
  await page.evaluate(() => {
    const selector = "a[href], button, select, input, textarea, summary, [tabindex='0']";
    const isShown = (one) => one.checkVisibility({ visibilityProperty: true }) && one.getClientRects().length > 0;
    window.controls = () => [...document.querySelectorAll(selector)].filter(isShown);
    window.told = (one) => one.outerHTML.slice(0, 100);
    window.reached = [];
    window.next = () => {
      const one = document.activeElement;
      if (one === document.body || window.reached.includes(one)) return null;
      window.reached.push(one);
      const box = one.getClientRects()[0];
      const left = Math.max(box.left, 0), right = Math.min(box.right, innerWidth), top = Math.max(box.top, 0), bottom = Math.min(box.bottom, innerHeight);
      const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
      return { isHit: hit !== null && one.contains(hit), isSeen: right > left && bottom > top, outline: getComputedStyle(one).outlineStyle, told: window.told(one) };
    };
    // The way begins at the top of the page, wherever the focus was.
    const start = document.createElement("span");
    start.tabIndex = -1;
    document.body.prepend(start);
    start.focus();
    start.remove();
  });
  const faults = [];
  for (;;) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => window.next());
    if (!at) break;
    if (!at.isHit || !at.isSeen || at.outline === "none") faults.push(at);
  }
  const missed = await page.evaluate(() => window.controls().filter((one) => !window.reached.includes(one)).map(window.told));
  return { faults, missed, count: await page.evaluate(() => window.reached.length) };
"""


def test_da19_the_keyboard_reaches_every_control_of_every_page(world):
    """Each of them once, visible and not covered."""
    world.open("tab")
    for name in PLACES:
        visit(world, "tab", name, "light", 1440)
        world.run("tab", "await page.setViewportSize({ width: 1440, height: 1600 });")  # all rows of the table are in the document
        found = world.run("tab", CONTROLS)
        assert found["faults"] == found["missed"] == [] and found["count"] > 10, (name, found)


def test_what_a_click_opens_is_opened_by_keys(world):
    world.open("open", "/")
    opened = world.run("open", """
      await page.getByText("web-0000").waitFor();
      const opened = [];
      for (const [menu, inside] of [["Views", page.getByLabel("Name of the view")], ["Columns", page.getByLabel("Expires")]]) {
        await page.locator("summary", { hasText: menu }).focus();
        await page.keyboard.press("Enter");
        await inside.waitFor();
        await page.keyboard.press("Escape");
        await inside.waitFor({ state: "hidden" });
        opened.push(await page.evaluate(() => document.activeElement.textContent));
      }
      await page.evaluate(() => { location.hash = "/operations"; });
      await page.locator(".entry summary").first().focus();
      await page.keyboard.press("Space");
      await page.locator(".entry-body").first().waitFor();
      await page.evaluate(() => { location.hash = "/clusters/team-a/shop"; });
      await page.getByRole("button", { name: "Download", exact: true }).focus();
      const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
      return [...opened, download.suggestedFilename()];
    """)
    assert opened == ["Views", "Columns", "shop.kubeconfig.yaml"]


@pytest.mark.parametrize("theme, width", [("light", 1440), ("dark", 390), ("dark", 1440)])
def test_da20_axe_finds_nothing(world, theme, width):
    if not browser.AXE.exists():
        pytest.skip("dashboard/node_modules/axe-core is absent")
    page = f"axe-{theme}"
    found = world.run(page, """
      await page.emulateMedia({ colorScheme: args.theme });
      await page.goto(args.url);
      await page.getByLabel("Token").waitFor();
      await page.getByRole("button", { name: "Log in" }).click();
      return page.axe();
    """, theme=theme)
    assert not found, "\n".join(found)
    world.open(page)
    for name in PLACES:
        visit(world, page, name, theme, width)
        found = world.run(page, OPEN.get(name, "") + "return page.axe();")
        assert not found, f"{name}\n" + "\n".join(found)


def test_every_width_shows_all_of_it(world):
    """Nothing is wider than the page from 320 to 3840 px, and targets are large enough."""
    world.open("width")
    for name in PLACES:
        for width in (320, 390, 768, 1440, 2560, 3840) if PICTURES else (320, 768, 1440, 3840):
            visit(world, "width", name, "light", width)
            out = world.run("width", """
              return page.evaluate(() => ({ wide: document.documentElement.scrollWidth - innerWidth,
                small: [...document.querySelectorAll("button, select, input, summary")].filter((one) => {
                  const box = one.getBoundingClientRect(); return box.height && (box.height < 24 || box.width < 24); }).map((one) => one.outerHTML.slice(0, 80)) }));
            """)
            assert out == {"wide": 0, "small": []}, (name, width)
            if name == "fleet":
                lefts = world.run("width", """
                  return page.evaluate(() => [".thead .cell", ".tbody .row:first-child > .cell"].map((cells) =>
                    [...document.querySelectorAll(cells)].map((one) => Math.round(one.getBoundingClientRect().left))));
                """)
                assert lefts[0] == lefts[1] and len(lefts[0]) == 8, (width, "heads stand above their columns")
            if PICTURES and name not in ("trouble", "nothing", "gone", "unknown") and width in (390, 1440, 2560):
                for theme in ("light", "dark"):
                    visit(world, "width", name, theme, width)
                    world.run("width", "await page.screenshot({ path: args.path, animations: 'disabled' });",
                              path=f"{PICTURES}/{name}-{width}-{theme}.png")


def test_the_theme_is_the_systems_or_the_chosen_one(world):
    world.open("theme")
    grounds = world.run("theme", """
      const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
      const seen = [];
      for (const colorScheme of ["light", "dark"]) { await page.emulateMedia({ colorScheme }); seen.push(await ground()); }
      await page.getByLabel("Theme").selectOption("light");
      seen.push(await ground());
      await page.reload();
      await page.getByLabel("Theme").waitFor();
      seen.push(await ground());
      await page.getByLabel("Theme").selectOption("system");
      return seen;
    """)
    assert grounds[0] != grounds[1] and grounds[2] == grounds[3] == grounds[0]


# The longest transition or animation of the style sheets, in seconds, in the rules that apply to the page as it is now.
LONGEST = """
  return page.evaluate(() => {
    const seconds = (text) => Math.max(0, ...text.split(",").map((one) => parseFloat(one) * (one.trim().endsWith("ms") ? 0.001 : 1) || 0));
    const longest = (rules) => Math.max(0, ...[...rules].map((rule) => {
      if (rule.media && !matchMedia(rule.media.mediaText).matches) return 0;
      const own = rule.style ? Math.max(seconds(rule.style.transitionDuration), seconds(rule.style.animationDuration)) : 0;
      return Math.max(own, rule.cssRules ? longest(rule.cssRules) : 0);
    }));
    return longest([...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]));
  });
"""


def test_nothing_moves_when_the_system_asks_for_less_motion(world):
    world.open("motion")
    longest = {wish: world.run("motion", "await page.emulateMedia({ reducedMotion: args.wish });" + LONGEST, wish=wish) for wish in ("reduce", "no-preference")}
    assert longest["reduce"] <= 0.01 < longest["no-preference"], longest


def test_a_request_to_another_server_is_a_fault(world):
    """The other tests rely on it: the page asks nobody but its own server."""
    with pytest.raises(AssertionError, match=r"asks http://127\.0\.0\.1"):
        world.run("elsewhere", "await page.goto(`http://127.0.0.1:${args.port}/`);", port=world.receivers["good"].server.server_address[1])


def test_roles_see_what_they_may_and_a_revoked_token_ends_in_the_login(world):
    d = world.d
    viewer = d.http.post("/v1/tokens", json={"name": "looker", "role": "viewer", "projects": ["team-b"]}).json()
    world.open("viewer", "/", token=viewer["token"])
    world.run("viewer", 'await page.getByText("night-0000").waitFor();')
    assert set(names(world, "viewer")) == {"night-0000", "night-0001"}
    text = world.run("viewer", """
      await page.getByRole("link", { name: "night-0000" }).click();
      await page.getByRole("heading", { name: "Kubeconfig" }).waitFor();
      return [await page.locator("main").innerText(), await page.locator("header").innerText()];
    """)
    assert "This token only reads" in text[0] and "Download" not in text[0] and "looker" in text[1] and "viewer" in text[1]
    d.http.delete(f"/v1/tokens/{viewer['id']}")
    reason = world.run("viewer", """
      await page.getByLabel("Token").waitFor();
      return [await page.getByRole("alert").textContent(), await page.evaluate(() => sessionStorage.length)];
    """)
    assert "does not accept the token any more" in reason[0] and reason[1] == 0


def test_a_server_that_gives_no_stream_is_not_taken_for_one_that_is_away(world, tmp_path):
    d = harness.Shootd(tmp_path / "crowded", world.sim.url, extra="limits: {streams_per_token: 1}\n").start()
    try:
        with Stream(d) as other:
            assert other.status == 200
            world.chromium.run("crowded", LOGIN, url=d.url + "/", token=d.token())
            text = world.chromium.run("crowded", """
              await page.getByText("No live updates", { exact: true }).waitFor();
              await page.getByText("web-0000").waitFor();
              return page.locator("body").innerText();
            """)
            assert "away" not in text
            accessible(world, "crowded")
    finally:
        world.chromium.run(None, "")
        d.stop()


# The tabs that read a stream: the name of the lock that each of them holds, and its id.
READERS = "return (await page.evaluate(async () => (await navigator.locks.query()).held)).map(({ name, clientId }) => [name, clientId]);"
LIVE = 'await page.getByText("Live", { exact: true }).waitFor();'
COUNT_STREAMS = 'page.streams = 0; page.on("request", (one) => (page.streams += Number(one.headers().accept === "text/event-stream")));'


def appears(world, name, *pages):
    """A new cluster is shown in all these tabs, one of which reads the stream."""
    world.sim.post("shoots", count=1, prefix=name, state="ready")
    for page in pages:
        world.run(page, 'await page.locator(".tbody, .entries", { hasText: args.name }).first().waitFor();', name=f"{name}-0000")
    assert len(world.run(pages[0], READERS)) == 1


def test_the_tabs_of_a_browser_share_one_stream(world):
    tabs = ("first", "second", "third")
    for page in tabs:
        world.run(page, COUNT_STREAMS)
        world.open(page)
        world.run(page, LIVE)
    assert [world.run(page, "return page.streams;") for page in tabs] == [1, 0, 0]
    appears(world, "shared", *tabs)
    world.go("third", "/events?type=cluster.*")
    world.run("third", LIVE + 'await page.getByRole("button", { name: "Pause" }).click(); await page.getByText("Paused", { exact: true }).waitFor();')
    appears(world, "missed", "first", "second")
    # The tab that reads is closed: another one takes its place, and goes on where the stream was.
    world.run("first", "await page.close();")
    appears(world, "later", "second")
    # The tab that was paused gets what it has missed, in the shared stream.
    world.run("third", 'await page.getByRole("button", { name: "Pause" }).click();')
    appears(world, "again", "second", "third")
    shown = " ".join(summary for _, summary in world.run("third", ENTRIES))
    assert all(f"{name}-0000" in shown for name in ("missed", "later", "again"))
    for name in ("shared", "missed", "later", "again"):
        world.sim.http.delete(f"/_sim/shoots/{name}-0000")
    world.run("second", 'await page.locator(".tbody", { hasText: "again-0000" }).waitFor({ state: "detached" });')


def test_a_tab_that_is_silent_loses_the_stream(world):
    """The pages of a browser have one clock, so silence is made by a channel that passes nothing on, not by the clock of one tab."""
    world.run("silent", """
      await page.clock.install();
      await page.addInitScript(() => {
        const post = BroadcastChannel.prototype.postMessage;
        BroadcastChannel.prototype.postMessage = function (message) {
          if (!window.isMute) post.call(this, message);
        };
      });
    """)
    for page in ("silent", "heir"):
        world.open(page)
        world.run(page, LIVE)
    before = world.run("silent", READERS)
    assert len(before) == 1 and before[0][0].startswith("shootd events ")
    world.run("silent", "await page.evaluate(() => { window.isMute = true; });")
    world.run("heir", "await page.clock.fastForward(50_000);")
    after = wait_until(lambda: [one for one in world.run("silent", READERS) if one != before[0]], what="another tab to read the stream")
    assert len(after) == 1
    appears(world, "heir", "silent", "heir")
    world.sim.http.delete("/_sim/shoots/heir-0000")
    world.run("heir", 'await page.locator(".tbody", { hasText: "heir-0000" }).waitFor({ state: "detached" });')


def test_a_logout_in_the_tab_that_reads_leaves_the_stream_to_another_one(world):
    for page in ("leaves", "stays"):
        world.open(page)
        world.run(page, LIVE)
    world.run("leaves", 'await page.getByRole("button", { name: "Log out" }).click(); await page.getByLabel("Token").waitFor();')
    appears(world, "alone", "stays")
    world.sim.http.delete("/_sim/shoots/alone-0000")
    world.run("stays", LIVE + 'await page.locator(".tbody", { hasText: "alone-0000" }).waitFor({ state: "detached" });')


@pytest.mark.parametrize("absent", ["BroadcastChannel", "navigator.locks.request"])
def test_a_browser_that_forbids_tabs_to_talk_has_a_stream_in_each(world, absent):
    for page in ("one", "other"):
        world.run(page, COUNT_STREAMS + """
          await page.addInitScript((absent) => {
            const refuses = function () { throw new DOMException("not here", "SecurityError"); };
            if (absent === "BroadcastChannel") window.BroadcastChannel = refuses;
            else navigator.locks.request = refuses;
          }, args.absent);
        """, absent=absent)
        world.open(page)
        world.run(page, LIVE)
    assert [world.run(page, "return page.streams;") for page in ("one", "other")] == [1, 1]


def test_tabs_of_other_rights_have_streams_of_their_own(world):
    viewer = world.d.http.post("/v1/tokens", json={"name": "other tab", "role": "viewer", "projects": ["team-a"]}).json()
    world.open("admin tab")
    world.open("viewer tab", token=viewer["token"])
    for page in ("admin tab", "viewer tab"):
        world.run(page, LIVE)
    assert len(world.run("admin tab", READERS)) == 2
    world.d.http.delete(f"/v1/tokens/{viewer['id']}")
    world.run("viewer tab", 'await page.getByLabel("Token").waitFor();')
    assert len(world.run("admin tab", READERS)) == 1


def test_an_outage_of_cleura_is_seen(world):
    sim = world.sim
    world.open("outage")
    assert world.d.http.put("/v1/freeze", json={"scope": "team-b", "reason": "the summer party"}).status_code == 200
    sim.post("down", down=True)
    try:
        world.run("outage", """
          await page.locator(".trouble > summary", { hasText: /Project team-[ab]:/ }).click();
          await page.locator(".trouble .menu-body").getByText("Project team-a:").waitFor();
          await page.getByText("the summer party").waitFor();
        """)
        accessible(world, "outage")
        world.go("outage", "/accounts")
        world.run("outage", 'await page.locator("td").getByText(/breaker (half )?open/).first().waitFor();')
    finally:
        sim.post("down", down=False)
        world.d.http.delete("/v1/freeze", params={"scope": "team-b"})
    world.d.wait_outage_over()
    world.run("outage", 'await page.locator("td").getByText(/breaker (half )?open/).first().waitFor({ state: "detached" });')


# ---- the other pages ----

# Of each entry of a list: the name that it links to, and its summary.
ENTRIES = """
  await page.locator(".entry").first().waitFor();
  return page.evaluate(() => [...document.querySelectorAll(".entry")].map((one) => [one.querySelector(".entry-name a")?.textContent ?? "",
    (one.querySelector("summary") ?? one).textContent]));
"""


def test_operations_of_all_clusters_are_live_with_those_under_way_first(world):
    d, sim = world.d, world.sim
    world.open("operations", "/operations")
    wait_until(lambda: [name for name, _ in world.run("operations", ENTRIES)] == [op["cluster"] for op in d.http.get("/v1/operations").json()["items"]],
               what="the operations of the API")
    filtered = world.run("operations", """
      await page.getByLabel("Status").selectOption("failed");
      await page.locator(".entry", { hasText: "succeeded" }).first().waitFor({ state: "detached" });
      await page.getByLabel("Type").selectOption("update");
      await page.getByRole("combobox", { name: "Project", exact: true }).selectOption("team-a");
      await page.locator(".entry summary").first().click();
      const body = await page.locator(".entry-body").first().innerText();
      const focus = await page.evaluate(() => document.activeElement.tagName);
      const url = page.url();
      await page.getByLabel("Cluster").fill("no-such");
      await page.keyboard.press("Enter");
      await page.getByText("No operation fits the filters").waitFor();
      await page.getByRole("button", { name: "Clear filters" }).click();
      await page.locator(".entry", { hasText: "succeeded" }).first().waitFor();
      return { url, body, focus, cleared: page.url() };
    """)
    assert filtered["url"].endswith("#/operations?status=failed&type=update&project=team-a") and filtered["cleared"].endswith("#/operations")
    assert "The quota of the project is used up" in filtered["body"] and "Change the cluster" in filtered["body"] and filtered["focus"] == "SUMMARY"
    sim.post("clock", speed=20)
    try:
        started = d.http.post(d.clusters_path("shop") + "/actions/reconcile")
        assert started.status_code == 202, started.text
        seen = world.run("operations", """
          await page.mouse.move(0, 0);
          const first = page.locator(".entry").first();
          await first.and(page.locator(".is-open", { hasText: "shop" })).waitFor();
          await page.getByText("1 under way").waitFor();
          await first.locator("summary").click();
          await first.getByText("Reconcile").nth(1).waitFor();
          await page.mouse.move(0, 0);
          return first.locator("progress").getAttribute("max");
        """)
        assert seen == "100"
    finally:
        sim.post("clock", speed=720)
    world.run("operations", """
      await page.locator(".is-open").waitFor({ state: "detached" });
      await page.locator(".entry", { hasText: "shop" }).first().getByText("succeeded").first().waitFor();
      await page.getByRole("link", { name: "shop" }).first().click();
      await page.getByRole("heading", { name: "shop" }).waitFor();
    """)


def test_events_come_live_and_the_list_can_be_held(world):
    d, sim = world.d, world.sim
    world.open("events", "/events?type=cluster.*&project=team-b")
    shown = [event["data"]["cluster"] for event in d.http.get("/v1/events", params={"order": "desc", "type": "cluster.*", "project": "team-b"}).json()["items"]]
    assert [name for name, _ in world.run("events", ENTRIES)][:3] == shown[:3]
    world.run("events", """
      await page.getByText("Live", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Hold the list" }).click();
    """)
    sim.post("shoots", count=1, prefix="event", state="ready", project=OTHER_PROJECT)
    held = world.run("events", """
      await page.getByRole("button", { name: /^Show \\d+ new event/ }).waitFor();
      const held = await page.locator(".entry", { hasText: "event-0000" }).count();
      await page.getByRole("button", { name: /^Show \\d+ new event/ }).click();
      await page.locator(".entry", { hasText: "event-0000" }).first().waitFor();
      await page.getByRole("button", { name: "Hold the list" }).click();
      await page.getByLabel("Type").selectOption("cluster.deleted");
      await page.mouse.move(0, 0);
      return { held, url: decodeURIComponent(page.url()) };
    """)
    assert held["held"] == 0 and held["url"].endswith("#/events?type=cluster.deleted&project=team-b")
    sim.http.delete("/_sim/shoots/event-0000")
    world.run("events", """
      await page.locator(".entry", { hasText: "event-0000" }).getByText("Deleted").waitFor();
      await page.getByRole("link", { name: "event-0000" }).first().click();
      await page.getByRole("heading", { name: "event-0000" }).waitFor();
    """)


def test_webhooks_show_every_attempt_of_every_delivery(world):
    d = world.d
    world.open("hooks", "/webhooks")
    cards = world.run("hooks", """
      await page.locator(".card").nth(1).waitFor();
      const cards = await page.locator(".card").allInnerTexts();
      await page.getByRole("link", { name: /bad$/ }).click();
      await page.locator(".entry").first().waitFor();
      return cards;
    """)
    assert all(any(word in card for card in cards) for word in ("/hook/good", "/hook/bad")) and all("enabled" in card and "operation.*" in card for card in cards)

    def oldest_failed():
        items = d.http.get(f"/v1/webhooks/{world.hooks['bad']}/deliveries").json()["items"]
        return items[-1] if items[-1]["attempt"] >= 2 else None

    wanted = wait_until(oldest_failed, what="a second attempt")
    seen = world.run("hooks", """
      const last = page.locator(".entry").last();
      await last.locator("summary").click();
      await last.locator(".attempts tbody tr").nth(1).waitFor();
      return { rows: await last.locator(".attempts tbody tr").evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent))),
        text: await last.innerText() };
    """)
    assert [(row[0], row[2], row[3], row[4]) for row in seen["rows"]][: len(wanted["attempts"])] == [
        (str(i), str(one["response_status"]), f"{one['latency_ms']:,} ms", one["error"]) for i, one in enumerate(wanted["attempts"], 1)]
    assert "<img src=x" in seen["text"], "an admin sees the answer"
    good = world.run("hooks", """
      await page.evaluate((place) => { location.hash = place; }, args.place);
      await page.locator(".entry", { hasText: "delivered" }).first().waitFor();
      await page.getByLabel("Status").selectOption("failed");
      await page.getByText("No delivery has this status").waitFor();
      await page.evaluate(() => { location.hash = "/webhooks/wh_none"; });
      await page.getByText("There is no such webhook").waitFor();
      return page.url();
    """, place=f"/webhooks/{world.hooks['good']}")
    assert good.endswith("wh_none")


def test_the_audit_log_is_searched_and_read_in_pages(world):
    d = world.d
    for _ in range(105):
        assert d.http.delete(d.clusters_path("none")).status_code == 404
    world.open("audit", "/audit?action=createCluster")
    rows = """
      return page.locator("table.audit tbody tr").evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
    """
    world.run("audit", 'await page.locator("table.audit").waitFor();')
    wanted = d.http.get("/v1/audit", params={"action": "createCluster", "limit": 100}).json()["items"]
    found = world.run("audit", rows)
    assert len(found) == len(wanted) and all(row[1].startswith(entry["token_name"]) and row[2] == entry["action"] and entry["cluster"] in row[3] and
                                             entry["outcome"] in row[4] and str(entry["status"]) in row[4] for row, entry in zip(found, wanted))
    pages = world.run("audit", """
      await page.getByLabel("Action").fill("deleteCluster");
      await page.keyboard.press("Enter");
      await page.getByLabel("Outcome").selectOption("error");
      await page.getByRole("button", { name: "Next page" }).click();
      await page.locator(".pager").getByText("Page 2").waitFor();
      const second = await page.locator("table.audit tbody tr").count();
      await page.getByRole("button", { name: "Previous page" }).click();
      await page.locator(".pager").getByText("Page 1").waitFor();
      return [second, await page.locator("table.audit tbody tr").count(), page.url()];
    """)
    assert pages[0] >= 5 and pages[1] == 100 and pages[2].endswith("#/audit?action=deleteCluster&outcome=error")
    refused = world.run("audit", """
      await page.getByLabel("Action").fill("nonsense");
      await page.keyboard.press("Enter");
      await page.getByRole("group", { name: "Problem" }).waitFor();
      return page.locator("main").innerText();
    """)
    assert "action" in refused
    accessible(world, "audit")


# Records what the live region says; `set` changes filters in one task, so that no time is between them.
LISTEN = """
  await page.evaluate(() => {
    const region = document.querySelector(".visually-hidden[role=status]");
    window.said = [];
    new MutationObserver(() => window.said.push(region.textContent.trim())).observe(region, { childList: true, characterData: true, subtree: true });
    window.set = (kind, ...changes) => changes.forEach(([label, value]) => {
      const field = [...document.querySelectorAll(".filters label")].find((one) => one.firstElementChild.textContent === label).lastElementChild;
      field.value = value;
      field.dispatchEvent(new Event(kind, { bubbles: true }));
    });
  });
"""
# What was said since the last time, once the wanted text is there; summaries of changes by others are left out.
SAID = """
  await page.evaluate(({ kind, changes }) => window.set(kind, ...changes), args);
  const deadline = Date.now() + 20_000;
  while (!(await page.evaluate((wanted) => window.said.includes(wanted), args.wanted)) && Date.now() < deadline) await page.waitForTimeout(20);
  return page.evaluate(() => window.said.splice(0).filter((text) => !/changes?$|failed$|^The server/.test(text)));
"""


def test_the_number_of_results_is_said_once_the_filters_stand_still(world):
    d = world.d

    def says_once(wanted, *changes, kind="change"):
        assert world.run("said", SAID, kind=kind, changes=changes, wanted=wanted) == [wanted]

    def number(path, one, more, **query):
        page = d.http.get(path, params=query).json()
        assert page["next_cursor"] is None and page["items"]
        return f"{len(page['items'])} {more if len(page['items']) > 1 else one}"

    def reconcile():
        d.wait_operation(d.http.post(d.clusters_path("shop") + "/actions/reconcile").json()["operation"]["id"])

    d.wait_phase("shop", "ready")
    reconcile()
    world.open("said")
    world.run("said", 'await page.getByText("web-0000").waitFor();' + LISTEN)
    total = d.http.get("/v1/summary").json()["total"]
    says_once(f"2 of {total} clusters", ["Search", "n"], ["Search", "ni"], ["Search", "night"], kind="input")

    world.go("said", "/audit")
    world.run("said", 'await page.locator("table.audit").waitFor();')
    says_once(number("/v1/audit", "entry", "entries", action="createCluster", outcome="success", limit=100), ["Action", "createCluster"], ["Outcome", "success"])
    says_once("No entry fits the filters.", ["Target", "nothing-like-this"])

    world.go("said", "/operations")
    world.run("said", 'await page.locator(".entry").first().waitFor();')
    says_once(number("/v1/operations", "operation", "operations", status="succeeded", type="create"), ["Status", "succeeded"], ["Type", "create"])
    says_once(number("/v1/operations", "operation", "operations", status="succeeded", type="reconcile"), ["Type", "reconcile"])
    count = world.run("said", 'return page.locator(".entry").count();')
    reconcile()
    world.run("said", 'await page.locator(".entry").nth(args.count).waitFor();', count=count)
    says_once("No operation fits the filters.", ["Status", "cancelled"])  # and nothing of the operation that came by itself


def test_da17_changes_of_others_are_summed_up_at_most_every_ten_seconds(world):
    sim = world.sim
    world.run("summed", "await page.clock.install();" + LOGIN + ALL_READ + """
      await page.getByText("Live", { exact: true }).waitFor();
      await page.getByText("web-0000").waitFor();
      await page.evaluate(() => {
        const region = document.querySelector(".visually-hidden[role=status]");
        window.sums = [];
        new MutationObserver(() => /change/.test(region.textContent) && window.sums.push([Date.now(), region.textContent]))
          .observe(region, { childList: true, characterData: true, subtree: true });
      });
    """)
    for name in ("sum-a", "sum-b"):
        sim.post("shoots", count=3, prefix=name, state="ready")
        world.run("summed", """
          await page.locator(".tbody", { hasText: args.last }).waitFor();
          const before = await page.evaluate(() => window.sums.length);
          await page.clock.fastForward(10_000);
          const deadline = Date.now() + 20_000;
          while ((await page.evaluate(() => window.sums.length)) === before && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
        """, last=f"{name}-0002")
    sums = world.run("summed", "return page.evaluate(() => window.sums);")
    assert len(sums) >= 2 and all(re.search(r"^\d+ changes?", text) for _, text in sums), sums
    assert all(later - earlier >= 9_900 for (earlier, _), (later, _) in zip(sums, sums[1:])), sums
    for name in ("sum-a", "sum-b"):
        for i in range(3):
            sim.http.delete(f"/_sim/shoots/{name}-000{i}")
    wait_until(lambda: world.d.cluster("sum-b-0002").status_code == 404, what="them to be gone")


def test_accounts_say_how_the_login_stands_and_how_old_the_data_is(world):
    account = world.d.http.get("/v1/accounts").json()["items"][0]
    world.open("accounts", "/accounts")
    text = world.run("accounts", """
      await page.getByText("logged in").waitFor();
      await page.locator("tbody tr").nth(1).waitFor();
      return page.locator("main").innerText();
    """)
    for piece in (account["name"], account["url"], "by password", "team-a", "team-b", "Read", " ago"):
        assert piece in text, (piece, text)


def test_the_navigation_has_what_the_role_may_see(world):
    """A typed address of another page says why it is not shown."""
    d = world.d
    operator = d.http.post("/v1/tokens", json={"name": "oper", "role": "operator", "projects": ["*"]}).json()
    viewer = d.http.post("/v1/tokens", json={"name": "looks", "role": "viewer", "projects": ["team-b"]}).json()
    everything = ["Clusters", "Operations", "Events", "Webhooks", "Accounts", "Audit"]
    for token, links in ((None, everything), (operator["token"], everything[:-1]), (viewer["token"], ["Clusters", "Operations", "Events", "Accounts"])):
        page = f"nav{len(links)}"
        world.open(page, "/audit", token=token)
        said = world.run(page, """
          await page.getByRole("heading", { name: "Audit" }).waitFor();
          const links = await page.getByRole("navigation").getByRole("link").allInnerTexts();
          const said = await page.locator("main").innerText();
          await page.evaluate(() => { location.hash = "/webhooks"; });
          await page.getByRole("heading", { name: "Webhooks" }).waitFor();
          await page.getByText(/needs a token|operation\\.\\*/).first().waitFor();
          const hooks = await page.locator("main").innerText();
          await page.evaluate(() => { location.hash = "/operations"; });
          await page.locator('nav [aria-current="page"]', { hasText: "Operations" }).waitFor();
          return { links: links.map((one) => one.trim()), said, hooks };
        """)
        assert said["links"] == links, said["links"]
        assert ("needs a token of the role admin" in said["said"]) == (token is not None)
        assert ("needs a token of the role operator" in said["hooks"]) == (len(links) == 4)
    world.go("nav4", "/audit")
    world.run("nav4", 'await page.getByText("needs a token of the role admin").waitFor();')
    accessible(world, "nav4")
    world.go("nav4", "/operations")
    projects = world.run("nav4", """
      await page.locator(".entries, main .empty").waitFor();
      return page.locator(".entry .project").allInnerTexts();
    """)
    assert set(projects) <= {"team-b"}
    answer = world.run("nav5", """
      await page.evaluate((place) => { location.hash = place; }, args.place);
      await page.locator(".entry summary").last().click();
      await page.locator(".attempts").last().waitFor();
      return page.locator("main").innerText();
    """, place=f"/webhooks/{world.hooks['bad']}")
    assert "Last answer" not in answer, "answers of receivers are for admins"
    for one in (operator, viewer):
        d.http.delete(f"/v1/tokens/{one['id']}")


def test_hostile_texts_on_the_other_pages_are_shown_as_texts(world):
    d = world.d
    assert d.http.put("/v1/freeze", json={"scope": "team-b", "reason": HOSTILE[:400]}).status_code == 200
    assert d.http.delete("/v1/freeze", params={"scope": "team-b"}).status_code == 204
    assert d.http.post(d.clusters_path(), json={"name": "<img src=x onerror=alert(1)>"}).status_code == 422
    world.open("evil2")
    bad = world.hooks["bad"]
    for place, where in (("/events?type=freeze.*", ".entry"), ("/webhooks", ".card"), (f"/webhooks/{bad}", ".card"), ("/audit?action=createCluster&outcome=error", "table.audit")):
        world.go("evil2", place)
        for width in (320, 1440):
            found = world.run("evil2", """
              await page.setViewportSize({ width: args.width, height: 900 });
              await page.locator(args.where, { hasText: "<img src=x" }).first().waitFor({ state: "attached" });
              return page.evaluate(() => ({ images: document.images.length, scripts: document.scripts.length, wide: document.documentElement.scrollWidth - innerWidth,
                turned: /[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.documentElement.textContent + document.title) }));
            """, where=where, width=width)
            assert found == {"images": 0, "scripts": 1, "wide": 0, "turned": False}, (place, width)


# Members of answers that stay: the page needs them for its requests, or they are words of shootd that the contract leaves open.
KEPT = ["id", "next_cursor", "event_type", "event_types", "operation_type", "login", "login_state", "token_source"]
# Members that are null in many answers.
NULLABLE = ["advice", "by", "description", "disabled_reason", "last_error", "login_message", "message", "notes", "reason", "requested_by", "state", "subject", "word"]
# Addresses with texts of others: somebody sends a link.
CRAFTED = {"/?version=%E2%80%AEx&phase=%E2%80%AEy&health=%E2%80%AEz&project=%E2%80%AEp&q=%E2%80%AE": "No cluster fits", "/clusters/%E2%80%AEa/%E2%80%AEb": "no such cluster",
           "/webhooks/%E2%80%AEw": "no such webhook", "/operations?type=%E2%80%AEt&cluster=%E2%80%AE": "Try again", "/audit?outcome=%E2%80%AEo&actor=%E2%80%AE": "Try again"}
HARMLESS = {"executed": False, "images": 0, "scripts": 1, "turned": False, "labels": [], "wide": 0, "beyond": []}


def words_of_the_contract():
    """For each member of the contract: the words that its schemas allow."""
    found = {}

    def words(schema):
        schema = contract.resolve(schema)
        yield from (word for word in (*schema.get("enum", []), schema.get("const")) if isinstance(word, str))
        for part in (*schema.get("allOf", []), *schema.get("anyOf", []), *schema.get("oneOf", []), *([schema["items"]] if schema.get("items") else [])):
            yield from words(part)

    def walk(node):
        if isinstance(node, dict) and isinstance(node.get("properties"), dict):
            for name, schema in node["properties"].items():
                found.setdefault(name, set()).update(words(schema))
        for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            walk(inner)

    walk(contract.DOCUMENT["components"]["schemas"])
    return {name: sorted(some) for name, some in found.items() if some}


def test_hostile_texts_in_every_place_are_texts(world):
    """Each text of the answers that is not bound by the contract is hostile: markup, marks that turn the direction of the text, control
    characters, and once for each member 64 KB."""
    d = world.d
    names = ["team-a", "team-b", *(one["name"] for path in ("/v1/clusters", "/v1/accounts") for one in d.http.get(path, params={"limit": 1000}).json()["items"])]
    how = {"words": words_of_the_contract(), "kept": KEPT, "nullable": NULLABLE, "names": names}
    world.run("everywhere", "await hostile.makeHostile(page, args.how);" + LOGIN, how=how)
    more = {"ready": """
      await page.getByRole("button", { name: "Look up at Cleura" }).click();
      await page.getByText("Check by Cleura").waitFor();
      await page.getByRole("button", { name: /^Show all 6\\d,\\d{3} characters/ }).first().click();
      await page.getByRole("button", { name: "Show less" }).first().waitFor();
    """}
    for name in PLACES:
        for width in (320, 1440):
            visit(world, "everywhere", name, "light", width)
            seen = world.run("everywhere", more.get(name, "") + "return hostile.seen(page);")
            assert seen["found"] == HARMLESS, (name, width, seen["found"])
            assert seen["shown"] or name in ("gone", "unknown"), name
    for place, ready in CRAFTED.items():
        world.go("everywhere", place)
        for width in (320, 1440):
            seen = world.run("everywhere", """
              await page.setViewportSize({ width: args.width, height: 900 });
              await page.getByText(args.ready).first().waitFor();
              return hostile.seen(page);
            """, width=width, ready=ready)
            assert seen["found"] == HARMLESS, (place, width, seen["found"])


# ---- sources ----

def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    dark, light = sorted((luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)


def test_da25_each_phase_has_a_colour_and_a_shape_of_its_own():
    """Each phase of the contract, in both themes. docs/dashboard.md has the same colours with their contrast."""
    style, shapes = (ROOT / "dashboard/src/style.css").read_text(), (ROOT / "dashboard/src/ui/phase.tsx").read_text()
    colours = {m[1]: (m[2], m[3]) for m in re.finditer(r"--([a-z-]+): light-dark\((#\w{6}), (#\w{6})\)", style)}
    phases = contract.DOCUMENT["components"]["schemas"]["Phase"]["enum"]
    page = (ROOT / "docs/dashboard.md").read_text()
    for theme in (0, 1):
        assert len({colours[f"phase-{phase}"][theme] for phase in phases}) == len(phases) == 12
        for phase in phases:
            assert all(contrast(colours[f"phase-{phase}"][theme], colours[ground][theme]) >= 4.5 for ground in ("panel", "ground", "raised")), phase
        assert all(contrast(colours["border"][theme], colours[ground][theme]) >= 3 for ground in ("panel", "ground", "raised"))
        for text in ("ink", "quiet"):
            assert all(contrast(colours[text][theme], colours[ground][theme]) >= 4.5
                       for ground in ("panel", "ground", "raised", "tint", "bad-ground", "warn-ground")), text
    for phase in phases:
        light, dark = colours[f"phase-{phase}"]
        row = rf"\| {phase} \| [^|]+ \| `{light}` {contrast(light, colours['panel'][0]):.1f} \| `{dark}` {contrast(dark, colours['panel'][1]):.1f} \|"
        assert re.search(row, page), row
    properties = re.findall(r"^\| `--([a-z-]+)` \| `(#\w{6})` \| `(#\w{6})` \| \S", page, re.M)
    assert {name: (light, dark) for name, light, dark in properties} == {name: both for name, both in colours.items() if not name.startswith("phase-")}
    assert len(properties) == len({name for name, *_ in properties})
    assert all(contrast(colours["on-accent"][theme], colours["accent"][theme]) >= 4.5 for theme in (0, 1))
    table = re.search(r"const phases[^=]*= \{(.*?)\n\};", shapes, re.S)[1]
    drawn = dict(re.findall(r"^  (\w+): (\{.*\}),$", table, re.M))
    assert set(drawn) == set(phases) and len(set(drawn.values())) == len(phases)


def test_every_text_is_in_one_file_and_no_style_is_an_attribute():
    for path in sorted((ROOT / "dashboard/src").rglob("*.tsx")):
        text = path.read_text()
        assert not re.search(r"\sstyle=|dangerouslySetInnerHTML|innerHTML|insertAdjacentHTML|document\.write", text), path
        words = [w for w in re.findall(r">\s*([A-Za-z][A-Za-z ,.']{2,})\s*<(?=/)", text) if w.strip()]
        assert not words, (path, words)
    for path in sorted((ROOT / "dashboard/src").rglob("*.ts*")):
        if path.name != "texts.ts":
            assert not english(path.read_text()), path


ATTRIBUTES = "aria-label|aria-description|aria-valuetext|title|placeholder|alt|label"


def english(source):
    """Texts for people in a source: attributes that a reader sees or hears, and literals that begin like a sentence."""
    code = re.sub(r"^\s*(//|/?\*).*", "", source, flags=re.M)
    attributes = re.findall(rf'\b(?:{ATTRIBUTES})=\{{?["\'`]([^"\'`]*[A-Za-z][^"\'`]*)["\'`]', code)
    return attributes + re.findall(r"""["'`]([A-Z][a-z]+,? (?:[a-z]|\$\{\w+\} [a-z])[^"'`\n]*)["'`]""", code)


def test_english_texts_are_found():
    for source in ('<a aria-label="Close">', "<a title={`Close it`}>", 'const text = "Close the page";', "say('It is closed, and stays so')", "`Only ${n} of them`"):
        assert english(source), source
    assert not english('<a class="close it" id="x">{texts.close}</a>\n// "Close the page"\nconst field = `Bearer ${token}`;')


def test_phases_are_said_in_the_words_of_the_issues():
    """The page and the API have one text for one thing."""
    texts = (ROOT / "dashboard/src/texts.ts").read_text()
    for code in ("cluster_failed", "cluster_retrying"):
        title = re.search(rf'"{code}",\s+ISSUE_\w+,\s+"cluster",\s+BY_\w+,\s+"([^"]+)"', (ROOT / "model/issues.c").read_text())[1]
        assert title in texts, title


def test_the_sources_are_typed_by_the_contract():
    """The sources pass strict TypeScript with types that are generated from openapi.yaml."""
    programs = ROOT / "dashboard/node_modules/.bin"
    if not (programs / "tsc").exists():
        pytest.skip("dashboard/node_modules is absent: npm or its registry was absent")
    for argv in ([programs / "openapi-typescript", ROOT / "openapi.yaml", "-o", "types/openapi.d.ts"], [programs / "tsc", "--project", "."]):
        done = subprocess.run(argv, cwd=ROOT / "dashboard", capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr


def test_parts_that_need_no_browser(tmp_path):
    program = ROOT / "dashboard/node_modules/.bin/esbuild"
    if not program.exists():
        pytest.skip("dashboard/node_modules is absent: npm or its registry was absent")
    bundle = tmp_path / "units.test.mjs"
    subprocess.run([program, "test/units.test.ts", "--bundle", "--platform=node", "--format=esm", f"--outfile={bundle}", "--log-level=error",
                    "--jsx=automatic", "--jsx-import-source=preact", '--banner:js=globalThis.document={hidden:false,baseURI:"http://shootd.test/"};globalThis.fetch=(request)=>globalThis.serve(request);'],
                   cwd=ROOT / "dashboard", check=True, timeout=60)
    done = subprocess.run(["node", "--test", bundle], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "pass 20" in done.stdout.replace("# ", ""), done.stdout + done.stderr

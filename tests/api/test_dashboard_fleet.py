"""The table of all clusters in real Chromium: totals, filters, orders, views and columns, and rows that stand still."""

import re

import pytest

from browser import OTHER_PROJECT
from dashboard_world import ALL_READ, LISTEN, LOGIN, SAID, World, accessible, names  # noqa: F401 - shared_world makes a World
from harness import wait_until


def counted(d):
    """The chips of health, version and expiry, by the API."""
    counts = d.http.get("/v1/summary").json()
    some = [*((health.capitalize(), n) for health, n in counts["by_health"].items() if n), *counts["by_kubernetes_version"].items()]
    return {f"{word}{n:,}" for word, n in (*some, ("Version expired", counts["expired"]), ("Expires in 30 days", counts["expiring_30d"]))}


def test_totals_filters_and_order_are_in_the_address(world):
    world.open("fleet")
    first = world.run("fleet", """
      await page.getByRole("button", { name: /^Failed/ }).waitFor();
      const chips = await page.locator(".chip").allTextContents();
      await page.locator('.tbody [aria-rowindex="2"]', { hasText: "broken" }).waitFor();
      const asItComes = page.url();
      await page.getByRole("button", { name: "Trouble first" }).click();
      await page.waitForFunction(() => location.hash.includes("sort=name"));
      const byName = page.url();
      await page.getByRole("button", { name: "Trouble first" }).click();
      await page.waitForFunction(() => !location.hash.includes("sort=name"));
      await page.locator('.tbody [aria-rowindex="2"]', { hasText: "broken" }).waitFor();
      return { chips, urls: [asItComes, byName, page.url()].map((url) => url.replace(/.*#/, "")) };
    """)
    assert set(first["chips"]) >= {"Failed1", "Hibernated2", *counted(world.d)}
    assert first["urls"][1:] == ["/?sort=name", "/"] and "sort" not in first["urls"][0], "trouble comes first by itself"
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

    def type_at_once(then, *texts, at, click=None, place=None):
        """Returns the text in the field when this address is there."""
        return world.run("search", TYPE_AT_ONCE + then + """
          await page.getByText(/^2 of \\d+ clusters/).first().waitFor();
          await page.waitForFunction((at) => location.hash === at, args.at);
          return page.getByLabel("Search").inputValue();
        """, texts=texts, at=at, click=click, place=place)

    world.run("search", ALL_READ)
    assert type_at_once("", "n", "ni", "night", at="#/?q=night") == "night"
    assert type_at_once("", "nigh", at="#/?q=nigh&sort=name", click="Trouble first") == "nigh"
    left = type_at_once("""
      await page.getByRole("heading", { name: "Events", exact: true }).waitFor();
      await page.goBack();
    """, "nothing", at="#/?q=nigh&sort=name", place="#/events")
    assert left == "nigh", "the user has left before the search began"


# Each step runs when the rows have followed the text, and before the address would follow by itself.
LEAVES = {
    "Enter": ('field.dispatchEvent(new Event("change"));', "#/?q=night", "night", 2),
    "the field is left": ("field.blur();", "#/?q=night", "night", 2),
    "another address": ('location.hash = "/?phase=failed"; await new Promise((done) => addEventListener("hashchange", done, { once: true }));', "#/?phase=failed", "", 1),
}


@pytest.mark.parametrize("how", LEAVES)
def test_a_text_belongs_to_the_address_at_which_it_was_typed(world, how):
    leave, *left = LEAVES[how]
    world.open("leaves")
    seen = world.run("leaves", ALL_READ + """
      return page.evaluate(async () => {
        const rows = () => document.querySelectorAll(".tbody [role=row]").length, real = setTimeout;
        window.setTimeout = (on, ms, ...given) => real(on, ms === 400 ? 60000 : ms, ...given);
        const field = document.querySelector("input[type=search]");
        field.focus();
        field.value = "night";
        field.dispatchEvent(new Event("input", { bubbles: true }));
        while (rows() !== 2) await new Promise((done) => real(done, 5));
        const before = location.hash;
        %s
        await new Promise((done) => real(done));
        return { before, after: [location.hash, field.value, rows()] };
      });
    """ % leave)
    assert seen == {"before": "", "after": left}


def test_the_address_follows_when_the_user_stops_typing(world):
    """The rows follow at once, and do not begin at the top again when the address follows. A link takes the text along."""
    world.open("stops")
    seen = world.run("stops", ALL_READ + """
      await page.setViewportSize({ width: 1440, height: 500 });
      await page.evaluate(async () => {
        const real = history.replaceState, field = document.querySelector("input[type=search]");
        window.written = [];
        history.replaceState = function (...given) { window.written.push(given[2]); real.apply(this, given); };
        for (const text of ["w", "we", "web", "web-0"]) {
          field.value = text;
          field.dispatchEvent(new Event("input", { bubbles: true }));
          await new Promise((done) => setTimeout(done, 5));
        }
        document.querySelector(".table").scrollTop = 80;
      });
      await page.getByText(/^12 of \\d+ clusters/).first().waitFor();
      await page.waitForFunction(() => location.hash === "#/?q=web-0");
      const seen = await page.evaluate(() => ({ written: window.written, top: document.querySelector(".table").scrollTop }));
      await page.getByLabel("Search").fill("night");
      await page.getByRole("link", { name: "night-0000" }).click();
      await page.getByRole("heading", { name: "night-0000" }).waitFor();
      await page.goBack();
      await page.getByRole("link", { name: "night-0000" }).waitFor();
      return { ...seen, back: await page.evaluate(() => location.hash) };
    """)
    assert seen == {"written": ["#/?q=web-0"], "top": 80, "back": "#/?q=night"}


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


def test_an_element_that_another_row_gets_shows_only_that_row(world):
    """When most rows are new, as with another filter, they get the elements of the rows before."""
    read = """
      await page.getByRole("link", { name: args.first, exact: true }).waitFor();
      await page.waitForFunction((count) => document.querySelectorAll(".tbody [role=row]").length === count, args.count);
      return page.evaluate(() => {
        const before = window.before ?? [];
        window.before = [...document.querySelectorAll(".tbody [role=row]")];
        return { rows: window.before.map((one) => one.outerHTML.replace(/(<time[^>]*>)[^<]*/g, "$1")), again: window.before.filter((one) => before.includes(one)).length };
      });
    """
    world.open("anew")
    world.open("again")
    world.run("again", ALL_READ)
    for place, first, count, again in (("/?q=web-0", "web-0000", 12, None), ("/?q=night", "night-0000", 2, 2), ("/?phase=failed", "broken", 1, 1),
                                       ("/?q=web-0&sort=-name", "web-0011", 12, 1), ("/?q=night", "night-0000", 2, 2)):
        world.go("again", place)
        seen = world.run("again", read, first=first, count=count)
        assert again is None or seen["again"] == again, (place, seen["again"])
        world.go("anew", place)
        world.run("anew", "await page.reload();")
        # a cluster may change between two reads
        wait_until(lambda: world.run("anew", read, first=first, count=count)["rows"] == world.run("again", read, first=first, count=count)["rows"],
                   what="equal rows")


@pytest.mark.parametrize("pressed, again", [(".tbody [role=row]", 0), (".table", 2)])
def test_a_row_that_is_pressed_keeps_its_element(world, pressed, again):
    """The bar of the scroller is no part of a row; a browser may not say when it is let go."""
    world.open("pressed", "/?q=web-0")
    seen = world.run("pressed", ALL_READ + """
      const rows = (count) => page.waitForFunction((count) => document.querySelectorAll(".tbody [role=row]").length === count, count);
      await rows(12);
      await page.evaluate((pressed) => {
        window.before = [...document.querySelectorAll(".tbody [role=row]")];
        document.querySelector(pressed).dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
        location.hash = "/?q=night";
      }, args.pressed);
      await rows(2);
      return page.evaluate(() => [...document.querySelectorAll(".tbody [role=row]")].filter((one) => window.before.includes(one)).length);
    """, pressed=pressed)
    assert seen == again


def test_the_exact_time_under_the_pointer_follows_its_value(world):
    d = world.d
    d.wait_phase("shop", "ready")
    world.open("tip", "/?q=shop")
    before = world.run("tip", ALL_READ + """
      await page.locator(".tbody .row", { hasText: "shop" }).locator(".changed time").hover();
      await page.getByRole("tooltip").waitFor();
      return page.getByRole("tooltip").textContent();
    """)
    d.wait_operation(d.http.post(d.clusters_path("shop") + "/actions/reconcile").json()["operation"]["id"])
    after = world.run("tip", """
      await page.waitForFunction((before) => document.querySelector("[role=tooltip]").textContent !== before, args.before);
      return page.evaluate(() => [document.querySelector("[role=tooltip]").textContent,
        new Date(Number(document.querySelector(".cell.changed time").dataset.exact)).toISOString().slice(11, 19)]);
    """, before=before)
    assert after[0].endswith(f" {after[1]} UTC"), after


# The page measures by the clock of the server, so that clock follows the one that the test sets.
SERVER_IS_AS_LATE = """
      await page.addInitScript(() => {
        const get = Headers.prototype.get;
        Headers.prototype.get = function (name) { return name === "Date" ? new Date(Date.now()).toUTCString() : get.call(this, name); };
      });
"""


def test_clusters_in_trouble_for_some_time(world):
    """They appear by themselves when their trouble has lasted for so long."""
    d = world.d
    since = d.wait_phase("broken", "failed")["status"]["trouble_since"]
    assert since and d.http.get("/v1/clusters", params={"fields": "summary", "phase": "ready"}).json()["items"][0]["status"]["trouble_since"] is None
    seen = world.run("trouble", """
      await page.addInitScript((since) => {
        window.late = 0;
        Date.now = () => Date.parse(since) + 59 * 60_000 + window.late;
      }, args.since);
    """ + SERVER_IS_AS_LATE + LOGIN + ALL_READ + """
      const choose = (what) => page.getByLabel("In trouble").selectOption({ label: what });
      const count = (text) => page.locator("main").getByText(text).waitFor();
      await choose("Over 10 min");
      await count(/^1 of \\d+ clusters$/);
      const first = await page.locator(".tbody [role=row]").innerText();
      await choose("Over 1 h");
      await page.getByText("No cluster fits").waitFor();
      const url = page.url();
      await page.evaluate(() => { window.late = 2 * 60_000; });
      await count(/^1 of \\d+ clusters$/);
      await page.getByRole("button", { name: "Clear filters" }).click();
      await page.getByText("web-0000").waitFor();
      return { first, url, cleared: page.url() };
    """, since=since)
    assert seen["first"].startswith("broken") and seen["url"].endswith("#/?trouble=1h") and "trouble" not in seen["cleared"]


def test_a_browser_with_a_wrong_clock_shows_true_ages(world):
    """An hour behind: nothing is older than it is, and nothing happens in the future."""
    shown = world.run("behind", """
      await page.addInitScript(() => {
        const real = Date.now;
        Date.now = () => real() - 3_600_000;
      });
    """ + LOGIN + ALL_READ + """
      return page.locator(".tbody .changed time").allInnerTexts();
    """)
    assert shown and all(text.endswith(" ago") for text in shown), shown


def test_a_version_that_expires_is_counted_and_found_without_a_change(world):
    seen = world.run("expires", """
      await page.addInitScript(() => {
        const real = Date.now;
        window.late = 0;
        Date.now = () => real() + window.late;
      });
    """ + SERVER_IS_AS_LATE + """
      const at = new Date(Date.now() + 3_600_000).toISOString();
      await page.route(/v1\\/clusters\\?/, async (route) => {
        const response = await route.fetch();
        if (response.status() === 304) return route.fulfill({ response });
        const answer = await response.json();
        for (const one of answer.items) one.expires_at = one.name === "web-0001" ? at : null;
        await route.fulfill({ response, json: answer });
      });
    """ + LOGIN + ALL_READ + """
      const counts = () => page.locator(".of-mark .chip").allInnerTexts();
      await page.evaluate(() => { location.hash = "/?mark=expired"; });
      await page.getByText("No cluster fits").waitFor();
      const before = await counts();
      await page.evaluate(() => { window.late = 2 * 3_600_000; });
      await page.locator("main").getByText(/^1 of \\d+ clusters$/).waitFor();
      return { before, after: await counts(), row: await page.locator(".tbody [role=row]").innerText() };
    """)
    counted = [[one for one in seen[when] if "xpire" in one] for when in ("before", "after")]
    assert [[int("".join(filter(str.isdigit, one.splitlines()[-1]))) for one in some] for some in counted] == [[0, 1], [1, 0]], seen
    assert seen["row"].startswith("web-0001") and "Version expired" in seen["row"], seen


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


def test_a_long_table_is_virtual_and_keeps_the_focused_row(world):
    """The last one of this file: its clusters stay, as the daemon notices the end of so many of them only after a minute."""
    d, sim = world.d, world.sim
    sim.post("shoots", count=120, prefix="many", state="ready", project=OTHER_PROJECT)
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
      await page.waitForFunction(() => window.counts.at(-1) >= window.counts[0] + 16);
      return { ...box, counts: await page.evaluate(() => window.counts) };
    """)
    on_screen = jump["height"] / jump["row"]
    assert on_screen <= jump["counts"][0] <= on_screen + 3, "at first the rows on the screen and the one with the focus"
    assert jump["counts"] == [jump["counts"][0] + more for more in (0, 4, 8, 12, 16)], jump
    top = world.run("many", """
      for (let i = 0; i < 2; i++) await page.getByRole("columnheader", { name: "Cluster" }).getByRole("button").click();
      await page.locator('.tbody [aria-rowindex="2"]', { hasText: "many-0119" }).waitFor();
      return page.evaluate(() => document.querySelector(".table").scrollTop);
    """)
    assert top == 0, "another order begins at the top"

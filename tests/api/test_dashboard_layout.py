"""The layout of the dashboard in real Chromium: parts that stay in the window, parts that do not move when data changes, and narrow
screens."""

import json

import pytest

import browser
import harness
from dashboard_world import ALL_READ
from harness import wait_until

PHONE, DESK = 390, 1440
CLUSTERS = 60

LOGIN = """
  await page.setViewportSize({ width: args.width, height: args.height });
  await page.goto(args.url);
  await page.getByLabel("Token").fill(args.token);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Clusters", exact: true }).waitFor();
  await page.getByText("Live", { exact: true }).waitFor();
  await page.mouse.move(0, 0);
"""
GO = "await page.evaluate((place) => { location.hash = place; }, args.place);"
SCROLL = "await page.evaluate(() => scrollTo(0, document.body.scrollHeight)); await page.waitForFunction(() => scrollY > 200);"
# The height of the document, its scrolled part, and for each selector whether the element is in the window and nothing covers its beginning.
SEEN = """
  const seen = await page.evaluate((selectors) => {
    const isOnTop = (element) => {
      const box = element.getBoundingClientRect(), found = document.elementFromPoint(box.left + Math.min(box.width, 60) / 2, box.top + box.height / 2);
      return box.top >= 0 && box.bottom <= innerHeight && Boolean(found) && (element.contains(found) || found.contains(element));
    };
    return { height: document.documentElement.scrollHeight, top: scrollY, onTop: selectors.map((one) => isOnTop(document.querySelector(one))) };
  }, args.selectors);
"""
LONG_PAGE = "/audit?action=deleteCluster"  # it does not update itself
LONG = 40


class World(browser.World):
    """Many clusters, and a receiver of webhooks."""

    def __init__(self, directory):
        super().__init__(directory)
        self.receiver = harness.Receiver()
        made = self.d.http.post("/v1/webhooks", json={"url": self.receiver.url + "/hook/of/this/test", "event_types": ["operation.*"]})
        assert made.status_code == 201, made.text
        self.hook = made.json()["id"]
        self.sim.post("shoots", count=CLUSTERS, prefix="web", state="ready")
        self.wait_total(CLUSTERS)
        created = self.d.create("shop")
        self.d.wait_operation(created["operation"]["id"])
        for _ in range(LONG):
            assert self.d.http.delete(self.d.clusters_path("none")).status_code == 404

    def open(self, page, width, place="/", height=900):
        """Logs in with a window of this size and opens the place."""
        self.run(page, LOGIN + GO, width=width, height=height, place=place)

    def stop(self):
        super().stop()
        self.receiver.stop()


@pytest.fixture
def outage(world):
    """Cleura is away from the call of this to the end of the test."""
    yield lambda: world.sim.post("down", down=True)
    world.sim.post("down", down=False)
    world.d.wait_outage_over()


# ---- parts that stay in the window ----

@pytest.mark.parametrize("width", [PHONE, DESK])
def test_da5_the_age_and_the_trouble_stay_in_the_window(world, outage, width):
    """The page is scrolled to its end. Trouble that comes moves nothing, and the line of trouble opens the list of it."""
    world.open("strip", width, LONG_PAGE)
    before = world.run("strip", 'await page.locator("table.audit tbody tr").nth(args.last).waitFor();' + SCROLL + SEEN + """
      return { ...seen, text: await page.locator(".strip").innerText() };
    """, last=LONG - 1, selectors=[".connection > span", ".age"])
    assert before["onTop"] == [True] * 2 and "Live" in before["text"] and "Cleura read" in before["text"], before
    outage()
    after = world.run("strip", """
      await page.getByText("Project team-a:").waitFor();
      await page.getByText("and 1 more", { exact: true }).waitFor();
    """ + SEEN + """
      await page.locator(".trouble > summary").click();
      await page.locator(".trouble .notice").nth(1).waitFor();
      const shown = await page.locator(".trouble .notice").allInnerTexts();
      await page.keyboard.press("Escape");
      await page.locator(".trouble .notice").first().waitFor({ state: "detached" });
      return { ...seen, shown, focus: await page.evaluate(() => document.activeElement.tagName) };
    """, selectors=[".connection > span", ".age", ".trouble-text b"])
    assert after["onTop"] == [True] * 3 and (after["height"], after["top"]) == (before["height"], before["top"]), (before, after)
    assert len(after["shown"]) == 2 and all("Last answer" in text for text in after["shown"]) and after["focus"] == "SUMMARY", after


def test_wcag_2411_the_strip_covers_no_element_with_the_focus(world, outage):
    """The keyboard goes upwards from the end of a long page, also while the line of trouble is below the strip."""
    outage()
    world.open("covered", PHONE, LONG_PAGE)
    seen = world.run("covered", """
      await page.getByText("Project team-a:").waitFor();
      await page.locator("table.audit tbody tr").nth(args.last).locator("time").focus();
      const seen = [];
      for (let i = 0; i < 30; i++) {
        await page.keyboard.press("Shift+Tab");
        seen.push(await page.evaluate(() => {
          const one = document.activeElement, box = one.getBoundingClientRect(), covers = document.querySelector(".trouble > summary").getBoundingClientRect().bottom;
          return [one.textContent.slice(0, 30), Math.round(box.top - covers), box.bottom <= innerHeight, scrollY > 0];
        }));
      }
      return seen;
    """, last=LONG - 1)
    assert all(top >= 0 and inside for _, top, inside, _ in seen) and sum(scrolled for *_, scrolled in seen) > 20, seen


def test_a_project_that_was_never_read_is_mentioned(tmp_path):
    sim = harness.Sim(tmp_path)
    sim.post("down", down=True)
    d = harness.Shootd(tmp_path / "shootd", sim.url).start()
    chromium = browser.Chromium(tmp_path)
    try:
        args = {"url": d.url + "/", "token": d.token()}
        chromium.run("unread", LOGIN + 'await page.getByText("Cleura not read yet", { exact: true }).waitFor();', width=PHONE, height=900, **args)
        sim.post("down", down=False)
        d.wait_upstream()
        chromium.run("unread", 'await page.getByText(/^Cleura read \\d+ s ago$/).waitFor(); await page.getByText("Cleura not read yet").waitFor({ state: "detached" });', **args)
    finally:
        chromium.stop()
        d.stop()
        sim.stop()


def test_each_trouble_is_counted(world):
    """Of many projects with a problem or a freeze, the line has the first and the number of the others, and the list says how many it leaves out."""
    item = world.d.http.get("/v1/projects").json()["items"][0]
    open_ = {**item["upstream"], "breaker": "open", "last_error": "No answer"}
    frozen = {"scope": "all", "project": None, "reason": "Year end", "until": None, "since": "2026-03-01T12:00:00Z", "by": "admin"}
    items = [{**item, "name": f"bad-{i}", "upstream": open_} for i in range(23)] + [{**item, "name": f"held-{i}", "freeze": frozen} for i in range(25)]
    items.append({**item, "name": "new", "upstream": {**item["upstream"], "last_list_at": None}})
    world.run("many", 'await page.route(/v1\\/projects\\?/, (route) => route.fulfill({ contentType: "application/json", body: args.answer }));',
              answer=json.dumps({"items": items, "next_cursor": None}))
    world.open("many", DESK)
    shown = world.run("many", """
      await page.getByText("and 47 more", { exact: true }).waitFor();
      await page.getByText(/^, 1 project not yet$/).waitFor();
      await page.locator(".trouble > summary").click();
      await page.locator(".trouble .notice").nth(41).waitFor();
      return page.locator(".trouble .notice").allInnerTexts();
    """)
    assert len(shown) == 42 and shown[20] == "3 more projects have a problem with Cleura." and shown[-1] == "Changes of 5 more projects are frozen."


# ---- parts that do not move ----

# The places of the counts by their groups and names, and of the table.
PLACES = """
  return page.evaluate(() => {
    const at = (one) => { const box = one.getBoundingClientRect(); return [Math.round(box.left), Math.round(box.top)]; };
    return { chips: Object.fromEntries([...document.querySelectorAll(".of-phase .chip, .of-health .chip, .of-mark .chip")].map((one) =>
      [one.closest("[role=group]").ariaLabel + " " + one.textContent.replace(/[\\d,]+$/, ""), at(one)])), table: at(document.querySelector(".table")) };
  });
"""


@pytest.mark.parametrize("width", [PHONE, 1024, DESK])
def test_counts_that_come_and_go_move_nothing(world, width):
    world.open("counts", width)
    world.run("counts", ALL_READ + 'await page.getByText("web-0000").waitFor();')
    before = world.run("counts", PLACES)
    assert len(before["chips"]) == 21, sorted(before["chips"])
    world.sim.post("shoots", count=1, prefix="sleepy", state="hibernated")
    try:
        world.run("counts", 'await page.locator(".chip", { hasText: /^Hibernated1$/ }).waitFor();')
        after = world.run("counts", PLACES)
    finally:
        world.sim.http.delete("/_sim/shoots/sleepy-0000")
        wait_until(lambda: world.d.cluster("sleepy-0000").status_code == 404, what="it to be gone")
    world.run("counts", 'await page.locator(".chip", { hasText: /^Hibernated1$/ }).waitFor({ state: "detached" });')
    again = world.run("counts", PLACES)
    if width == PHONE:  # a line there has the counts above zero only
        before, after, again = (one["table"] for one in (before, after, again))
    assert before == after == again


# The rows on the screen with their distance from the upper edge of the table, and the number of all rows.
ON_SCREEN = """
  return page.evaluate(() => {
    const table = document.querySelector(".table"), edge = table.querySelector(".thead").getBoundingClientRect().bottom, end = table.getBoundingClientRect().bottom;
    const rows = [...document.querySelectorAll(".tbody [role=row]")].map((row) => [row.querySelector("a").textContent, Math.round(row.getBoundingClientRect().top - edge)]);
    return { rows: rows.filter(([, top]) => top > -30 && top < end - edge).sort((a, b) => a[1] - b[1]), count: Number(table.ariaRowCount), top: table.scrollTop };
  });
"""


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_da12_rows_that_come_above_a_scrolled_view_leave_it_where_it_is(world, width):
    world.open("anchor", width)
    world.run("anchor", ALL_READ + """
      await page.evaluate(() => { document.querySelector(".table").scrollTop = 1007; });
      await page.locator(".tbody").getByText("web-0026").waitFor();
    """)
    before = world.run("anchor", ON_SCREEN)
    assert before["top"] == 1007 and len(before["rows"]) > 5
    row = 56 if width == PHONE else 40
    waits = "await page.waitForFunction((count) => Number(document.querySelector('.table').ariaRowCount) === count, args.count);"
    world.sim.post("shoots", count=12, prefix="above", state="ready")
    try:
        world.run("anchor", waits, count=before["count"] + 12)
        after = world.run("anchor", ON_SCREEN)
    finally:
        for i in range(12):
            world.sim.http.delete(f"/_sim/shoots/above-{i:04}")
        world.wait_total(CLUSTERS + 1)
    assert after["rows"] == before["rows"] and after["top"] == 1007 + 12 * row, (before, after)
    world.run("anchor", waits, count=before["count"])
    assert world.run("anchor", ON_SCREEN) == before


# ---- paper, low windows, translated pages ----

def test_all_rows_are_on_paper(world):
    """Also when the table is scrolled; after the printing only rows near the screen are in the document again."""
    world.open("paper", DESK)
    names = sorted([f"web-{i:04}" for i in range(CLUSTERS)] + ["shop"])
    found = world.run("paper", ALL_READ + """
      await page.getByText("web-0000").waitFor();
      const rows = () => page.locator(".tbody [role=row]").count();
      const screen = await rows();
      await page.evaluate(() => { document.querySelector(".table").scrollTop = 1007; });
      const names = () => [...document.querySelectorAll(".tbody a")].map((one) => one.textContent);
      await page.evaluate(`addEventListener("beforeprint", () => { window.printed = (${names})(); }, { once: true })`);
      await page.pdf();
      const printed = await page.evaluate(() => window.printed);
      await page.emulateMedia({ media: "print" });
      await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
      await page.waitForFunction((count) => document.querySelectorAll(".tbody [role=row]").length === count, args.count);
      const paper = await page.evaluate(() => {
        const table = document.querySelector(".table"), boxes = [...document.querySelectorAll(".tbody [role=row]")].map((row) => row.getBoundingClientRect());
        return { names: [...document.querySelectorAll(".tbody a")].map((one) => one.textContent), cut: table.scrollHeight - table.clientHeight,
          overlap: boxes.filter((box, i) => i && box.top < boxes[i - 1].bottom - 1).length };
      });
      await page.emulateMedia({ media: null });
      await page.evaluate(() => dispatchEvent(new Event("afterprint")));
      await page.waitForFunction((count) => document.querySelectorAll(".tbody [role=row]").length < count, args.count);
      return { screen, paper, printed };
    """, count=len(names))
    assert found["screen"] < len(names) and sorted(found["printed"]) == sorted(found["paper"]["names"]) == names, found
    assert found["paper"]["cut"] == 0 and found["paper"]["overlap"] == 0, found


def test_in_a_low_window_the_wheel_goes_on_with_the_page_at_the_end_of_the_table(world):
    world.open("low", DESK, height=480)
    world.run("low", ALL_READ + """
      await page.getByText("web-0000").waitFor();
      await page.evaluate(() => { scrollTo(0, 0); const table = document.querySelector(".table"); scrollTo(0, table.getBoundingClientRect().top - 200); table.scrollTop = 0; });
      const box = await page.locator(".table").boundingBox();
      await page.mouse.move(box.x + 200, box.y + 100);
      const before = await page.evaluate(() => scrollY);
      await page.mouse.wheel(0, -120);
      await page.waitForFunction((before) => scrollY < before, before);
    """)


def test_a_browser_does_not_translate_the_page(world):
    """A translation replaces the texts that the page updates, and they would stay as they are."""
    world.open("words", DESK)
    assert world.run("words", "return page.evaluate(() => document.documentElement.translate);") is False


# ---- narrow screens ----

def test_on_a_phone_the_first_row_is_in_the_upper_part_and_settings_are_in_a_menu(world):
    world.open("phone", PHONE, height=844)
    seen = world.run("phone", ALL_READ + """
      const row = (await page.locator(".tbody [role=row]").first().boundingBox()).y;
      const hidden = await page.getByLabel("Theme").isVisible();
      await page.getByRole("button", { name: "Menu" }).click();
      await page.getByLabel("Theme").waitFor();
      const inside = await page.evaluate(() => [...document.querySelectorAll(".settings-body :is(select, button)")].map((one) => {
        const box = one.getBoundingClientRect(); return box.left >= 0 && box.right <= innerWidth && box.height >= 24; }));
      await page.getByRole("button", { name: "Log out" }).focus();
      await page.keyboard.press("Escape");
      await page.getByLabel("Theme").waitFor({ state: "hidden" });
      return { row, hidden, inside, focus: await page.evaluate(() => document.activeElement.textContent) };
    """)
    assert seen["row"] < 600 and seen["hidden"] is False and seen["inside"] == [True] * 4 and seen["focus"] == "Menu", seen


def test_on_a_phone_a_row_has_its_first_mark(world):
    world.run("marks", """
      await page.route(/v1\\/clusters\\?/, async (route) => {
        const response = await route.fetch();
        if (response.status() === 304) return route.fulfill({ response });
        const answer = await response.json();
        for (const one of answer.items) Object.assign(one, { drifted: one.name === "shop", stale: one.name === "shop" });
        await route.fulfill({ response, json: answer });
      });
    """)
    world.open("marks", PHONE)
    found = world.run("marks", """
      const row = page.locator(".row", { hasText: "shop" }), mark = row.locator(".first-mark");
      await mark.waitFor();
      const [own, around, text] = [await mark.boundingBox(), await row.boundingBox(), await mark.textContent()];
      await page.setViewportSize({ width: 1440, height: 900 });
      await mark.waitFor({ state: "hidden" });
      return { text, inside: own.x + own.width <= args.width && own.y >= around.y && own.y + own.height <= around.y + around.height,
        others: await page.locator(".first-mark").count() };
    """, width=PHONE)
    assert found == {"text": "Drifted", "inside": True, "others": 1}


def test_words_of_a_newer_server_stay_in_their_columns(world):
    """A phase, a health and a time that this page does not know; also all that it knows."""
    wide = {"phase": "waiting-for-approval-by-two-people", "health": "healthy-beside-two-old-nodes", "expires_at": "in the third week of next year",
            "updated_at": "a moment ago or even later", "kubernetes_version": "1.34.12345-alpha.1+build"}
    world.run("newer", """
      await page.route(/v1\\/clusters\\?/, async (route) => {
        const response = await route.fetch();
        if (response.status() === 304) return route.fulfill({ response });
        const answer = await response.json();
        const { phase, health, ...others } = args.wide;
        for (const one of answer.items) if (one.name === "shop") Object.assign(one, others, { status: { ...one.status, phase, health } });
        await route.fulfill({ response, json: answer });
      });
    """, wide=wide)
    world.open("newer", DESK)
    found = world.run("newer", ALL_READ + """
      const row = page.locator(".row", { hasText: "shop" });
      await row.getByText(args.wide.phase).waitFor();
      return { texts: await row.locator(".cell").allTextContents(), wide: await page.locator(".tbody .cell").evaluateAll((cells) =>
        cells.filter((one) => getComputedStyle(one).overflowX === "visible" && one.scrollWidth > one.clientWidth).map((one) => one.textContent)),
        high: await row.locator(".cell").evaluateAll((cells) => cells.filter((one) => one.getBoundingClientRect().height > 30).map((one) => one.textContent)) };
    """, wide=wide)
    assert found["texts"][1] == wide["phase"] and set(wide.values()) <= set(found["texts"]), found
    assert found["wide"] == [] and found["high"] == [], found


CARDS = {"/audit": "table.audit", "/accounts": "main table", "/webhooks/{hook}": ".attempts"}


@pytest.mark.parametrize("width", [320, PHONE])
@pytest.mark.parametrize("place", CARDS)
def test_on_a_phone_rows_of_tables_are_cards(world, place, width):
    """All of a table is in the window; a table keeps its roles, and the outcome of an entry comes first."""
    world.open("cards", width, place.format(hook=world.hook))
    found = world.run("cards", """
      const table = page.locator(args.table).first();
      if (args.place.startsWith("/webhooks")) await page.locator(".entry summary").first().click();
      await table.waitFor();
      return table.evaluate((table) => {
        const first = table.tBodies[0].rows[0], lines = [...first.cells].sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top);
        return { wide: table.parentElement.scrollWidth - table.parentElement.clientWidth, page: document.documentElement.scrollWidth - innerWidth,
          below: new Set(lines.map((cell) => Math.round(cell.getBoundingClientRect().left))).size, labels: lines.map((cell) => cell.dataset.label),
          heads: [...table.tHead.rows[0].cells].map((cell) => cell.textContent), roles: [table.role, first.role, ...new Set(lines.map((cell) => cell.role))].sort() };
      });
    """, table=CARDS[place], place=place)
    assert found["wide"] == 0 and found["page"] == 0 and found["below"] == 1, found
    assert sorted(found["labels"]) == sorted(found["heads"]) and found["roles"] == ["cell", "row", "rowheader", "table"], found
    assert found["labels"][0] == ("Outcome" if place == "/audit" else found["heads"][0]), found


def test_a_webhook_of_all_projects_says_that(world):
    world.open("projects", DESK, "/webhooks")
    assert "All projects" in world.run("projects", 'await page.locator(".card").waitFor(); return page.locator(".card").innerText();')


# ---- times ----

def test_exact_times_are_shown_in_both_zones_and_fit(world):
    """Also in the table of clusters. In lists the focus shows them."""
    world.open("times", DESK)
    fleet = world.run("times", ALL_READ + """
      await page.getByRole("button", { name: "Exact times" }).click();
      await page.locator(".cell.changed").getByText(/ UTC$/).first().waitFor();
      return page.evaluate(() => ({ texts: [...document.querySelectorAll(".cell.changed time")].map((one) => one.textContent),
        cut: [...document.querySelectorAll(".cell.changed, .cell.expires")].filter((one) => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight).length }));
    """)
    assert len(fleet["texts"]) > 5 and all(text.count(":") == 4 and text.endswith(" UTC") for text in fleet["texts"]) and fleet["cut"] == 0, fleet
    listed = world.run("times", """
      await page.evaluate(() => { location.hash = "/operations"; });
      await page.locator(".entry > time").first().waitFor();
      const over = await page.evaluate(() => [...document.querySelectorAll(".entry")].filter((one) =>
        one.querySelector("time").getBoundingClientRect().right > one.querySelector(".entry-name").getBoundingClientRect().left).length);
      const text = await page.locator(".entry > time").first().textContent();
      await page.getByRole("button", { name: "Exact times" }).click();
      await page.locator(".entry > time").first().getByText(/ ago$/).waitFor();
      await page.locator(".entry > time").first().focus();
      await page.getByRole("tooltip").waitFor();
      return { over, text, tip: await page.getByRole("tooltip").textContent() };
    """)
    assert listed["over"] == 0 and listed["text"].endswith(" UTC") and listed["tip"].replace(" · ", " ") == listed["text"], listed

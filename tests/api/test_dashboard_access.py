"""The dashboard for everybody, in real Chromium: by keyboard only, with axe, in all widths and both themes, with less motion."""

import os

import pytest

import browser
from dashboard_world import PLACES, World, visit  # noqa: F401 - shared_world makes a World

# The directory for pictures of the pages, see docs/dashboard.md.
PICTURES = os.environ.get("DASHBOARD_PICTURES")
# States of a page that a click or the focus shows.
OPEN = {"fleet": 'await page.getByText("Views", { exact: true }).click(); await page.getByLabel("Name of the view").waitFor();',
        "ready": 'await page.locator("main time[tabindex]").first().focus(); await page.getByRole("tooltip").waitFor();'}


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

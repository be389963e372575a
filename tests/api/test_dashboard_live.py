"""The dashboard while something changes: pages that were opened while the server was away, controls that disappear, texts for screen readers,
the end of a history, another version of the page."""

import json

import pytest

import browser
from browser import OTHER_PROJECT
from dashboard_world import ALL_READ, LISTEN, LIVE, LOGIN, SAID, World  # noqa: F401 - shared_world makes a World
from harness import wait_until

PROBLEM = 'await page.getByRole("group", { name: "Problem" }).waitFor();'


def test_pages_that_were_opened_while_the_server_was_away_appear_by_themselves(world):
    places = {"/events": ".entry", "/operations": ".entry", "/audit": "table.audit tbody tr", "/webhooks": ".card", f"/webhooks/{world.hooks['good']}": ".entry",
              "/accounts": ".facts", "/clusters/team-a/shop": ".state-panel"}
    for place in places:
        world.open(place)
        world.run(place, LIVE)
    world.d.kill()
    for place in places:
        world.run(place, "await page.getByText(/^Server away for/).waitFor();")
        world.go(place, place)
        world.run(place, PROBLEM)
    world.d.start()
    for place, there in places.items():
        left = world.run(place, """
          await page.locator(args.there).first().waitFor();
          return page.getByRole("group", { name: "Problem" }).count();
        """, there=there)
        assert left == 0, place


# ---- the focus ----

# The element with the focus, once it is the wanted one: its role or tag, and its name.
FOCUS = """
  const present = () => page.evaluate(() => {
    const one = document.activeElement;
    return [one.getAttribute("role") ?? one.localName, one.getAttribute("aria-label") ?? one.closest("label")?.firstElementChild.textContent ?? one.textContent].join(" ");
  });
  const deadline = Date.now() + 10_000;
  while ((await present()) !== args.wanted && Date.now() < deadline) await page.waitForTimeout(20);
  return present();
"""
PRESS = """
  const button = page.getByRole("button", { name: new RegExp(`^${args.button}$`) }).last();
  await button.waitFor();
  await button.focus();
  await page.keyboard.press("Enter");
"""


def focus(world, page, wanted):
    return world.run(page, FOCUS, wanted=wanted)


def press(world, page, button, wanted):
    """Presses this button, which disappears, and compares the element that has the focus then."""
    world.run(page, PRESS, button=button)
    assert focus(world, page, wanted) == wanted, button


@pytest.mark.parametrize("place, button, wanted", [
    ("/?phase=ready", "Clear filters", "input Search"), ("/?q=nothing", "Clear filters", "h1 Clusters"), ("/operations?status=failed", "Clear filters", "select Status"),
    ("/events?type=cluster.*", "Clear filters", "select Type"), ("/audit?action=nonsense", "Try again", "h1 Audit"),
    ("/accounts", "Show all 60 projects", "region Projects of {account}"), ("/events?type=operation.started", "Show older ones", "ul Events")])
def test_the_focus_goes_to_a_place_nearby_when_its_button_disappears(world, place, button, wanted):
    world.run("focus", """
      await page.route(/v1\\/projects\\?/, async (route) => {
        const response = await route.fetch(), all = await response.json();
        all.items = Array.from({ length: 60 }, (_, i) => ({ ...all.items[0], name: `team-${i}` }));
        await route.fulfill({ response, json: all });
      });
      // Two pages of events.
      await page.route(/v1\\/events\\?.*limit=100/, (route) => {
        const url = route.request().url();
        return route.continue({ url: url.replace("limit=100", url.includes("cursor=") ? "limit=1000" : "limit=1") });
      });
    """)
    world.open("focus", place)
    if place.startswith("/?"):
        world.run("focus", ALL_READ)  # before, the last of the buttons is the one beside the filters
    press(world, "focus", button, wanted.format(account=world.d.http.get("/v1/accounts").json()["items"][0]["name"]))


def test_the_focus_is_on_the_table_after_a_new_order_and_holds_it_no_longer(world):
    sim = world.sim
    world.open("order")
    world.run("order", ALL_READ + """
      await page.mouse.move(0, 0);
      await page.getByRole("link", { name: "web-0003", exact: true }).focus();
    """)
    sim.post("shoots", count=1, prefix="aaa", state="ready")
    press(world, "order", "Show the new order", "table Clusters")
    sim.post("shoots", count=1, prefix="aab", state="ready")
    world.run("order", 'await page.locator(".tbody", { hasText: "aab-0000" }).waitFor();')
    assert focus(world, "order", "table Clusters") == "table Clusters"
    for name in ("aaa-0000", "aab-0000"):
        sim.http.delete(f"/_sim/shoots/{name}")
    world.run("order", 'await page.locator(".tbody", { hasText: /aa[ab]-0000/ }).waitFor({ state: "detached" });')


def reconcile(world, name="shop"):
    world.d.wait_operation(world.d.http.post(world.d.clusters_path(name) + "/actions/reconcile").json()["operation"]["id"])


def test_the_focus_is_on_the_list_after_a_new_order_and_holds_it_no_longer(world):
    lists = {"/operations": "ul Operations", f"/webhooks/{world.hooks['good']}": "ul Deliveries"}
    for place in lists:
        world.open(place, place)
        world.run(place, 'await page.mouse.move(0, 0); await page.locator(".entry summary").first().focus();')
    reconcile(world)
    for place, wanted in lists.items():
        press(world, place, "Show the new order", wanted)
    counts = {place: world.run(place, 'return page.locator(".entry").count();') for place in lists}
    reconcile(world)
    for place, wanted in lists.items():
        world.run(place, 'await page.locator(".entry").nth(args.count).waitFor();', count=counts[place])
        assert focus(world, place, wanted) == wanted


def test_the_focus_is_on_the_events_after_new_ones_were_asked_for(world):
    world.open("news", "/events?type=cluster.*")
    world.run("news", LIVE + 'await page.locator(".entry").first().waitFor(); await page.getByRole("button", { name: "Hold the list" }).click();')
    world.sim.post("shoots", count=1, prefix="news", state="ready", project=OTHER_PROJECT)
    press(world, "news", "Show \\d+ new events?", "ul Events")
    world.sim.http.delete("/_sim/shoots/news-0000")
    wait_until(lambda: world.d.http.get("/v1/projects/team-b/clusters/news-0000").status_code == 404, what="it to be gone")


def test_the_focus_is_on_the_heading_after_a_kubeconfig_was_hidden(world):
    world.chromium.run("hide", LOGIN + 'await page.evaluate(() => { location.hash = "/clusters/team-a/shop"; }); await page.getByRole("button", { name: "Copy" }).click();',
                       url=world.d.url.replace("127.0.0.1", "shootd.test") + "/", token=world.d.token())
    press(world, "hide", "Hide", "h2 Kubeconfig")


# ---- what screen readers hear ----

def test_lists_say_their_number_and_a_refused_filter_its_reason(world):
    d = world.d

    def says_once(wanted, *changes):
        assert world.run("spoken", SAID, kind="change", changes=changes, wanted=wanted) == [wanted]

    def number(path, one, more, **query):
        page = d.http.get(path, params=query).json()
        count = len(page["items"])
        return f"{'More than ' if page['next_cursor'] else ''}{count} {one if count == 1 else more}"

    world.open("spoken", "/events")
    world.run("spoken", 'await page.locator(".entry").first().waitFor();' + LISTEN)
    says_once(number("/v1/events", "event", "events", type="cluster.created", order="desc", limit=100), ["Type", "cluster.created"])
    says_once("No event fits the filters yet. New events appear here.", ["Type", "freeze.ended"])

    world.go("spoken", f"/webhooks/{world.hooks['good']}")
    world.run("spoken", 'await page.locator(".entry").first().waitFor();')
    path = f"/v1/webhooks/{world.hooks['good']}/deliveries"
    says_once(number(path, "delivery", "deliveries", status="delivered", limit=50), ["Status", "delivered"])
    says_once("No delivery has this status.", ["Status", "failed"])

    world.go("spoken", "/audit")
    world.run("spoken", 'await page.locator("table.audit").waitFor();')
    says_once(d.http.get("/v1/audit", params={"action": "nonsense"}).json()["title"], ["Action", "nonsense"])
    says_once("No entry fits the filters.", ["Target", "nothing-like-this"], ["Action", "createCluster"])  # and the reason only once


def test_outages_are_in_the_summary_once(world):
    sim, d = world.sim, world.d

    def hears(wanted):
        """How often the next two summaries have this text. The clock of the page moves to both."""
        return world.run("outages", """
          const found = () => page.evaluate((wanted) => window.said.filter((text) => text.includes(wanted)).length, args.wanted);
          await page.clock.fastForward(10_000);
          const deadline = Date.now() + 20_000;
          while (!(await found()) && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
          await page.clock.fastForward(10_000);
          return found();
        """, wanted=wanted)

    world.run("outages", "await page.clock.install();" + LOGIN + LIVE + LISTEN)
    troubled = 'for (const name of ["team-a", "team-b"]) await page.locator(".trouble .menu-body").getByText(`Project ${name}:`).waitFor({ state: args.state });'
    sim.post("down", down=True)
    try:
        world.run("outages", 'await page.locator(".trouble > summary").click();' + troubled, state="visible")
        assert hears("2 projects have a problem with Cleura") == 1
    finally:
        sim.post("down", down=False)
    d.wait_outage_over()
    world.run("outages", "await page.clock.fastForward(10_000);" + troubled, state="detached")
    assert hears("No project has a problem with Cleura any more") == 1
    d.kill()
    try:
        world.run("outages", "await page.getByText(/^Server away for/).waitFor();")
        world.go("outages", "/audit")
        world.run("outages", PROBLEM)
        assert hears("The server does not answer") == 1, "the page and the connection say the same thing"
    finally:
        d.start()
    world.run("outages", LIVE + 'await page.locator("table.audit").waitFor();')
    assert hears("The server answers again") == 1


# ---- the page of a cluster ----

def test_the_history_of_a_cluster_follows_its_events_and_says_where_it_ends(world):
    """The entity tag of the cluster does not change here."""
    world.run("history", """
      await page.route(/clusters\\/shop$/, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, headers: { ...response.headers(), etag: '"same"' } });
      });
      await page.route(/clusters\\/shop\\/(events|operations)\\?/, (route) => route.continue({ url: route.request().url().replace("limit=50", `limit=${page.most ?? 50}`) }));
    """)
    world.open("history", "/clusters/team-a/shop")
    count = world.run("history", LIVE + """
      await page.locator(".timeline .of-operation").first().waitFor();
      return page.locator(".timeline .of-operation").count();
    """)
    older = world.run("history", 'return page.getByText("Older ones:").count();')
    events = world.d.http.get(world.d.clusters_path("shop") + "/events", params={"order": "desc", "limit": 50}).json()
    assert older == int(events["next_cursor"] is not None)
    reconcile(world)
    world.run("history", 'await page.locator(".timeline .of-operation").nth(args.count).waitFor();', count=count)
    world.run("history", 'page.most = 1; await page.reload(); await page.getByText("Older ones:").waitFor();')
    assert world.run("history", 'return page.locator(".timeline > li").count();') == 1, "two lists of one entry each, and the later end counts"


# ---- another version ----

CHECK = 'page.check = page.waitForResponse((one) => new URL(one.url()).pathname === "/" && one.request().resourceType() === "fetch");'
# The connection comes back, and the page has asked for the version.
COMES_BACK = CHECK + """
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("Paused", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await (await page.check).finished();
"""
OFFERED = 'await page.getByRole("complementary", { name: "Version" }).waitFor();'


def test_da37_a_page_offers_to_reload_when_the_server_has_another_version(world):
    d = world.d
    before = d.config.read_text()
    issuer = {"issuer": "https://login.example.com", "audience": "shootd", "algorithms": ["RS256"], "client_id": "page",
              "rules": [{"claim": "groups", "contains": "a", "role": "viewer", "projects": ["*"]}]}
    world.run("version", CHECK)
    world.open("version")
    world.run("version", "await (await page.check).finished();" + COMES_BACK + LIVE)
    assert world.run("version", 'return page.getByRole("complementary", { name: "Version" }).count();') == 0, "nothing has changed"
    try:
        d.reload(before + "oidc: " + json.dumps({"issuers": [issuer]}) + "\n")
        world.run("version", COMES_BACK + OFFERED)
        found = world.run("version", "return page.axe();") if browser.AXE.exists() else []
        assert not found, "\n".join(found)
        world.run("version", CHECK + PRESS + LIVE + "await (await page.check).finished();", button="Reload")
        assert world.run("version", 'return page.getByRole("complementary", { name: "Version" }).count();') == 0, "the loaded page is the new one"
    finally:
        d.reload(before)
    # The answer of another build: the script has another name.
    world.run("version", """
      await page.reload();
      await page.route((url) => url.pathname === "/", async (route) => {
        if (route.request().resourceType() !== "fetch") return route.continue();
        const response = await route.fetch();
        await route.fulfill({ response, body: (await response.text()).replace(/app-[0-9a-f]{12}/, "app-000000000000") });
      });
    """ + LIVE + COMES_BACK + OFFERED)

"""The frame of the dashboard in real Chromium: the login, roles, the stream that tabs share, and outages."""

import pytest

import harness
from dashboard_world import ENTRIES, LIVE, LOGIN, World, accessible, names  # noqa: F401 - shared_world makes a World
from harness import wait_until
from streams import Stream


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

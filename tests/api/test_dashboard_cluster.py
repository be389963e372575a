"""The page of one cluster in real Chromium: a create that is watched, its issues, drift, schedules and kubeconfigs."""

import pathlib
import re

from dashboard_world import ALL_READ, LOGIN, World, accessible  # noqa: F401 - shared_world makes a World


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
    world.open("gone", "/clusters/team-a/watched")
    world.run("gone", 'await page.waitForFunction(() => document.title === "watched · Ready · shootd");')
    deleted = d.http.delete(d.clusters_path("watched"))
    d.wait_operation(deleted.json()["operation"]["id"])
    world.run("gone", """
      await page.getByText("There is no such cluster").waitFor();
      await page.waitForFunction(() => document.title === "watched · shootd");
      await page.getByText("Read at Cleura").waitFor({ state: "detached" });
    """)
    world.run("live", 'await page.locator(".tbody", { hasText: "watched" }).waitFor({ state: "detached" });')


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


def test_what_could_not_be_read_is_read_again_and_is_not_shown_as_absent(world):
    world.run("lost", """
      await page.addInitScript(() => {
        window.claimed = [];
        const claims = ["No known issue.", "Nothing has happened yet.", "No operation is known."];
        new MutationObserver(() => window.claimed.push(...claims.filter((text) => document.body?.textContent.includes(text))))
          .observe(document, { childList: true, characterData: true, subtree: true });
      });
      page.isBroken = true;
      await page.route(/\\/clusters\\/broken\\/(issues|events|operations)|\\/v1\\/operations\\/op_/, (route) => page.isBroken ? route.abort() : route.continue());
    """)
    world.open("lost", "/clusters/team-a/broken")
    said = world.run("lost", """
      await page.getByText("The issues have not been read yet.").waitFor();
      await page.getByText("Some of the history has not been read yet.").waitFor();
      page.isBroken = false;
      await page.locator(".issue .action").first().waitFor();
      await page.locator(".timeline .of-event").first().waitFor();
      await page.locator(".timeline .of-operation").first().waitFor();
      return { claimed: await page.evaluate(() => window.claimed), unread: await page.getByText("not been read yet").count() };
    """)
    assert said == {"claimed": [], "unread": 0}


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
    for piece in ("The last change failed, and Cleura does not try again", "To do:", "warning", "ERR_INFRA_QUOTA_EXCEEDED", "failed"):
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

"""The lists of the dashboard in real Chromium: operations, events, webhooks with their deliveries, the audit log, and accounts."""

from browser import OTHER_PROJECT
from dashboard_world import ENTRIES, World, accessible  # noqa: F401 - shared_world makes a World
from harness import wait_until


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
      await page.locator(".tag.webhook-failing").waitFor();
      const cards = await page.locator(".card").allInnerTexts();
      await page.locator(".banners", { hasText: "last answer: 500" }).waitFor();
      await page.locator(".card", { hasText: "/hook/bad" }).getByRole("link").click();
      await page.locator(".entry").first().waitFor();
      return cards;
    """)
    assert all(any(word in card for card in cards) for word in ("/hook/good", "/hook/bad")) and all("operation.*" in card for card in cards)
    bad = next(card for card in cards if "/hook/bad" in card)
    assert "failing" in bad and "has accepted nothing for" in bad and "last answer: 500" in bad, bad
    assert "enabled" in next(card for card in cards if "/hook/good" in card)

    def oldest_failed():
        items = d.http.get(f"/v1/webhooks/{world.hooks['bad']}/deliveries").json()["items"]
        return items[-1] if items[-1]["attempt"] >= 2 else None

    wanted = wait_until(oldest_failed, what="a second attempt")
    seen = world.run("hooks", """
      const last = page.locator(".entry").last();
      await last.locator("summary").click();
      await last.locator(".attempts tbody tr").nth(1).waitFor();
      return { rows: await last.locator(".attempts tbody tr").evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent))),
        text: await last.innerText(), next: (await last.locator("summary .quiet").allInnerTexts()).join(" "),
        kinds: [...new Set(await page.locator(".entry summary .tag").evaluateAll((tags) => tags.map((tag) => tag.className)))] };
    """)
    assert [(row[0], row[2], row[3], row[4]) for row in seen["rows"]][: len(wanted["attempts"])] == [
        (str(i), str(one["response_status"]), f"{one['latency_ms']:,} ms", one["error"]) for i, one in enumerate(wanted["attempts"], 1)]
    assert "<img src=x" in seen["text"], "an admin sees the answer"
    assert f"{wanted['cluster']} {wanted['project']}" in " ".join(seen["text"].split()), "the cluster of the event"
    assert seen["kinds"] == ["tag status-late"], "nothing waits as usual behind a receiver that fails"
    assert "ago" not in seen["next"], "the next attempt is not in the past"
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

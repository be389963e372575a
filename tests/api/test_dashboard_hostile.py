"""Hostile texts in the dashboard, in real Chromium: markup, marks that turn the text direction, and 64 KB are shown as text. A report of
the content security policy or a script error fails any run."""

import pytest

import contract
from dashboard_world import HOSTILE, LOGIN, PLACES, World, visit  # noqa: F401 - shared_world makes a World
from harness import PROJECT_ID, wait_until


def test_a_request_to_another_server_is_a_fault(world):
    """The other tests rely on it: the page asks nobody but its own server."""
    with pytest.raises(AssertionError, match=r"asks http://127\.0\.0\.1"):
        world.run("elsewhere", "await page.goto(`http://127.0.0.1:${args.port}/`);", port=world.receivers["good"].server.server_address[1])


def test_da31_hostile_texts_are_text(world):
    """Markup, marks that turn the text direction, and long words in texts of users and of Cleura. Cleura's message has 64 KB; shootd keeps its
    beginning."""
    d, sim = world.d, world.sim
    world.put_shoots(lambda shoots: shoots.append({"name": "evil", "region": "Sto2", "project": PROJECT_ID, "state": "ready", "spec": {
        "floating_pool_name": HOSTILE[:200], "allowed_cidrs": [HOSTILE[:200]] * 50}}))
    d.wait_phase("evil", "ready")
    sim.post("lifecycle", shoot="shop", operation="reconcile", outcome="error_heals", at_progress=40, description=HOSTILE + "w" * 65536, heal_after_seconds=72000,
             codes=["ERR_INFRA_DEPENDENCIES"])
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
                    told: document.querySelector("main").textContent.includes("\\\\u202e") }));
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

"""Parts that tests of the dashboard in real Chromium share: clusters in several states, the login, and waits for what a page shows."""

import contextlib
import itertools

import browser
import harness
from browser import OTHER_PROJECT
from harness import wait_until

HOSTILE = "<img src=x onerror=alert(1)>\u202e</script><script>alert(2)</script>" + "w" * 300
LOGIN = """
  await page.goto(args.url);
  await page.getByLabel("Token").fill(args.token);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Clusters", exact: true }).waitFor();
"""
LIVE = 'await page.getByText("Live", { exact: true }).waitFor();'
# All clusters are there. Until then the first of them are shown, in an order that still changes.
ALL_READ = 'await page.locator("main").getByText(/^([\\d,]+ of )?[\\d,]+ clusters?$/).waitFor();'
# The names of the shown rows, from the top.
NAMES = """
  return page.evaluate(() => [...document.querySelectorAll('.tbody [role=row]')]
    .sort((a, b) => a.ariaRowIndex - b.ariaRowIndex).map((row) => row.querySelector('a').textContent));
"""
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
# Of each entry of a list: the name that it links to, and its summary.
ENTRIES = """
  await page.locator(".entry").first().waitFor();
  return page.evaluate(() => [...document.querySelectorAll(".entry")].map((one) => [one.querySelector(".entry-name a")?.textContent ?? "",
    (one.querySelector("summary") ?? one).textContent]));
"""
PLACES = {"fleet": "/", "trouble": "/?sort=trouble&phase=failed", "nothing": "/?q=nothing", "ready": "/clusters/team-a/shop", "failed": "/clusters/team-a/broken",
          "gone": "/clusters/team-a/none", "unknown": "/no/such/page", "operations": "/operations", "events": "/events?type=operation.*",
          "webhooks": "/webhooks", "webhook": "/webhooks/{bad}", "accounts": "/accounts", "audit": "/audit?action=createCluster,createWebhook"}
READY = {"fleet": "web-0000", "trouble": "broken", "nothing": "No cluster fits", "ready": "Healthy", "failed": "css=.issue .action", "gone": "no such cluster",
         "unknown": "no such page", "operations": "css=.entry >> nth=2", "events": "css=.entry >> nth=2", "webhooks": "css=.card >> nth=1",
         "webhook": "css=.entry", "accounts": "logged in", "audit": "css=table.audit"}


def names(world, page):
    return world.chromium.run(page, NAMES)


def accessible(world, page):
    """axe-core finds nothing in the page as it is now, in both themes."""
    if not browser.AXE.exists():
        return
    for theme in ("light", "dark"):
        found = world.chromium.run(page, "await page.emulateMedia({ colorScheme: args.theme }); return page.axe();", theme=theme)
        assert not found, f"{theme}\n" + "\n".join(found)


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

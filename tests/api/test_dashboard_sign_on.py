"""Single sign-on of the dashboard in real Chromium: an issuer of the test (issuers.py) with the authorization code flow, and a real provider."""

import json
import re
import shutil
import subprocess
import threading

import pytest

import browser
import harness
import issuers
from harness import ROOT, wait_until

HOSTILE = "<img src=x onerror=alert(1)>\u202e</script><script>alert(2)</script>"
SCOPES = ["openid", "api"]

# From the login page to the issuer; it sends the browser back at once.
CLICK = """
  await page.goto(args.url + (args.place ?? ""));
  await page.getByRole("button", { name: "Log in with " + args.issuer, exact: true }).click();
"""
IN = 'await page.getByRole("heading", { name: "Clusters", exact: true }).waitFor();'
# The reason on the login page, and what is left of the login.
REASON = """
  const reason = await page.getByRole("alert").textContent();
  return { reason, url: page.url(), stored: await page.evaluate(() => Object.keys(sessionStorage)),
    markup: await page.evaluate(() => document.images.length + document.scripts.length),
    turned: await page.evaluate(() => /[\\u202a-\\u202e]/.test(document.body.textContent)) };
"""
STORED = "return page.evaluate(() => ({ ...sessionStorage }));"


def wait_keys(d):
    wait_until(lambda: re.search(r"^shootd_oidc_keys [1-9]", d.http.get("/metrics").text, re.M), timeout=60, what="the keys of the issuer")


class World:
    def __init__(self, directory):
        browser.chromium()
        self.issuer = issuers.Issuer().start()
        self.sim = harness.Sim(directory)
        self.d = harness.Shootd(directory / "shootd", self.sim.url, extra=issuers.configuration(self.issuer.url, client_id="page", scopes=SCOPES)).start().wait_upstream()
        wait_keys(self.d)
        self.flow = issuers.CodeFlow(self.issuer, self.d.url)
        self.chromium = browser.Chromium(directory)

    def run(self, page, body, **args):
        return self.chromium.run(page, body, **{"url": self.d.url + "/", "issuer": self.issuer.url.removeprefix("http://"), **args})

    def reason(self, page, waits_for, **args):
        """Clicks, and returns the reason on the login page."""
        return self.run(page, CLICK + "await page.getByRole('alert').filter({ hasText: args.words }).waitFor();" + REASON, words=waits_for, **args)

    def stop(self):
        self.chromium.stop()
        self.d.stop()
        self.sim.stop()
        self.issuer.stop()


@pytest.fixture
def world(world):
    world.flow.reset()
    return world


def exchanges(world):
    return [form for path, form in world.issuer.forms if path == "/token"]


def test_a_login_and_a_reload_of_the_tab(world):
    d, flow = world.d, world.flow
    url = world.run("in", CLICK + IN + "return page.url();", place="#/?sort=name")
    assert url == d.url + "/#/?sort=name", "the place of before, and nothing of the answer"
    [asked], [form] = flow.asked, exchanges(world)
    assert asked == {**asked, "tenant": "t", "response_type": "code", "client_id": "page", "redirect_uri": d.url + "/", "scope": "openid api", "code_challenge_method": "S256"}
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{43}", asked[name]) for name in ("state", "nonce", "code_challenge"))
    assert set(form) == {"grant_type", "code", "redirect_uri", "client_id", "code_verifier"} and re.fullmatch(r"[A-Za-z0-9_-]{43}", form["code_verifier"])
    assert world.run("in", STORED) == {"shootd.token": flow.tokens[0]}, "the refresh token is in memory only, and the rest was used"
    seen = world.run("in", "await page.reload();" + IN + """
      await page.getByText("Live", { exact: true }).waitFor();
      return { who: await page.locator(".who-name").textContent(), cookies: await context.cookies(), local: await page.evaluate(() => localStorage.length) };
    """)
    assert seen == {"who": "oidc:alice", "cookies": [], "local": 0} and len(flow.asked) == len(exchanges(world)) == 1
    out = world.run("in", """
      await page.getByRole("button", { name: "Log out" }).click();
      await page.getByLabel("Token").waitFor();
    """ + STORED)
    assert out == {} and form["code"] not in d.log() and flow.tokens[0] not in d.log()
    assert world.run("in", CLICK + IN + STORED) == {"shootd.token": flow.tokens[1]}
    first, second = flow.asked
    assert all(first[name] != second[name] for name in ("state", "nonce", "code_challenge"))


def test_a_server_that_cannot_answer_now_ends_no_session(world):
    """Nobody could enter the token of an issuer again."""
    once = """
      let left = 2;
      await page.route(/\\/v1\\/whoami$/, (route) => left-- > 0 ? route.fulfill({ status: args.status, contentType: "application/problem+json",
        body: JSON.stringify({ type: "about:blank", title: "Busy", status: args.status, code: args.code, detail: "Later", responsible: "operator", advice: "", request_id: "r" }) })
        : route.fallback());
    """
    waits = 'await page.getByText("The server cannot answer now").waitFor();'
    world.run("busy", once + CLICK + waits + IN, status=429, code="too_many_requests")
    assert world.run("busy", once + "await page.reload();" + waits + IN + STORED, status=503, code="shutting_down") == {"shootd.token": world.flow.tokens[0]}
    assert len(world.flow.asked) == len(exchanges(world)) == 1


def test_an_open_page_goes_on_with_renewed_tokens(world):
    flow = world.flow
    flow.lasts = 6
    world.run("renewed", CLICK + IN)
    wait_until(lambda: len(flow.tokens) >= 3, what="two renewals")
    assert exchanges(world)[1:3] == [{"grant_type": "refresh_token", "refresh_token": f"refresh-{i}", "client_id": "page"} for i in (1, 2)]
    flow.lasts = 600
    count = len(flow.tokens)
    wait_until(lambda: len(flow.tokens) > count, what="a long one")
    wait_until(lambda: world.run("renewed", STORED) == {"shootd.token": flow.tokens[-1]}, what="the new token")
    world.run("renewed", 'await page.getByText("Live", { exact: true }).waitFor();')
    assert world.run("renewed", 'return page.getByRole("alert").count();') == 0


def test_a_renewal_that_failed_is_said_when_the_token_ends(world):
    d, flow = world.d, world.flow
    flow.lasts, flow.renewal = 4, (400, {"error": "invalid_grant", "error_description": HOSTILE})
    world.run("ends", CLICK + IN + 'await page.getByText("Live", { exact: true }).waitFor();')
    wait_until(lambda: len(exchanges(world)) == 2, what="the renewal")
    before = d.config.read_text()
    try:
        d.reload(re.sub(r"^oidc: .*\n", "", before, flags=re.M))
        said = world.run("ends", "await page.getByRole('alert').filter({ hasText: 'any more' }).waitFor();" + REASON)
    finally:
        d.reload(before)
        wait_keys(d)
    assert "could not be renewed" in said["reason"] and "<img src=x onerror=alert(1)>" in said["reason"]
    assert said["markup"] == 1 and not said["turned"] and said["stored"] == []
    assert len(exchanges(world)) == 2, "a refusal is final"


def test_a_person_who_refuses_and_a_hostile_description(world):
    world.flow.answer = lambda query: {"error": "access_denied", "error_description": HOSTILE, "state": query["state"]}
    said = world.reason("denied", "refused at")
    assert "<img src=x onerror=alert(1)>" in said["reason"] and "\\u202e" in said["reason"]
    assert (said["markup"], said["turned"], said["stored"], said["url"]) == (1, False, [], world.d.url + "/")
    world.flow.answer = lambda query: {"error": "temporarily_unavailable", "state": query["state"]}
    assert "temporarily_unavailable" in world.reason("denied", "failed")["reason"] and exchanges(world) == []


def test_an_answer_that_this_tab_did_not_ask_for(world):
    flow = world.flow
    foreign = "does not belong to a login of this tab"
    for change in ({"state": "another"}, {"state": ""}, {"iss": "https://another.example.com"}):
        flow.answer = lambda query, change=change: {**flow.grant(query), **change}
        said = world.reason("foreign", foreign)
        assert (said["url"], said["stored"]) == (world.d.url + "/", []), change
    for query in ("?code=c&state=s", "?error=x&error_description=Call+us&state=s", "?code=c"):
        said = world.run("foreign", "await page.goto(args.url + args.query); await page.getByRole('alert').waitFor();" + REASON, query=query)
        assert foreign in said["reason"] and "Call us" not in said["reason"] and said["url"] == world.d.url + "/"
    assert exchanges(world) == []
    flow.answer = flow.grant
    world.run("foreign", CLICK + IN)
    kept = world.run("foreign", "await page.goto(args.url + '?code=c&state=s');" + IN + "return page.url();")
    assert kept == world.d.url + "/" and len(exchanges(world)) == 1, "it ends no session"


# From the login page to a page of the issuer that stays, and back by the browser's button. The login page can be used again.
BACK = """
  await page.goto(args.url + "#/?sort=name");
  await page.evaluate(() => { window.left = true; });
  await page.getByRole("button", { name: "Log in with " + args.issuer, exact: true }).click();
  await page.waitForURL(/\\/stays\\?/);
  await page.evaluate(() => { setTimeout(() => history.back()); });
  await page.locator("button.primary", { hasText: /^Log in$/ }).waitFor();
  await page.getByRole("button", { name: "Log in with" }).waitFor();
  const buttons = () => page.locator("button").evaluateAll((all) => all.map((one) => [one.textContent, one.getAttribute("aria-disabled")]));
  const seen = { url: page.url(), same: await page.evaluate(() => window.left === true), buttons: await buttons(), alerts: await page.getByRole("alert").count(),
    open: await page.getByLabel("Token").isEditable(), stored: await page.evaluate(() => Object.keys(sessionStorage)) };
"""


@pytest.mark.parametrize("keeps", [False, True], ids=["a new page", "the page as it was"])
def test_back_from_the_issuer_by_the_browsers_button(world, tmp_path, keeps):
    """With the back/forward cache the page is the one that was left; without it the page begins anew. Playwright switches the cache off."""
    chromium = browser.Chromium(tmp_path, browser.WHOLE, without=["--disable-back-forward-cache"]) if keeps else world.chromium
    args = {"url": world.d.url + "/", "issuer": world.issuer.url.removeprefix("http://")}
    whole = world.issuer.discovery
    try:
        for way in ("sign on", "token"):
            world.issuer.discovery = whole | {"authorization_endpoint": world.issuer.url + "/stays"}
            seen = chromium.run("back", BACK + "return seen;", **args)
            assert seen == {"url": args["url"] + "#/?sort=name", "same": keeps, "buttons": [[f"Log in with {args['issuer']}", "false"], ["Log in", "false"]], "alerts": 0, "open": True,
                            "stored": ["shootd.login"]}
            world.issuer.discovery = whole
            if way == "sign on":
                chromium.run("back", 'await page.getByRole("button", { name: "Log in with" }).click();' + IN + 'await page.getByRole("button", { name: "Log out" }).click();')
                assert chromium.run("back", STORED) == {}
            else:
                chromium.run("back", 'await page.getByLabel("Token").fill(args.token); await page.keyboard.press("Enter");' + IN, token=world.d.token())
    finally:
        if keeps:
            chromium.stop()


def test_a_navigation_to_the_issuer_that_is_stopped(world):
    """The page has not been left, and no event reports that. Chromium runs nothing for a driver while a navigation is under way, so the
    page stops itself."""
    may_answer = threading.Event()
    world.issuer.pages["/authorize"] = lambda query: (may_answer.wait(60), world.d.url)[1]
    try:
        usable = world.run("stopped", """
          await page.clock.install();
          await page.goto(args.url);
          await page.getByRole("button", { name: "Log in with" }).waitFor();
          await page.evaluate(() => {
            navigation.addEventListener("navigate", () => setTimeout(() => (stop(), window.isStopped = true), 300));
            setTimeout(() => document.querySelector(".sign-on button").click());
          });
          while (!(await page.evaluate(() => window.isStopped)));
          const before = await page.getByText("One moment").count();
          await page.clock.fastForward(20_000);
          await page.locator("button.primary", { hasText: /^Log in$/ }).waitFor();
          return [before, await page.getByRole("button", { name: "Log in with" }).getAttribute("aria-disabled"), await page.getByLabel("Token").isEditable()];
        """)
    finally:
        may_answer.set()
    assert usable == [1, "false", True]


def test_issuers_on_one_host_have_names_of_their_own(world):
    before = world.d.config.read_text()
    one = issuers.configuration(world.issuer.url, client_id="page", scopes=SCOPES)
    both = json.loads(one.removeprefix("oidc: "))["issuers"]
    both += [{**both[0], "issuer": world.issuer.url + path} for path in ("/realms/it", "/realms/hr")]
    try:
        world.d.reload(before.replace(one, "oidc: " + json.dumps({"issuers": both}) + "\n"))
        names = world.run("names", """
          await page.goto(args.url);
          await page.getByRole("button", { name: "Log in with" }).nth(2).waitFor();
          return page.locator(".sign-on button").allTextContents();
        """)
    finally:
        world.d.reload(before)
        wait_keys(world.d)
    host = world.issuer.url.removeprefix("http://")
    assert names == [f"Log in with {host}{path}" for path in ("", "/realms/it", "/realms/hr")]


def test_an_id_token_of_another_login(world):
    flow, issue = world.flow, world.flow.issue
    flow.issue = lambda nonce=None: issue(nonce="another" if nonce else None)
    try:
        assert world.reason("nonce", "does not belong")["stored"] == []
    finally:
        del flow.issue


def test_an_issuer_that_is_down_or_allows_no_page(world):
    world.issuer.origin = "https://another.example.com"
    assert "Allow the origin of this page" in world.reason("down", "does not let this page read")["reason"] and world.flow.asked == []
    world.issuer.stop()
    try:
        assert world.reason("down", "does not answer")["stored"] == []
    finally:
        world.issuer.start()
    world.issuer.origin = world.d.url
    world.run("down", CLICK + IN)


def test_a_page_that_is_older_than_the_configuration(world):
    """Its policy names no issuer. The browser reports that, and the page says what to do."""
    before = world.d.config.read_text()
    try:
        world.d.reload(re.sub(r"^oidc: .*\n", "", before, flags=re.M))
        world.run("old", "await page.goto(args.url); await page.getByLabel('Token').waitFor();")
    finally:
        world.d.reload(before)
        wait_keys(world.d)
    others = world.run("old", """
      await page.getByLabel("Token").fill("shd_wrong");
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Log in with" }).click();
      await page.getByRole("alert").filter({ hasText: "older than the configuration" }).waitFor();
      return page.faults.splice(0).filter((fault) => !/connect-src|Content Security Policy/.test(fault));
    """)
    assert others == [] and world.flow.asked == []
    world.run("old", CLICK + IN)


@pytest.mark.parametrize("change, words", [
    ({"issuer": "https://another.example.com"}, "another issuer"),
    ({"authorization_endpoint": "javascript:alert(1)"}, "are not https"),
    ({"token_endpoint": "https://tokens.example.com/token"}, "is on another host"),
    ({"code_challenge_methods_supported": ["plain"]}, "PKCE"),
])
def test_an_issuer_that_cannot_be_used(world, change, words):
    world.issuer.discovery |= change
    world.reason("odd", words)
    assert world.flow.asked == []


@pytest.mark.parametrize("answer, words", [
    ((400, {"error": "invalid_client"}), "invalid_client"),
    ((500, b"<html>"), "status 500"),
    ((200, {"access_token": "x", "token_type": "DPoP"}), "no access token"),
    ((200, b"<html>" + b"x" * 100_000), "no access token"),
])
def test_an_exchange_that_fails(world, answer, words):
    world.issuer.posts["/token"] = lambda form: answer
    assert world.reason("fails", words)["stored"] == []


def test_a_token_that_shootd_refuses(world):
    for claims, words in (({"aud": "another"}, "does not accept its token"), ({"groups": ["others"]}, "No rule")):
        world.flow.claims = claims
        said = world.reason("refused", words)
        assert "worked" in said["reason"] and said["stored"] == []


def test_it_is_offered_in_secure_contexts_only(world):
    said = world.run("plain", """
      await page.goto(args.url.replace("127.0.0.1", "shootd.test"));
      await page.getByText("over https only").waitFor();
      return { secure: await page.evaluate(() => isSecureContext), buttons: await page.getByRole("button").allTextContents() };
    """)
    assert said == {"secure": False, "buttons": ["Log in"]}


def test_the_login_page_for_everybody(world):
    if not browser.AXE.exists():
        pytest.skip("dashboard/node_modules/axe-core is absent")
    for theme, width in (("light", 320), ("dark", 1440)):
        found = world.run("axe", """
          await page.emulateMedia({ colorScheme: args.theme });
          await page.setViewportSize({ width: args.width, height: 900 });
          await page.goto(args.url);
          await page.getByRole("button", { name: "Log in with" }).waitFor();
          return { axe: await page.axe(), wide: await page.evaluate(() => document.documentElement.scrollWidth - innerWidth) };
        """, theme=theme, width=width)
        assert found == {"axe": [], "wide": 0}, (theme, width)


def test_a_real_provider(make_sim, make_shootd, world):
    if not shutil.which("node") or not (ROOT / "tests/js/node_modules/oidc-provider").exists():
        pytest.skip("node or oidc-provider is absent; `make deps-test` installs them")
    port = harness.free_port()
    url = f"http://127.0.0.1:{port}"
    d = make_shootd(make_sim().url, extra=issuers.configuration(url, client_id="page", scopes=SCOPES, at_jwt_only=True)).start().wait_upstream()
    popen = subprocess.Popen(["node", "oidc_provider.mjs", str(port), issuers.AUDIENCE, d.url + "/"], cwd=ROOT / "tests/js", text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert next((line for line in popen.stdout if line.startswith("ready ")), None), "the provider ended"
        wait_keys(d)
        who = world.run("real", "await page.route(/googleapis/, (route) => route.abort());" + CLICK + """
          await page.locator('[name="login"]').fill("alice");
          await page.locator('[name="password"]').fill("any");
          await page.keyboard.press("Enter");
          await page.getByRole("button", { name: "Continue" }).click();
        """ + IN + 'return { who: await page.locator(".who-name").textContent(), url: page.url() };', url=d.url + "/", issuer=f"127.0.0.1:{port}")
        assert who == {"who": "oidc:alice", "url": d.url + "/"}
    finally:
        popen.stdin.close()
        popen.wait(30)

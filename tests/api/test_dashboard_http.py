"""The page at / as bytes: codings, ETags, caching, and permissions of the page in the browser. The other files test_dashboard*.py test its content."""

import json
import re
import subprocess

import pytest

import harness
import web
from harness import ROOT

BUILT = ROOT / "build/dashboard"
SCRIPT_MAX = 90 * 1024  # compressed script of the first view
SUFFIX = {"br": ".br", "gzip": ".gz", None: ""}
pytestmark = pytest.mark.skipif(not (BUILT / "index.html").exists(), reason="the dashboard was not built: npm or its registry was absent")


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """A client without a token."""
    directory = tmp_path_factory.mktemp("dashboard")
    sim = harness.Sim(directory)
    d = harness.Shootd(directory / "shootd", sim.url).start()
    with web.Client(base_url=d.url, timeout=30) as c:
        c.daemon = d
        yield c
    d.stop()
    sim.stop()


def raw(client, path, accept, **headers):
    """The answer with its body as sent, not decoded."""
    fields = {"Accept-Encoding": accept, **headers}
    with client.stream("GET", path, headers=fields) as answer:
        return answer, b"".join(answer.iter_raw())


def hashed():
    return sorted(p.name for p in BUILT.glob("*-*.*") if p.suffix in (".js", ".css", ".txt"))


def paths():
    return [("/", "index.html"), *((f"/dashboard/{name}", name) for name in hashed())]


@pytest.mark.parametrize("accept, coding", [
    ("br, gzip", "br"), ("gzip, deflate, br, zstd", "br"), ("gzip", "gzip"), ("gzip, deflate", "gzip"), ("*", "br"), ("br;q=0.5, gzip", "gzip"),
    ("br;q=0, gzip;q=0", None), ("identity", None), ("identity, gzip;q=0.5", None), ("zstd", None)])
def test_each_coding_is_sent_as_it_was_prepared(client, accept, coding):
    for path, name in paths():
        answer, body = raw(client, path, accept)
        assert answer.status_code == 200 and answer.headers.get("Content-Encoding") == coding, (path, dict(answer.headers))
        assert body == (BUILT / (name + SUFFIX[coding])).read_bytes() and int(answer.headers["Content-Length"]) == len(body)
        assert answer.headers["Vary"].split(", ") == ["Accept-Encoding"]


def test_the_forms_are_the_same_text(client):
    for _, name in paths():
        program = f"""const {{readFileSync}} = require("fs"), zlib = require("zlib"), of = (s) => readFileSync("{name}" + s);
            process.exit(of("").equals(zlib.brotliDecompressSync(of(".br"))) && of("").equals(zlib.gunzipSync(of(".gz"))) ? 0 : 1)"""
        assert subprocess.run(["node", "-e", program], cwd=BUILT, timeout=60).returncode == 0, name


def test_each_form_has_a_strong_tag_of_its_own(client):
    for path, _ in paths():
        tags = {}
        for accept in ("br", "gzip", "identity"):
            answer, _ = raw(client, path, accept)
            tags[accept] = answer.headers["ETag"]
            same, body = raw(client, path, accept, **{"If-None-Match": f'"other", {tags[accept]}'})
            assert same.status_code == 304 and not body and same.headers["ETag"] == tags[accept] and same.headers["Vary"] == "Accept-Encoding"
            assert same.headers["Cache-Control"] == answer.headers["Cache-Control"]
        assert len(set(tags.values())) == 3 and all(re.fullmatch(r'"[A-Za-z0-9_-]{22,32}"', tag) for tag in tags.values())
        other, _ = raw(client, path, "gzip", **{"If-None-Match": tags["br"]})
        assert other.status_code == 200, "the tag of another form is not this one's"
        assert client.get(path, headers={"If-Match": '"other"'}).status_code == 412


def test_the_page_is_asked_for_again_and_its_files_are_kept_for_ever(client):
    assert client.get("/").headers["Cache-Control"] == "no-cache"
    page = client.get("/").text
    for name in hashed():
        assert client.get(f"/dashboard/{name}").headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert name in page or name.startswith("licences-")
    for name in ("app-000000000000.js", "index.html", "x", "app"):
        absent = client.get(f"/dashboard/{name}")
        assert absent.status_code == 404 and absent.headers["Cache-Control"] == "no-store" and "another version" in absent.json()["detail"], name
    assert client.get("/dashboard").status_code == client.get("/dashboard/").status_code == 404


def test_heads_are_those_of_the_bodies(client):
    for path, _ in paths():
        head, got = client.head(path, headers={"Accept-Encoding": "gzip"}), raw(client, path, "gzip")[0]
        left_out = {"x-request-id", "date"}
        assert {k: v for k, v in head.headers.items() if k not in left_out} == {k: v for k, v in got.headers.items() if k not in left_out}
        assert not head.content
        assert client.post(path).status_code == 405


def test_da30_the_policy_of_the_page(client):
    for answer in (client.get("/"), client.get("/", headers={"If-None-Match": "*"})):
        policy = dict(part.split(" ", 1) for part in answer.headers["Content-Security-Policy"].split("; "))
        assert policy == {"default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "connect-src": "'self'",
                          "img-src": "'self' data:", "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'",
                          "require-trusted-types-for": "'script'", "trusted-types": "'none'"}
        assert answer.headers["X-Content-Type-Options"] == "nosniff" and answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    page = client.get("/").text
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|https?://(?!www\.w3\.org/2000/svg)", page), "nothing inline, nobody else"


def connections(answer):
    return re.search(r"connect-src ([^;]*);", answer.headers["Content-Security-Policy"])[1].split()


def issuer_of(url, **more):
    return {"issuer": url, "audience": "shootd", "algorithms": ["RS256"], "rules": [{"claim": "groups", "contains": "a", "role": "viewer", "projects": ["*"]}], **more}


def test_the_policy_names_the_issuers_of_the_configuration(client):
    """The policy has the origins of issuers with a client, each origin once. Another policy has another ETag, so no browser uses the old one."""
    d = client.daemon
    before, plain = d.config.read_text(), client.get("/")
    paged = {"client_id": "page"}
    several = [issuer_of("https://login.example.com:8443/realms/it", **paged), issuer_of("https://login.example.com:8443/realms/hr", **paged),
               issuer_of("https://machines.example.com"), issuer_of("http://127.0.0.1:9", **paged), issuer_of("http://[::1]:9", **paged)]
    long = [issuer_of(f"https://{i:02}.{'a' * 60}.{'b' * 60}.{'c' * 60}.example.com/" + "x" * 40, **paged) for i in range(16)]
    try:
        d.reload(before + "oidc: " + json.dumps({"issuers": several}) + "\n")
        some = client.get("/", headers={"If-None-Match": plain.headers["ETag"]})
        assert some.status_code == 200 and connections(some) == ["'self'", "https://login.example.com:8443", "http://127.0.0.1:9"]
        assert client.get("/", headers={"If-None-Match": some.headers["ETag"]}).status_code == 304
        others = [re.sub(r"connect-src [^;]*;", "", one.headers["Content-Security-Policy"]) for one in (plain, some)]
        assert others[0] == others[1]
        d.reload(before + "oidc: " + json.dumps({"issuers": long}) + "\n")
        many = client.get("/", headers={"If-None-Match": some.headers["ETag"]})
        assert many.status_code == 200 and connections(many) == ["'self'", *(one["issuer"].rsplit("/", 1)[0] for one in long)]
    finally:
        d.reload(before)
    again = client.get("/")
    assert connections(again) == ["'self'"] and again.headers["ETag"] == plain.headers["ETag"]


def test_an_issuer_may_send_the_browser_back_with_any_query(client):
    for query in ("?code=abc&state=x&session_state=y", "?error=access_denied&error_description=%3Cb%3E", "?a=%zz&&&"):
        assert client.get("/" + query).text == client.get("/").text, query
    assert client.get(f"/dashboard/{hashed()[0]}?code=abc").status_code == 400


def test_types_and_sizes(client):
    kinds = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".txt": "text/plain; charset=utf-8"}
    script = 0
    for name in hashed():
        answer, body = raw(client, f"/dashboard/{name}", "br")
        assert answer.headers["Content-Type"] == kinds["." + name.rsplit(".", 1)[1]] and answer.headers["X-Content-Type-Options"] == "nosniff"
        script += len(body) if name.endswith(".js") else 0
    assert 0 < script <= SCRIPT_MAX, f"{script} bytes of compressed script"
    assert client.get("/").headers["Content-Type"] == "text/html; charset=utf-8"
    licences = client.get(f"/dashboard/{next(n for n in hashed() if n.startswith('licences-'))}").text
    assert "preact " in licences and "MIT" in licences


def test_it_is_switched_off_by_the_configuration_also_while_it_runs(client):
    d = client.daemon
    config = d.config.read_text()
    try:
        assert d.reload(config + "dashboard: false\n")["changed"] == ["dashboard"]
        for path, _ in paths():
            refused = client.get(path)
            assert refused.status_code == 404 and "dashboard: false" in refused.json()["detail"]
    finally:
        d.reload(config)
    assert client.get("/").status_code == 200

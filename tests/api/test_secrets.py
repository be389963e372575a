"""Show 7: no secret in logs, database, metrics, errors or events (all of them are searched for known secrets)."""

import base64
import json
import re

from harness import Shootd, wait_until

PASSWORD = "canary-pass-5f1e9c"


def everything(d, answers):
    """All bytes that a reader of the installation could see, by place."""
    places = {"log": d.log_path.read_bytes(), "answers": "\n".join(answers).encode()}
    for path in d.state.iterdir():
        if path.name not in ("admin-token", "seal.key"):
            places[path.name] = path.read_bytes()
    return places


def test_canaries(make_sim, make_shootd, receiver):
    sim = make_sim(login="demo", password=PASSWORD)
    d = make_shootd(sim.url, password=PASSWORD).start()
    answers = []

    def get(path, **more):
        answer = d.http.get(path, **more)
        answers.append(answer.text)
        return answer

    hook = d.http.post("/v1/webhooks", json={"url": receiver.url}).json()
    token = d.http.post("/v1/tokens", json={"name": "t", "role": "admin", "projects": ["*"]}).json()["token"]
    d.create("dev")
    d.wait_phase("dev", "ready")
    kubeconfig = d.http.get(d.clusters_path("dev") + "/kubeconfig").json()["kubeconfig"]
    key = re.search(r"client-key-data: (\S+)", kubeconfig).group(1)
    certificate = re.search(r"client-certificate-data: (\S+)", kubeconfig).group(1)
    # Causes errors on every path that handles a secret.
    sim.fault("kubeconfig_v3", "status", status=500, count=1, body=json.dumps({"error": {"code": 500, "message": "x"}}))
    get(d.clusters_path("dev") + "/kubeconfig", params={"ttl_seconds": 7200})
    sim.fault("create_token", "status", status=400, count=2,
              body=json.dumps({"error": {"code": 400, "message": f"invalid password {PASSWORD}"}}))
    sim.post("tokens/expire")  # the next login is refused
    sim.fault("list_shoots", "garbage", count=2)
    answers.append(d.http.get("/v1/whoami", headers={"Authorization": "Bearer " + d.token()[:-1] + "x"}).text)
    for path in ("/metrics", "/v1/projects", "/v1/projects/team-a", "/v1/projects/team-a/catalog", "/v1/clusters",
                 "/v1/operations", "/v1/events", "/v1/webhooks", "/v1/webhooks/" + hook["id"], "/v1/tokens",
                 "/v1/whoami", "/version", "/readyz?verbose", d.clusters_path("dev")):
        get(path)
    wait_until(lambda: "refused" in d.log() or "login" in d.log(), what="login trouble in the log")
    wait_until(lambda: receiver.received, what="webhooks")
    d.stop()

    secrets = {"password": PASSWORD, "api token": token, "admin token": d.token(), "webhook secret": hook["secret"],
               "webhook key": hook["secret"].removeprefix("whsec_"), "client key": key[:60],
               "client key, decoded": base64.b64decode(key)[30:80].decode("latin-1"),
               "client certificate": certificate[:60]}
    for where, content in everything(d, answers).items():
        for name, secret in secrets.items():
            assert secret.encode("latin-1") not in content, f"{name} in {where}"
    for delivery in receiver.received:
        assert hook["secret"].encode() not in delivery["body"]
    tokens = [r for r in sim.get("requests")["items"]]
    assert tokens, "the simulator saw calls"


def test_upstream_token_is_not_in_clear(sim, shootd):
    shootd.create("dev")
    shootd.wait_phase("dev", "ready")
    live = sim.get("state")
    shootd.stop()
    candidates = set(re.findall(r"[a-z0-9]{32}", json.dumps(live)))
    content = b"".join(p.read_bytes() for p in shootd.state.iterdir()) + shootd.log_path.read_bytes()
    row = re.search(rb'"sealed_token":"([^"]+)"', content)
    assert row and len(row.group(1)) > 40
    for c in candidates:
        if c not in ("00112233445566778899aabbccddeeff",):
            assert c.encode() not in content


def test_files_are_private(shootd):
    for path in shootd.state.iterdir():
        assert path.stat().st_mode & 0o077 == 0, path

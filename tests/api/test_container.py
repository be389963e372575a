"""The container image and the manifests for Kubernetes. The test makes the file tree of the image and runs it as its user; it checks the
manifests against their schemas and with kubectl."""

import base64
import copy
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import yaml

import harness
from contract import DOCUMENT
from harness import BUILD, ROOT, SANITIZED, wait_until
from raw import Raw, request

USER = 65532
# The user, the group, and fsGroup, which is an additional group of the process: as in the manifest, and as OpenShift chooses them.
IDENTITIES = {"of the image": (USER, USER, USER), "picked by the platform": (1000670000, 0, 1000670000)}
MANIFESTS = ROOT / "deploy/kubernetes"
CONTAINER = (ROOT / "Containerfile").read_text()


def documents():
    return [doc for path in sorted(MANIFESTS.glob("*.yaml")) for doc in yaml.safe_load_all(path.read_text())]


def of_kind(kind):
    return next(doc for doc in documents() if doc["kind"] == kind)


# ---- the image -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    if os.geteuid():
        pytest.skip("needs root: the tree has files of another user, and is entered")
    path = tmp_path_factory.mktemp("image") / "tree"
    subprocess.run([ROOT / "tools/image_tree.sh", BUILD / "shootd", path], check=True, timeout=120)
    return path


def test_the_tree_holds_nothing_that_runs_besides(tree):
    programs = [p for p in tree.rglob("*") if p.is_file() and not p.is_symlink() and os.access(p, os.X_OK) and ".so" not in p.name]
    assert programs == [tree / "usr/bin/shootd"]
    owned = {str(p.relative_to(tree)) for p in tree.rglob("*") if p.stat().st_uid == USER}
    assert owned == {"var/lib/shootd"}
    assert "BEGIN CERTIFICATE" in (tree / "etc/ssl/certs/ca-certificates.crt").read_text()
    copyrights = {p.parent.name for p in tree.glob("usr/share/doc/*/copyright")}
    assert len(copyrights) > 10 and copyrights >= {"libc6", "zlib1g", "libcurl4"}


def listed(tree):
    """The libraries that the loader of the tree finds for shootd, as ldd lists them."""
    loader, = tree.rglob("ld-linux*")
    return subprocess.run(["chroot", tree, f"/{loader.relative_to(tree)}", "--list", "/usr/bin/shootd"], capture_output=True, text=True, timeout=60)


@pytest.mark.skipif(SANITIZED, reason="a sanitizer wants more than the image holds")
def test_the_loader_of_the_tree_finds_every_library(tree):
    needed = set(re.findall(r"NEEDED +(\S+)$", subprocess.run(["objdump", "-p", BUILD / "shootd"], capture_output=True, text=True, check=True).stdout, re.M))
    run = listed(tree)
    found = dict(re.findall(r"^\s*(\S+) => (/\S+) \(0x[0-9a-f]+\)$", run.stdout, re.M))
    assert run.returncode == 0 and "not found" not in run.stdout, run
    assert len(needed) > 10 and needed <= set(found) and {path for path in found.values() if not (tree / path[1:]).is_file()} == set(), run
    taken = tree / found["libjansson.so.4"][1:]
    taken.rename(tree / "taken")
    try:  # the check can fail
        assert listed(tree).returncode and "libjansson.so.4" in listed(tree).stderr
    finally:
        (tree / "taken").rename(taken)


@pytest.mark.skipif(SANITIZED, reason="the size is that of the release build")
def test_the_page_states_the_size_of_the_tree(tree):
    size = sum(p.stat().st_size for p in tree.rglob("*") if p.is_file() and not p.is_symlink()) / 2**20
    stated = set(re.findall(r"\bimage of (\d+) MiB", (ROOT / "docs/operations.md").read_text()))
    assert len(stated) == 1 and abs(size - int(stated.pop())) < 1.5, size


ENTER = """
set -e
tree=$1 config=$2 credentials=$3 user=$4 group=$5 volume_group=$6
mount --bind "$tree" "$tree"
mount --bind "$config" "$tree/etc/shootd"
mount --bind "$credentials" "$tree/run/credentials/shootd"
mount -t tmpfs -o "mode=2775,uid=0,gid=$volume_group,size=64m" state "$tree/var/lib/shootd"
mount -t proc proc "$tree/proc"
mount -o remount,bind,ro "$tree"
shift 6
exec chroot --userspec="$user:$group" --groups="$volume_group" "$tree" "$@"
"""


@pytest.mark.skipif(SANITIZED, reason="a sanitizer wants more than the image holds")
@pytest.mark.parametrize("user, group, volume_group", IDENTITIES.values(), ids=IDENTITIES)
def test_a_cluster_lives_in_the_image(tree, sim, tmp_path, user, group, volume_group):
    """A read-only root, a user that the image does not know, the configuration of the ConfigMap, and a volume as Kubernetes mounts it
    (owned by a group)."""
    port = harness.free_port()
    config, credentials = tmp_path / "etc", tmp_path / "credentials"
    for directory in (config, credentials):
        directory.mkdir()
    tmp_path.chmod(0o755)
    text = of_kind("ConfigMap")["data"]["shootd.yaml"]
    text = text.replace("0.0.0.0:8080", f"0.0.0.0:{port}").replace("LOGIN_AT_CLEURA", "demo").replace("PROJECT_ID_AT_CLEURA", "00112233445566778899aabbccddeeff").replace("cloud: public", f"url: {sim.url}\n    min_spacing: 1ms")
    (config / "shootd.yaml").write_text(text + "polling: {active: 200ms, idle: 1s, discovery: 2s}\n")
    # a file of a Secret: a link, readable by the group of the pod
    (credentials / "..data").mkdir()
    (credentials / "..data/cleura-main").write_text("demo\n")
    os.chown(credentials / "..data/cleura-main", 0, volume_group)
    (credentials / "..data/cleura-main").chmod(0o440)
    (credentials / "cleura-main").symlink_to("..data/cleura-main")
    entry = json.loads(re.search(r"^ENTRYPOINT (.*)$", CONTAINER, re.M)[1]) + json.loads(re.search(r"^CMD (.*)$", CONTAINER, re.M)[1])
    environment = {"CREDENTIALS_DIRECTORY": re.search(r"^ENV CREDENTIALS_DIRECTORY=(.*)$", CONTAINER, re.M)[1], "PATH": os.environ["PATH"]}
    process = harness.Process(["unshare", "--mount", "--propagation", "private", "sh", "-c", ENTER, "sh", tree, config, credentials, str(user), str(group), str(volume_group),
                               *entry],
                              tmp_path / "log", env=environment)
    inside = pathlib.Path(f"/proc/{process.pid}/root")
    health = json.loads(re.search(r"HEALTHCHECK .*CMD (.*)$", CONTAINER, re.M)[1])

    def inside_run(*command):
        """Runs a command as `exec` in a container does."""
        return subprocess.run(["chroot", f"--userspec={user}:{group}", f"--groups={volume_group}", inside, *command],
                              capture_output=True, text=True, env=environment, timeout=20)

    try:
        token = inside / "var/lib/shootd/state/admin-token"
        wait_until(token.exists, what="the first token")
        d = harness.Shootd(tmp_path / "client", sim.url)
        d.url, d.process = f"http://127.0.0.1:{port}", process
        d.state = token.parent
        d.wait_ready()
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        assert f"Uid:\t{user}\t" in status and f"Gid:\t{group}\t" in status and re.search(r"^CapEff:\s+0+$", status, re.M)
        assert (d.state.stat().st_uid, d.state.stat().st_mode & 0o777) == (user, 0o700)
        said = inside_run(*health)
        assert said.returncode == 0 and "store" in said.stdout, said
        made = inside_run("/usr/bin/shootd", "admin-token", "--config", "/etc/shootd/shootd.yaml")
        assert made.returncode == 0, made
        assert d.http.get("/v1/whoami", headers={"Authorization": "Bearer " + made.stdout.strip()}).json()["role"] == "admin"
        made = d.create("dev")
        assert d.wait_operation(made["operation"]["id"])["status"] == "succeeded"
        assert json.loads(process.text().splitlines()[-1])["level"] in ("info", "debug", "warning")
        d.config = config / "shootd.yaml"
        d.config.write_text(d.config.read_text().replace("idle: 1s", "idle: 2s"))
        assert d.http.post("/v1/reload").json() == {"changed": ["polling.idle"], "restart_needed": []}
        gone = d.http.delete(d.clusters_path("dev")).json()
        assert d.wait_operation(gone["operation"]["id"])["status"] == "succeeded"
        d.http.close()
    finally:
        process.popen.send_signal(getattr(signal, re.search(r"^STOPSIGNAL (.*)$", CONTAINER, re.M)[1]))
        assert process.popen.wait(30) == 0, process.text()[-4000:]


def health(d):
    return subprocess.run([BUILD / "shootd", "--config", d.config, "--health"], capture_output=True, text=True, timeout=30)


def listening(d, on):
    """The daemon on a port or on a Unix socket, and a connection to it."""
    if on == "port":
        d.start()
        return Raw(d.port)
    d.start_on(d.directory / "socket")
    return Raw(path=d.directory / "socket")


@pytest.mark.parametrize("on", ["port", "socket"])
def test_health(sim, make_shootd, on):
    d = make_shootd(sim.url)
    with listening(d, on):
        well = health(d)
    assert (well.returncode, well.stderr) == (0, "") and "[+]store ok\n" in well.stdout and well.stdout.endswith("ok\n")
    d.stop()
    gone = health(d)
    where = f"127.0.0.1:{d.port}" if on == "port" else f"unix:{d.directory}/socket"
    assert (gone.returncode, gone.stdout) == (1, "") and f"no answer from {where}: " in gone.stderr


@pytest.mark.parametrize("on", ["port", "socket"])
def test_health_of_what_is_not_ready(sim, make_shootd, on):
    """A 503 answer counts as unhealthy. The store accepts no changes, because no data can be written (a limit of the file size replaces a full disk)."""
    d = make_shootd(sim.url)
    with listening(d, on) as connection:
        assert health(d).returncode == 0
        before = resource.prlimit(d.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(d.process.pid, resource.RLIMIT_FSIZE, (0, before[1]))
        try:
            connection.send(request("POST", "/v1/tokens", "Content-Type: application/json", token=d.token(),
                                    body='{"name": "late", "role": "viewer", "projects": ["*"]}'))
            unwell = wait_until(lambda: (asked := health(d)).returncode and asked, what="the state of the store")
        finally:
            resource.prlimit(d.process.pid, resource.RLIMIT_FSIZE, before)
        assert (unwell.returncode, unwell.stderr) == (1, "") and "[-]store failed: " in unwell.stdout and unwell.stdout.endswith("failed\n")
        wait_until(lambda: health(d).returncode == 0, timeout=40, what="the store to recover")


def test_the_image_is_built_of_what_is_here():
    stages = CONTAINER.split("\nFROM ")
    assert [s.split()[0] for s in stages[1:]] == ["debian:12", "scratch"]
    assert "USER 65532:65532" in stages[2] and "RUN" not in stages[2]
    assert "tools/image_tree.sh build/shootd /image" in stages[1]


# ---- manifests -------------------------------------------------------------------------------------------------


def test_manifests_fit_their_schemas():
    node = shutil.which("node")
    if not node or not (ROOT / "tests/js/node_modules/kubernetes-models").exists():
        pytest.skip("node or its packages are absent; `make deps-test` installs them")

    def validated(docs):
        return subprocess.run([node, "validate_manifests.mjs"], cwd=ROOT / "tests/js", input=json.dumps(docs), capture_output=True, text=True, timeout=60)
    docs = documents()
    assert {d["kind"] for d in docs} == {"Namespace", "ConfigMap", "StatefulSet", "Service", "NetworkPolicy", "PodMonitor"}
    good = validated(docs)
    assert (good.returncode, good.stdout) == (0, ""), good
    for i, doc in enumerate(docs):  # the check can fail
        if doc["kind"] in ("ConfigMap", "Namespace"):
            continue
        wrong = copy.deepcopy(doc)
        wrong["spec"] = [wrong["spec"]]
        assert validated(docs[:i] + [wrong] + docs[i + 1:]).returncode == 1, doc["kind"]


def test_the_pod_is_restricted():
    """Pod security level `restricted`, which the namespace enforces."""
    assert of_kind("Namespace")["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    pod = of_kind("StatefulSet")["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True and pod["securityContext"]["runAsUser"] == USER
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"} and pod["automountServiceAccountToken"] is False
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod)
    assert all(set(v) - {"name"} <= {"configMap", "secret", "persistentVolumeClaim"} for v in pod["volumes"])
    for container in pod["containers"]:
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False and context["readOnlyRootFilesystem"] is True
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert container["resources"]["limits"]["memory"]


def seconds_of(probe):
    """The seconds after which the probe counts as failed, with the defaults of Kubernetes."""
    return probe.get("periodSeconds", 10) * probe.get("failureThreshold", 3)


def test_the_probes_ask_what_the_daemon_answers():
    pod = of_kind("StatefulSet")["spec"]["template"]["spec"]
    container, = pod["containers"]
    probes = {kind: container[f"{kind}Probe"] for kind in ("startup", "readiness", "liveness")}
    for kind, probe in probes.items():
        asked = probe["httpGet"]
        assert asked["port"] in {p["name"] for p in container["ports"]} and asked.get("scheme", "HTTP") == "HTTP" and "host" not in asked, kind
        assert DOCUMENT["paths"][asked["path"]]["get"]["security"] == [], f"{kind}: the kubelet has no token"
    # A restart does not repair a store that accepts no changes or that is being upgraded.
    assert {kind: probe["httpGet"]["path"] for kind, probe in probes.items()} == {"startup": "/readyz", "readiness": "/readyz", "liveness": "/livez"}
    assert seconds_of(probes["startup"]) >= 300 and seconds_of(probes["liveness"]) >= 30
    assert all(probe.get("initialDelaySeconds", 0) == 0 for probe in probes.values()), "the startup probe holds back the others"
    unit = (ROOT / "systemd/shootd.service").read_text()
    assert pod["terminationGracePeriodSeconds"] >= int(re.search(r"^TimeoutStopSec=(\d+)$", unit, re.M)[1])


def test_the_volume_is_of_the_group_of_the_pod():
    stateful = of_kind("StatefulSet")["spec"]
    pod = stateful["template"]["spec"]
    context = pod["securityContext"]
    assert context["fsGroup"] == context["runAsGroup"] == USER
    # By default the kubelet makes the whole volume writable for the group at each mount; shootd refuses such a state directory.
    assert context["fsGroupChangePolicy"] == "OnRootMismatch"
    assert not {"runAsUser", "runAsGroup", "fsGroup"} & set(pod["containers"][0]["securityContext"]), "one identity, and OpenShift may replace it"
    claim, = stateful["volumeClaimTemplates"]
    mounts = {m["name"]: m for m in pod["containers"][0]["volumeMounts"]}
    assert not mounts[claim["metadata"]["name"]].get("readOnly") and claim["spec"]["accessModes"] == ["ReadWriteOnce"]
    secret, = [v["secret"] for v in pod["volumes"] if "secret" in v]
    assert secret["defaultMode"] == 0o440, "the group of the pod may read it, others not"
    assert all(m["readOnly"] for name, m in mounts.items() if name != claim["metadata"]["name"])


def test_names_resolve_behind_the_network_policy():
    """CoreDNS listens on 53, in shoots of Gardener on 8053, and node-local DNS has an address of the node."""
    dns = of_kind("NetworkPolicy")["spec"]["egress"][0]
    assert {(p["port"], p["protocol"]) for p in dns["ports"]} == {(port, kind) for port in (53, 8053) for kind in ("UDP", "TCP")}
    assert {"ipBlock": {"cidr": "169.254.20.10/32"}} in dns["to"] and any("podSelector" in peer for peer in dns["to"])


def test_the_manifests_agree():
    stateful = of_kind("StatefulSet")["spec"]
    container = stateful["template"]["spec"]["containers"][0]
    config = yaml.safe_load(of_kind("ConfigMap")["data"]["shootd.yaml"])
    labels = stateful["template"]["metadata"]["labels"]
    for selector in (stateful["selector"]["matchLabels"], of_kind("Service")["spec"]["selector"],
                     of_kind("NetworkPolicy")["spec"]["podSelector"]["matchLabels"], of_kind("PodMonitor")["spec"]["selector"]["matchLabels"]):
        assert selector.items() <= labels.items()
    assert config["listen"].endswith(f":{container['ports'][0]['containerPort']}") and stateful["replicas"] == 1
    mounts = {m["name"]: m["mountPath"] for m in container["volumeMounts"]}
    assert config["state_dir"].startswith(mounts["state"] + "/")
    assert config["accounts"][0]["password_file"].startswith(mounts["credentials"] + "/")
    assert {"name": "CREDENTIALS_DIRECTORY", "value": mounts["credentials"]} in container["env"]
    assert container["image"] == "shootd:" + (ROOT / "VERSION").read_text().strip()
    assert {d["metadata"].get("namespace", "shootd") for d in documents()} == {"shootd"}


RESOURCES = {"v1": {"namespaces": "Namespace", "configmaps": "ConfigMap", "services": "Service"}, "apps/v1": {"statefulsets": "StatefulSet"},
             "networking.k8s.io/v1": {"networkpolicies": "NetworkPolicy"}, "monitoring.coreos.com/v1": {"podmonitors": "PodMonitor"}}


class ApiServer(BaseHTTPRequestHandler):
    """A part of an API server, as much as kubectl needs for a dry run: the list of kinds, and answers that an object does not exist."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, doc):
        body = json.dumps(doc).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path = self.path.split("?")[0].strip("/")
        groups = [v for v in RESOURCES if "/" in v]
        if path == "api":
            return self.answer(200, {"kind": "APIVersions", "versions": ["v1"]})
        if path == "apis":
            return self.answer(200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": [
                {"name": v.split("/")[0], "versions": [{"groupVersion": v, "version": "v1"}], "preferredVersion": {"groupVersion": v, "version": "v1"}}
                for v in groups]})
        version = path.removeprefix("apis/").removeprefix("api/")
        if version in RESOURCES:
            return self.answer(200, {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": [
                {"name": name, "singularName": "", "namespaced": kind != "Namespace", "kind": kind, "verbs": ["create", "get", "list", "patch"]}
                for name, kind in RESOURCES[version].items()]})
        return self.answer(404, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404, "message": "not found"})


def test_the_secret_of_the_page_is_the_one_that_the_pod_mounts(tmp_path):
    """The command of docs/operations.md, unchanged; its dry run needs no server."""
    if not shutil.which("kubectl"):
        pytest.skip("kubectl is absent; `make deps-test` installs it")
    command = re.search(r"^    \$ (kubectl .* create secret .*)$", (ROOT / "docs/operations.md").read_text(), re.M)[1]
    password = tmp_path / "password"
    password.write_text("demo\n")
    run = subprocess.run([*command.replace("=FILE", f"={password}").split(), "--dry-run=client", "-o", "json", "--server=http://127.0.0.1:9"],
                         capture_output=True, text=True, timeout=60, env={**os.environ, "HOME": str(tmp_path), "KUBECONFIG": "/dev/null"})
    assert run.returncode == 0, run.stderr
    made = json.loads(run.stdout)
    pod = of_kind("StatefulSet")["spec"]["template"]["spec"]
    mounted = next(v for v in pod["volumes"] if "secret" in v)
    assert (made["kind"], made["metadata"]["name"]) == ("Secret", mounted["secret"]["secretName"])
    assert made["metadata"]["namespace"] == of_kind("StatefulSet")["metadata"]["namespace"]
    assert {name: base64.b64decode(data) for name, data in made["data"].items()} == {"cleura-main": b"demo\n"}
    where = next(m["mountPath"] for c in pod["containers"] for m in c["volumeMounts"] if m["name"] == mounted["name"])
    account, = yaml.safe_load(of_kind("ConfigMap")["data"]["shootd.yaml"])["accounts"]
    assert account["password_file"] == f"{where}/cleura-main"


def test_kubectl_takes_them(tmp_path):
    if not shutil.which("kubectl"):
        pytest.skip("kubectl is absent; `make deps-test` installs it")
    server = ThreadingHTTPServer(("127.0.0.1", 0), ApiServer)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        run = subprocess.run(["kubectl", f"--server=http://127.0.0.1:{server.server_address[1]}", f"--cache-dir={tmp_path}", "apply", "--dry-run=client",
                              "--validate=false", "-f", MANIFESTS], capture_output=True, text=True, timeout=120, env={**os.environ, "HOME": str(tmp_path), "KUBECONFIG": "/dev/null"})
    finally:
        server.shutdown()
        server.server_close()
    assert run.returncode == 0, run.stderr
    assert sorted(run.stdout.splitlines()) == sorted(
        ["namespace/shootd created (dry run)", "configmap/shootd created (dry run)", "statefulset.apps/shootd created (dry run)", "service/shootd created (dry run)",
         "networkpolicy.networking.k8s.io/shootd created (dry run)", "podmonitor.monitoring.coreos.com/shootd created (dry run)"])

"""GET credential and format=exec: kubeconfigs without secrets that run plain curl."""

import base64
import json
import os
import re
import shutil
import socket
import subprocess

import pytest
import yaml

from harness import hostile_home, wait_until

from raw import Raw, request

BEGIN = "-----BEGIN "


@pytest.fixture
def cluster(shootd, generation, make_shootd, sim):
    d = shootd if generation == "v2" else make_shootd(sim.url, name="v1", api="v1").start()
    d.create("dev")
    d.wait_phase("dev", "ready")
    return d


def test_a_credential_is_that_of_the_kubeconfig(cluster):
    path = cluster.clusters_path("dev")
    file = yaml.safe_load(cluster.http.get(path + "/kubeconfig", params={"format": "yaml"}).text)
    answer = cluster.http.get(path + "/credential")
    assert answer.status_code == 200, answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    credential = answer.json()
    assert (credential["apiVersion"], credential["kind"]) == ("client.authentication.k8s.io/v1beta1", "ExecCredential")
    status, user = credential["status"], file["users"][0]["user"]
    assert status["clientCertificateData"] == base64.b64decode(user["client-certificate-data"]).decode()
    assert status["clientKeyData"] == base64.b64decode(user["client-key-data"]).decode()
    assert status["clientCertificateData"].startswith(BEGIN) and status["clientKeyData"].startswith(BEGIN)
    assert status["expirationTimestamp"] == cluster.http.get(path + "/kubeconfig").json()["expires_at"]
    # A second request gets the same credential, and makes no new call to Cleura.
    assert cluster.http.get(path + "/credential").json() == credential


def test_an_exec_kubeconfig_holds_no_secret_and_curl_gets_the_credential(cluster, tmp_path):
    path = cluster.clusters_path("dev")
    header = tmp_path / "header file"
    header.write_text(f"Authorization: Bearer {cluster.token()}\n")
    whole = yaml.safe_load(cluster.http.get(path + "/kubeconfig", params={"format": "yaml", "ttl_seconds": 900}).text)
    answer = cluster.http.get(path + "/kubeconfig",
                              params={"format": "exec", "header_file": str(header), "ttl_seconds": 900})
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == "application/yaml" and answer.headers["Cache-Control"] == "no-store"
    file = yaml.safe_load(answer.text)
    assert file["clusters"][0]["cluster"] == whole["clusters"][0]["cluster"]
    user = file["users"][0]["user"]
    assert list(user) == ["exec"] and "key" not in answer.text.replace("apiKey", "") and BEGIN not in answer.text
    exec_ = user["exec"]
    assert exec_["command"] == "curl" and exec_["apiVersion"] == "client.authentication.k8s.io/v1beta1"
    run = subprocess.run([exec_["command"], *exec_["args"]], capture_output=True, text=True, timeout=30)
    assert run.returncode == 0, run.stderr
    got = json.loads(run.stdout)
    assert got["status"] == cluster.http.get(path + "/credential", params={"ttl_seconds": 900}).json()["status"]
    # A refusal makes the command fail without output.
    header.write_text("Authorization: Bearer shd_wrong\n")
    refused = subprocess.run([exec_["command"], *exec_["args"]], capture_output=True, text=True, timeout=30)
    assert refused.returncode != 0 and not refused.stdout and "401" in refused.stderr


def test_neither_a_curlrc_nor_a_silent_server_can_spoil_the_command(cluster, tmp_path):
    """Settings in ~/.curlrc would add text before the credential and print the token. With a silent server only the command's own
    timeout ends it."""
    header = tmp_path / "header"
    header.write_text(f"Authorization: Bearer {cluster.token()}\n")
    answer = cluster.http.get(cluster.clusters_path("dev") + "/kubeconfig", params={"format": "exec", "header_file": str(header)})
    exec_ = yaml.safe_load(answer.text)["users"][0]["user"]["exec"]
    environment = {**os.environ, **hostile_home(tmp_path / "home")}
    run = subprocess.run([exec_["command"], *exec_["args"]], capture_output=True, text=True, timeout=30, env=environment)
    assert run.returncode == 0 and json.loads(run.stdout)["kind"] == "ExecCredential", run.stdout + run.stderr
    assert run.stderr == ""
    limits = {option: exec_["args"].index(option) + 1 for option in ("--connect-timeout", "--max-time")}
    assert [exec_["args"][at] for at in limits.values()] == ["10", "40"], "an answer of shootd takes 32 s at most"
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        args = list(exec_["args"])
        args[limits["--max-time"]] = "0.3"
        args[-1] = args[-1].replace(f":{cluster.port}/", f":{silent.getsockname()[1]}/")
        run = subprocess.run([exec_["command"], *args], capture_output=True, text=True, timeout=30, env=environment)
    assert run.returncode == 28 and run.stdout == "", "curl's code for a time that is over"


def kubectl_version():
    said = subprocess.run(["kubectl", "version", "--client", "-o", "json"], capture_output=True, text=True, timeout=60, check=True)
    return tuple(int(re.match(r"\d+", json.loads(said.stdout)["clientVersion"][part])[0]) for part in ("major", "minor"))


@pytest.mark.parametrize("version", [None, "v1beta1", "v1"])
def test_kubectl_takes_an_exec_kubeconfig(cluster, tmp_path, version):
    """kubectl reads the file, runs the command, and then fails to connect to the server, which does not exist."""
    if version == "v1" and kubectl_version() < (1, 22):
        version = "v1beta1"  # the only version that kubectl of Debian 12 knows
    header, file = tmp_path / "header", tmp_path / "config"
    header.write_text(f"Authorization: Bearer {cluster.token()}\n")
    file.write_text(cluster.http.get(cluster.clusters_path("dev") + "/kubeconfig",
                                     params={"format": "exec", "header_file": str(header),
                                             **({"api_version": version} if version else {})}).text)
    kubectl = shutil.which("kubectl")
    view = subprocess.run([kubectl, "--kubeconfig", file, "config", "view", "-o", "json"], capture_output=True,
                          text=True, timeout=60, check=True)
    view = json.loads(view.stdout)
    assert view["current-context"] == "team-a--dev"
    assert view["users"][0]["user"]["exec"]["command"] == "curl"
    assert view["users"][0]["user"]["exec"]["apiVersion"] == "client.authentication.k8s.io/" + (version or "v1beta1")
    # The simulated API server does not exist, so kubectl uses a closed port of this machine.
    before = cluster.log().count("/credential")
    run = subprocess.run([kubectl, "--kubeconfig", file, "--server", "https://127.0.0.1:9", "--request-timeout", "30s",
                          "get", "--raw", "/version"], capture_output=True, text=True, timeout=60,
                         env={**os.environ, **hostile_home(tmp_path)})
    assert run.returncode != 0 and "127.0.0.1:9" in run.stderr, run.stderr
    wait_until(lambda: cluster.log().count("/credential") > before, what="the line of the call")


def test_the_address_is_the_one_that_the_client_used_or_the_configured_one(sim, make_shootd):
    d = make_shootd(sim.url, extra="public_url: https://shootd.example.com/api/\n").start()
    d.create("dev")
    d.wait_phase("dev", "ready")
    answer = d.http.get(d.clusters_path("dev") + "/kubeconfig", params={"format": "exec"})
    file = yaml.safe_load(answer.text)
    args = file["users"][0]["user"]["exec"]["args"]
    name = "team-a--dev@shootd.example.com"  # the name includes this server, because another server may have a cluster of the same name
    assert file["current-context"] == name
    assert [file[list_][0]["name"] for list_ in ("clusters", "contexts", "users")] == [name] * 3
    assert file["contexts"][0]["context"] == {"cluster": name, "user": name}
    assert args[-1] == "https://shootd.example.com/api/v1/projects/team-a/clusters/dev/credential"
    assert "@/etc/shootd/authorization" in args


def exec_of(answer):
    assert answer.status == 200, answer
    return yaml.safe_load(answer.body)["users"][0]["user"]["exec"]["args"][-1]


def test_the_address_is_a_whole_one_or_the_answer_is_400(cluster):
    token, path = cluster.token(), cluster.clusters_path("dev") + "/kubeconfig"
    fields = f"Authorization: Bearer {token}\r\n"

    def ask(head):
        with Raw(cluster.port) as raw:
            return raw.send(head).read()
    without = ask(f"GET {path}?format=exec HTTP/1.0\r\n{fields}\r\n")
    assert without.status == 400 and without.code == "invalid_parameter", without
    assert [(f["header"], f["code"]) for f in without.json()["errors"]] == [("Host", "missing")]
    both = ask(f"GET {path}?format=exec&header_file=x HTTP/1.0\r\n{fields}\r\n")
    assert [f["code"] for f in both.json()["errors"]] == ["wrong_form", "missing"], "all at once"
    assert ask(f"GET {path}?format=yaml HTTP/1.0\r\n{fields}\r\n").status == 200, "where no address is needed"
    old = exec_of(ask(f"GET {path}?format=exec HTTP/1.0\r\nHost: old:81\r\n{fields}\r\n"))
    assert old == "http://old:81" + path.replace("kubeconfig", "credential")
    for host in ("shootd", "shootd.example.com:8080", "127.0.0.1:65535", "a%2db", "[::1]:80", "[fe80::1%25eth0]"):
        url = exec_of(ask(request("GET", path + "?format=exec", token=token, host=host)))
        assert url.startswith(f"http://{host}/v1/projects/")
    for host in ("a:b", "a:1:2", "a:", ":80", "a:65536", "a:123456", "[::1", "::1", "[]", "[::1]x", "a]", "a/b", "a%2", "a%zz", "a@b", "a b", "a?b", "a\"b"):
        refused = ask(request("GET", path + "?format=exec", token=token, host=host))
        assert refused.status == 400, (host, refused)


@pytest.mark.parametrize("listen", ["0.0.0.0", "[::]"])
def test_without_public_url_a_server_for_others_gives_no_address(sim, make_shootd, listen):
    """The Host field of the request would decide where the token is sent."""
    d = make_shootd(sim.url, name="open")
    d.config.write_text(d.config.read_text().replace(f"listen: 127.0.0.1:{d.port}", f"listen: '{listen}:{d.port}'"))
    d.start()
    d.create("dev")
    d.wait_phase("dev", "ready")
    path = d.clusters_path("dev") + "/kubeconfig"
    for host in (f"127.0.0.1:{d.port}", "shootd.attacker.example"):
        refused = d.http.get(path, params={"format": "exec"}, headers={"Host": host})
        assert refused.status_code == 400 and refused.json()["code"] == "invalid_parameter", refused.text
        fault = refused.json()["errors"][0]
        assert (fault["parameter"], fault["code"], fault["valid"]) == ("format", "not_configured", ["json", "yaml"])
        assert "public_url" in fault["detail"] and "attacker" not in refused.text
    assert d.http.get(path, params={"format": "yaml"}).status_code == 200
    d.stop()
    d.config.write_text(d.config.read_text() + "public_url: https://shootd.example.com\n")
    d.start()
    answer = d.http.get(path, params={"format": "exec"}, headers={"Host": "shootd.attacker.example"})
    assert answer.status_code == 200 and "attacker" not in answer.text and "https://shootd.example.com/v1/" in answer.text


def test_parameters_of_the_credential_are_in_its_address(cluster):
    path = cluster.clusters_path("dev") + "/kubeconfig"
    for params, wanted in (({}, ""), ({"ttl_seconds": 900}, "?ttl_seconds=900"),
                           ({"min_remaining_seconds": 0}, "?min_remaining_seconds=0"),
                           ({"min_remaining_seconds": 60, "ttl_seconds": 900}, "?ttl_seconds=900&min_remaining_seconds=60"),
                           ({"api_version": "v1"}, "?api_version=v1"),
                           ({"api_version": "v1beta1", "ttl_seconds": 900}, "?ttl_seconds=900&api_version=v1beta1")):
        answer = cluster.http.get(path, params={"format": "exec", **params})
        exec_ = yaml.safe_load(answer.text)["users"][0]["user"]["exec"]
        url = exec_["args"][-1]
        assert url.partition("/credential")[2] == wanted, params
        credential = cluster.http.get(url)
        assert credential.status_code == 200 and credential.json()["apiVersion"] == exec_["apiVersion"], "one version for both"
        assert exec_["apiVersion"] == "client.authentication.k8s.io/" + params.get("api_version", "v1beta1")


def test_faults_of_the_parameters_are_named(shootd):
    path = shootd.clusters_path("dev") + "/kubeconfig"
    for params, code in (({"format": "exec", "header_file": "~/x"}, "wrong_form"),
                         ({"header_file": "/x"}, "conflict"),
                         ({"api_version": "v1"}, "conflict"),
                         ({"format": "exec", "api_version": "v1alpha1"}, "unknown_value"),
                         ({"format": "toml"}, "unknown_value")):
        answer = shootd.http.get(path, params=params)
        assert answer.status_code == 400 and answer.json()["errors"][0]["code"] == code, answer.text
    assert answer.json()["errors"][0]["valid"] == ["json", "yaml", "exec"]
    assert shootd.http.get(shootd.clusters_path("dev") + "/credential").status_code == 404


def test_the_address_of_the_cluster_is_known_once_a_kubeconfig_was_fetched(sim, make_shootd):
    """Cleura's v2 does not report the address. shootd takes it from the kubeconfig, and shows it to all readers, also after a restart."""
    d = make_shootd(sim.url, api="v2").start()
    d.create("dev")
    assert d.wait_phase("dev", "ready")["status"]["api_server_url"] is None
    d.http.get(d.clusters_path("dev") + "/kubeconfig")
    url = wait_until(lambda: d.cluster("dev").json()["status"]["api_server_url"], what="the address")
    assert url.startswith("https://") and url in d.http.get(d.clusters_path("dev") + "/kubeconfig").json()["kubeconfig"]
    d.kill()
    d.start()
    assert d.cluster("dev").json()["status"]["api_server_url"] == url

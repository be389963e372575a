"""Kubeconfigs of v2 and v3: content, expiry, limits, certificates."""

import base64
import datetime
import shutil
import subprocess

import pytest
import yaml

V3 = "/gardener/v3/public/shoots/Sto2/00112233445566778899aabbccddeeff/{}/admin-kubeconfig"


def ask_v3(sim, seconds, name="example"):
    return sim.request("POST", V3.format(name), {"expiration_seconds": seconds})


def certificate(config):
    x509 = pytest.importorskip("cryptography.x509")
    data = config["users"][0]["user"]["client-certificate-data"]
    return x509.load_pem_x509_certificate(base64.b64decode(data))


def test_v2_is_yaml_called_html(sim):
    sim.ready()
    answer = sim.call("POST", "/admin-kubeconfig", {"expiration_seconds": 3600})
    assert answer.status_code == 201 and answer.headers["content-type"] == "text/html"
    config = yaml.safe_load(answer.text)
    names = [item["name"] for item in config["clusters"]]
    assert config["current-context"] == names[0] == config["users"][0]["name"]
    assert names[0].startswith("garden-") and names[0].endswith("--example-external")
    assert names[1].endswith("-internal") and names[2].endswith("-wildcard-tls-seed-bound")
    assert ["certificate-authority-data" in item["cluster"] for item in config["clusters"]] == [True, True, False]


@pytest.mark.parametrize("asked,given", [(600, 600), (7200, 7200), (999999, 86400)])
def test_v3_shows_the_expiry_of_the_certificate(sim, asked, given):
    sim.ready()
    now = datetime.datetime.strptime(sim.control("GET", "/clock")["now"], "%Y-%m-%dT%H:%M:%SZ")
    answer = ask_v3(sim, asked)
    assert answer.status_code == 201
    expires = datetime.datetime.strptime(answer.json()["expires_at"], "%Y-%m-%dT%H:%M:%SZ")
    assert expires - now == datetime.timedelta(seconds=given)
    assert certificate(yaml.safe_load(answer.json()["kubeconfig"])).not_valid_after == expires


def test_limits_and_switches(sim):
    sim.ready()
    for seconds in (599, 0, -1, "3600", None, 2**33):
        assert ask_v3(sim, seconds).status_code == 400
    sim.settings(kubeconfig_cap_seconds=1800)
    assert ask_v3(sim, 7200).status_code == 201
    sim.settings(v3_kubeconfig=False)
    assert ask_v3(sim, 7200).status_code == 404
    sim.settings(v3_kubeconfig=True)
    assert ask_v3(sim, 7200, "missing").status_code == 404


def test_no_kubeconfig_before_there_is_an_address(sim):
    sim.bootstrap()
    sim.create()
    assert ask_v3(sim, 3600).status_code == 409
    sim.advance(400)
    assert ask_v3(sim, 3600).status_code == 201


def test_rotation_changes_the_ca(sim):
    sim.ready()

    def ca():
        config = yaml.safe_load(ask_v3(sim, 3600).json()["kubeconfig"])
        return base64.b64decode(config["clusters"][0]["cluster"]["certificate-authority-data"])

    assert ca().count(b"BEGIN CERTIFICATE") == 1
    sim.call("PATCH", "/ca/rotate", {"stage": "Prepare"})
    sim.advance(500)
    assert ca().count(b"BEGIN CERTIFICATE") == 2
    sim.call("PATCH", "/ca/rotate", {"stage": "Complete"})
    sim.advance(500)
    assert ca().count(b"BEGIN CERTIFICATE") == 1


def test_certificate_is_signed_by_the_ca(sim, tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    sim.ready()
    config = yaml.safe_load(ask_v3(sim, 3600).json()["kubeconfig"])
    ca, client = tmp_path / "ca.pem", tmp_path / "client.pem"
    ca.write_bytes(base64.b64decode(config["clusters"][0]["cluster"]["certificate-authority-data"]))
    client.write_bytes(base64.b64decode(config["users"][0]["user"]["client-certificate-data"]))
    subprocess.run(["openssl", "verify", "-no_check_time", "-CAfile", ca, client], check=True, timeout=20,
                   capture_output=True)


@pytest.mark.parametrize("generation", ["v1", "v2", "v3"])
def test_certificates_are_valid_now_also_after_the_clock_was_moved(sim, tmp_path, generation):
    """openssl checks them at the real time, as every client does."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    sim.advance(40 * 86400)
    sim.login()
    sim.ready()
    sim.call("PATCH", "/ca/rotate", {"stage": "Prepare"})
    sim.advance(500)
    text = {"v1": lambda: sim.request("POST", f"{sim.V1}/example/adminkubeconfig",
                                      {"config": {"expirationSeconds": 3600}}).json(),
            "v2": lambda: sim.call("POST", "/admin-kubeconfig", {"expiration_seconds": 3600}).text,
            "v3": lambda: ask_v3(sim, 3600).json()["kubeconfig"]}[generation]()
    config = yaml.safe_load(text)
    ca, client = tmp_path / "ca.pem", tmp_path / "client.pem"
    ca.write_bytes(base64.b64decode(config["clusters"][0]["cluster"]["certificate-authority-data"]))
    client.write_bytes(base64.b64decode(config["users"][0]["user"]["client-certificate-data"]))
    said = subprocess.run(["openssl", "verify", "-CAfile", ca, client], timeout=20, capture_output=True, text=True)
    assert said.returncode == 0, said.stdout + said.stderr
    now = datetime.datetime.strptime(sim.control("GET", "/clock")["now"], "%Y-%m-%dT%H:%M:%SZ")
    ends = subprocess.run(["openssl", "x509", "-in", client, "-noout", "-enddate"], timeout=20, capture_output=True,
                          text=True).stdout.strip()
    assert datetime.datetime.strptime(ends, "notAfter=%b %d %H:%M:%S %Y GMT") == now + datetime.timedelta(seconds=3600)
    at = str(int(now.replace(tzinfo=datetime.timezone.utc).timestamp()))
    subprocess.run(["openssl", "verify", "-attime", at, "-CAfile", ca, client], check=True, timeout=20, capture_output=True)


def test_kubectl_accepts_it(sim, tmp_path):
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl is not installed")
    sim.ready()
    path = tmp_path / "config"
    path.write_text(ask_v3(sim, 3600).json()["kubeconfig"])
    shown = subprocess.run(["kubectl", "--kubeconfig", path, "config", "view"], check=True, timeout=30,
                           capture_output=True, text=True).stdout
    assert "https://api.example." in shown

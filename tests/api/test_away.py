"""Why Cleura cannot be reached is told where people look: host, class and since when."""

import harness
from harness import wait_until


def away_from(make_shootd, url):
    d = make_shootd(url).start()
    wait_until(lambda: d.http.get("/v1/projects/team-a").json()["upstream"]["last_error"], what="the reason")
    return d


def test_a_refused_connection_at_the_login(make_shootd):
    port = harness.free_port()
    d = away_from(make_shootd, f"http://127.0.0.1:{port}")
    upstream = d.http.get("/v1/projects/team-a").json()["upstream"]
    assert f"Cleura (127.0.0.1:{port}) cannot be reached since 20" in upstream["last_error"]
    assert upstream["last_error"].endswith("no connection comes about")
    assert upstream["login"] == "unreachable" and upstream["login_message"].startswith("the login failed: Cleura (127.0.0.1")
    account = d.http.get("/v1/accounts").json()["items"][0]
    assert account["login_state"] == "unreachable" and f"127.0.0.1:{port}" in account["login_message"]
    event = wait_until(lambda: d.events(type="account.login_failed"), what="the event")[0]
    assert f"127.0.0.1:{port}" in event["data"]["message"] and "no connection comes about" in event["data"]["message"]
    wait_until(lambda: "breaker open" in d.log(), timeout=40, what="the log")
    assert "no connection comes about" in d.log()
    wait_until(lambda: d.http.get("/v1/projects/team-a").json()["upstream"]["breaker"] == "open", what="the breaker as it is")


def test_a_name_that_does_not_resolve(make_shootd):
    d = away_from(make_shootd, "https://no-such-host.invalid")
    error = d.http.get("/v1/projects/team-a").json()["upstream"]["last_error"]
    assert error.startswith("Cleura (no-such-host.invalid) cannot be reached since ") and error.endswith("its name cannot be resolved")


def test_a_certificate_that_is_not_accepted(make_shootd, tmp_path):
    import ssl
    import subprocess
    import threading
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", tmp_path / "k.pem", "-out", tmp_path / "c.pem",
                    "-days", "1", "-subj", "/CN=localhost"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "c.pem", tmp_path / "k.pem")
    import http.server
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.handle_error = lambda *_: None
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        d = away_from(make_shootd, f"https://localhost:{server.server_address[1]}")
        error = d.http.get("/v1/projects/team-a").json()["upstream"]["last_error"]
        assert error.endswith("its certificate is not accepted"), error
    finally:
        server.shutdown()
        server.server_close()


def test_it_is_over_when_cleura_answers(sim, make_shootd):
    d = make_shootd(sim.url).start()
    d.create("dev")
    d.wait_phase("dev", "ready")
    sim.post("down", down=True)
    wait_until(lambda: d.http.get("/v1/projects/team-a").json()["upstream"]["last_error"], what="the reason")
    sim.post("down", down=False)
    wait_until(lambda: d.http.get("/v1/projects/team-a").json()["upstream"]["last_error"] is None, timeout=60, what="its end")

"""An issuer of JWTs in the process of the test: discovery, keys, and tokens of any kind, signed with python3-cryptography."""

import base64
import contextlib
import functools
import hashlib
import itertools
import json
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils

import harness

AUDIENCE = "shootd"


def base64url(data):
    return base64.urlsafe_b64encode(data if isinstance(data, bytes) else json.dumps(data).encode()).rstrip(b"=").decode()


def number(value, size=None):
    return base64url(value.to_bytes(size or (value.bit_length() + 7) // 8, "big"))


RSA_KEYS = 4
turn = itertools.count()


@functools.cache
def rsa_key(index):
    return rsa.generate_private_key(65537, 2048)


class Key:
    """An RSA key takes a third of a second of processor time, so all issuers of a process share RSA_KEYS of them, in turn: each differs from
    those that were taken right before it."""

    def __init__(self, kid, alg="RS256"):
        self.kid, self.alg, self.zeros = kid, alg, 0  # as many zero bytes begin the modulus
        self.private = rsa_key(next(turn) % RSA_KEYS) if alg == "RS256" else ec.generate_private_key(ec.SECP256R1())

    def public(self):
        numbers = self.private.public_key().public_numbers()
        form = ({"kty": "RSA", "n": number(numbers.n, self.zeros + 256), "e": number(numbers.e)} if self.alg == "RS256" else
                {"kty": "EC", "crv": "P-256", "x": number(numbers.x, 32), "y": number(numbers.y, 32)})
        return {"use": "sig", "alg": self.alg, "kid": self.kid, **form}

    def sign(self, data):
        if self.alg == "RS256":
            return self.private.sign(data, padding.PKCS1v15(), hashes.SHA256())
        r, s = utils.decode_dss_signature(self.private.sign(data, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")


class Issuer:
    def __init__(self, port=None):
        self.port = port or harness.free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.keys = [Key("one"), Key("two", "ES256")]
        self.headers = {"Cache-Control": "max-age=3600", "Content-Type": "application/json"}
        self.asked = []
        self.padding = ""  # padding of the key set
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.discovery = {"issuer": self.url, "jwks_uri": self.url + "/jwks"}
        self.offers = {}  # the only type of a path
        self.posts = {}  # answers to forms by path, as (status, document or bytes)
        self.forms = []  # (path, form) of each request
        self.pages = {}  # pages by path: a function of the query that returns the address to which the browser is sent
        self.origin = None  # web origin whose pages may read answers
        self.server = None

    def start(self):
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def fields(self, fields):
                if outer.origin:
                    fields = {**fields, "Access-Control-Allow-Origin": outer.origin}
                for name, value in fields.items():
                    self.send_header(name, value)
                self.end_headers()

            def do_GET(self):
                outer.asked.append(self.path)
                outer.may_answer.wait(60)
                path, _, query = self.path.partition("?")
                if path in outer.pages:
                    self.send_response(302)
                    return self.fields({"Location": outer.pages[path](dict(urllib.parse.parse_qsl(query))), "Content-Length": "0", "Connection": "close"})
                answers = {"/.well-known/openid-configuration": outer.discovery, "/jwks": {"keys": [k.public() for k in outer.keys], "padding": outer.padding}}
                body = json.dumps(answers.get(self.path, {})).encode()
                offered = outer.offers.get(self.path)
                self.send_response(404 if self.path not in answers else 406 if offered and offered not in self.headers["Accept"] else 200)
                self.fields({**outer.headers, "Content-Length": str(len(body)), "Connection": "close"})
                self.wfile.write(body)

            def do_POST(self):
                form = dict(urllib.parse.parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
                outer.forms.append((self.path, form))
                status, document = outer.posts[self.path](form)
                is_html = isinstance(document, bytes)
                body = document if is_html else json.dumps(document).encode()
                self.send_response(status)
                self.fields({"Content-Type": "text/html" if is_html else "application/json", "Content-Length": str(len(body)), "Connection": "close"})
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        ThreadingHTTPServer.allow_reuse_address = True
        self.server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def stop(self):
        if self.server:
            self.server.shutdown()
            self.server.server_close()
            self.server = None

    def claims(self, **claims):
        now = int(time.time())
        whole = {"iss": self.url, "aud": AUDIENCE, "sub": "alice", "iat": now, "exp": now + 600, "groups": ["platform"], **claims}
        return {k: v for k, v in whole.items() if v is not None}

    def token(self, key=None, header=None, **claims):
        """Makes a token. A claim or a header member with the value None is left out."""
        key = key or self.keys[0]
        header = {"alg": key.alg, "kid": key.kid, "typ": "at+jwt", **(header or {})}
        return self.sign(key, {k: v for k, v in header.items() if v is not None}, self.claims(**claims))

    @staticmethod
    def sign(key, header, claims):
        text = f"{base64url(header)}.{base64url(claims)}"
        return f"{text}.{base64url(key.sign(text.encode()))}"


def configuration(issuer, rules=None, **more):
    """The lines for shootd.yaml."""
    rules = rules or [{"claim": "groups", "contains": "admins", "role": "admin", "projects": ["*"]},
                      {"claim": "groups", "contains": "platform", "role": "operator", "projects": ["team-a"]},
                      {"claim": "groups", "contains": "readers", "role": "viewer", "projects": ["team-a"]}]
    one = {"issuer": issuer, "audience": AUDIENCE, "algorithms": ["RS256", "ES256"], "rules": rules, **more}
    return "oidc: " + json.dumps({"issuers": [one]}) + "\n"


class DeviceFlow:
    """The device flow of an issuer. The token endpoint uses `answers` in turn and repeats the last one; a function receives the form.
    Tokens expire after `lasts` seconds."""

    def __init__(self, issuer, interval=1, expires_in=60, lasts=600, **claims):
        self.issuer, self.lasts, self.claims, self.serial = issuer, lasts, claims, 0
        self.start = {"device_code": "device-1", "user_code": "WDJB-MJHT", "verification_uri": issuer.url + "/device", "expires_in": expires_in, "interval": interval}
        self.answers = [self.issue]
        self.refresh = "refresh-0"
        issuer.discovery |= {"token_endpoint": issuer.url + "/token/", "device_authorization_endpoint": issuer.url + "/device_authorization?policy=p"}
        issuer.posts = {"/token/": self._token, "/device_authorization?policy=p": lambda form: (200, self.start)}

    def _token(self, form):
        if form["grant_type"] == "refresh_token":
            return self.issue(form) if form["refresh_token"] == self.refresh else (400, {"error": "invalid_grant"})
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return answer(form) if callable(answer) else answer

    def issue(self, _=None):
        self.serial += 1
        self.refresh = f"refresh-{self.serial}"
        now, lasts = int(time.time()), self.lasts
        return 200, {"access_token": self.issuer.token(iat=now, exp=now + lasts, jti=str(self.serial), **self.claims), "token_type": "bearer", "expires_in": lasts,
                     "refresh_token": self.refresh}


class CodeFlow:
    """The authorization code flow of an issuer with PKCE, for pages of `origin`. `answer` makes the query with which the browser comes back.
    The state of a test begins with `reset`."""

    def __init__(self, issuer, origin):
        self.issuer, self.origin, self.plain = issuer, origin, dict(issuer.discovery)
        self.reset()

    def reset(self):
        self.asked, self.codes, self.tokens, self.serial = [], {}, [], 0
        self.lasts, self.claims, self.answer, self.renewal = 600, {}, self.grant, None
        self.issuer.origin = self.origin
        self.issuer.forms.clear()
        self.issuer.discovery = {**self.plain, "authorization_endpoint": self.issuer.url + "/authorize?tenant=t", "token_endpoint": self.issuer.url + "/token",
                                 "code_challenge_methods_supported": ["S256"]}
        self.issuer.pages = {"/authorize": self._authorize}
        self.issuer.posts = {"/token": self._token}

    def _authorize(self, query):
        self.asked.append(query)
        return query["redirect_uri"] + "?" + urllib.parse.urlencode(self.answer(query))

    def grant(self, query):
        code = f"code-{len(self.asked)}"
        self.codes[code] = query
        return {"code": code, "state": query["state"], "session_state": "any"}

    def _token(self, form):
        if form["grant_type"] == "refresh_token":
            if self.renewal:
                return self.renewal
            return self.issue() if form["refresh_token"] == f"refresh-{self.serial}" else (400, {"error": "invalid_grant"})
        query = self.codes.pop(form["code"], None)
        challenge = base64url(hashlib.sha256(form["code_verifier"].encode()).digest())
        if not query or query["code_challenge"] != challenge or query["redirect_uri"] != form["redirect_uri"] or query["client_id"] != form["client_id"]:
            return 400, {"error": "invalid_grant", "error_description": "the code is not good"}
        return self.issue(nonce=query["nonce"])

    def issue(self, nonce=None):
        self.serial += 1
        now, lasts = int(time.time()), self.lasts  # the test may change it meanwhile
        self.tokens.append(self.issuer.token(iat=now, exp=now + lasts, jti=str(self.serial), **self.claims))
        more = {"id_token": self.issuer.token(nonce=nonce, aud="page")} if nonce else {}
        return 200, {"access_token": self.tokens[-1], "token_type": "Bearer", "expires_in": lasts, "refresh_token": f"refresh-{self.serial}", **more}


@contextlib.contextmanager
def running():
    issuer = Issuer().start()
    try:
        yield issuer
    finally:
        issuer.stop()

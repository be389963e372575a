"""The only module in which tests make HTTP clients (test_layout.py checks that).

For each client httpx reads the proxies from the environment, and pytest changes PYTEST_CURRENT_TEST there between tests: a thread that
makes a client at that moment ends with a KeyError. No request here uses a proxy. For each client httpx also reads all certificate
authorities, which takes 30 ms of processor time; here it reads them once.

httpcore of Debian 12 sends a head and its body in two segments and leaves Nagle's algorithm on, so each body would wait 40 ms for the
acknowledgement of the head. Newer versions turn it off.
"""

import functools
import socket
import ssl

import httpcore
import httpx


def without_delay(connect):
    @functools.wraps(connect)
    def connected(*args, **kwargs):
        stream = connect(*args, **kwargs)
        stream.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return stream
    return connected


httpcore.backends.sync.SyncBackend.connect_tcp = without_delay(httpcore.backends.sync.SyncBackend.connect_tcp)

SHARED = {"trust_env": False, "verify": ssl.create_default_context()}


class Cookies(httpx.Cookies):
    """Looks for cookies only in an answer that has one."""

    def extract_cookies(self, response):
        if "Set-Cookie" in response.headers:
            super().extract_cookies(response)


class Client(httpx.Client):
    """Parses each address once. This and the cookies are a fifth of the processor time of a request, and tests that wait send many."""

    def __init__(self, **more):
        super().__init__(**{**SHARED, **more})
        self._cookies, self._merged = Cookies(), {}

    def _merge_url(self, url):
        if url not in self._merged:
            self._merged[url] = super()._merge_url(url)
        return self._merged[url]


delete = functools.partial(httpx.delete, **SHARED)
get = functools.partial(httpx.get, **SHARED)
patch = functools.partial(httpx.patch, **SHARED)
post = functools.partial(httpx.post, **SHARED)
request = functools.partial(httpx.request, **SHARED)
stream = functools.partial(httpx.stream, **SHARED)

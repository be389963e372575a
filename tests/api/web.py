"""The only place where tests make HTTP clients (test_layout.py holds that).

httpx looks for proxies in the environment each time a client is made, and pytest writes PYTEST_CURRENT_TEST there between
tests: a thread that makes a client at that moment dies of a KeyError. Nothing here goes through a proxy. It also reads the
certificates of all authorities for each client, 30 ms of processor time: here once.

httpcore of Debian 12 sends a head and its body in two segments and leaves Nagle's algorithm on, so that each body would wait 40 ms
for the kernel to acknowledge the head. Newer ones switch it off, too."""

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

Client = functools.partial(httpx.Client, **SHARED)
delete = functools.partial(httpx.delete, **SHARED)
get = functools.partial(httpx.get, **SHARED)
patch = functools.partial(httpx.patch, **SHARED)
post = functools.partial(httpx.post, **SHARED)
request = functools.partial(httpx.request, **SHARED)
stream = functools.partial(httpx.stream, **SHARED)

"""The only place where tests make HTTP clients (test_layout.py holds that).

httpx looks for proxies in the environment each time a client is made, and pytest writes PYTEST_CURRENT_TEST there between
tests: a thread that makes a client at that moment dies of a KeyError. Nothing here goes through a proxy. It also reads the
certificates of all authorities for each client, 30 ms of processor time: here once."""

import functools
import ssl

import httpx

SHARED = {"trust_env": False, "verify": ssl.create_default_context()}

Client = functools.partial(httpx.Client, **SHARED)
delete = functools.partial(httpx.delete, **SHARED)
get = functools.partial(httpx.get, **SHARED)
patch = functools.partial(httpx.patch, **SHARED)
post = functools.partial(httpx.post, **SHARED)
request = functools.partial(httpx.request, **SHARED)
stream = functools.partial(httpx.stream, **SHARED)

"""The only place where tests make HTTP clients (test_layout.py holds that).

httpx looks for proxies in the environment each time a client is made, and pytest writes PYTEST_CURRENT_TEST there between
tests: a thread that makes a client at that moment dies of a KeyError. Nothing here goes through a proxy."""

import functools

import httpx

Client = functools.partial(httpx.Client, trust_env=False)
delete = functools.partial(httpx.delete, trust_env=False)
get = functools.partial(httpx.get, trust_env=False)
patch = functools.partial(httpx.patch, trust_env=False)
post = functools.partial(httpx.post, trust_env=False)
request = functools.partial(httpx.request, trust_env=False)
stream = functools.partial(httpx.stream, trust_env=False)

"""The distribution of black-box tests over workers. Each test goes to the next free worker, the long ones first. Tests that share a
fixture of their file stay together. The other tests of all files alternate: some files compute and some wait, and the cores would be idle
while all workers wait in the same file."""

import collections

import pytest

# Files and tests that take longer than most, in the order of their start.
LONG_FIRST = [
    "test_scenarios.py", "test_contract.py", "test_dashboard_access.py", "test_dashboard_fleet.py", "test_dashboard_pictures.py", "test_store.py", "test_soak.py", "test_bad_days.py", "test_backup.py", "test_seal_key.py",
    "test_webhook_crash.py", "test_webhook_docs.py", "test_shootctl.py", "test_operators_day.py", "test_proxy.py", "test_docs.py", "test_crash.py", "test_operations.py", "test_lists.py",
    "test_reload.py", "test_prometheus.py", "test_streams.py", "test_idempotency.py", "test_budgets.py", "test_typescript.py",
    "test_readers_of_exports_bound_the_pace_and_each_other", "test_nothing_secret_is_left_behind", "test_wrong_code_then_the_right_one",
]
# Files with a browser of their own: one worker runs a row, so that there are at most three browsers at a time. With eight of them on two
# cores a page is seconds late.
BROWSERS = {
    "browser-1": ["test_dashboard_access.py", "test_dashboard.py", "test_dashboard_lists.py", "test_dashboard_layout.py"],
    "browser-2": ["test_dashboard_fleet.py", "test_dashboard_live.py", "test_dashboard_cluster.py"],
    "browser-3": ["test_dashboard_pictures.py", "test_dashboard_hostile.py", "test_dashboard_sign_on.py", "test_browser.py"],
}


def group_of(item):
    """The name of the group that one worker runs, or None."""
    browser = next((row for row, files in BROWSERS.items() if item.path.name in files), None)
    return browser or (item.path.stem if shares_a_fixture(item) else None)


def shares_a_fixture(item):
    return any(definition.scope == "module" and definition.has_location
               for definitions in item._fixtureinfo.name2fixturedefs.values() for definition in definitions)


def begins_at(item):
    names = (item.path.name, item.originalname)
    return min((i for i, long in enumerate(LONG_FIRST) if long in names), default=len(LONG_FIRST))


def arrange(items):
    """Marks the groups (--dist loadgroup) and sorts them; a group starts where its first test would start."""
    first, of_file, seen = {}, collections.Counter(item.path for item in items), collections.Counter()
    for item in items:
        group = group_of(item)
        if group:
            item.add_marker(pytest.mark.xdist_group(group))
        item.begins = group or item.nodeid
        place = begins_at(item), seen[item.path] / of_file[item.path]
        seen[item.path] += 1
        first[item.begins] = min(first.get(item.begins, place), place)
    items.sort(key=lambda item: (first[item.begins], item.begins))  # the sort is stable: tests of a group retain their order

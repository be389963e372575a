"""Rules for the sources: includes point one way; some calls and words are not allowed."""

import re
import subprocess
import sys
from pathlib import PurePosixPath

import pytest

import sanitizers
import spread
from harness import BUILD, ROOT, SANITIZED

sys.path.append(str(ROOT / "tests"))
import quick  # noqa: E402

sys.path.append(str(ROOT / "tools"))
import structure  # noqa: E402

# A folder may include itself and the folders in its row, no other folder of ours (docs/architecture.md).
MAY_INCLUDE = {
    "base": set(),
    "model": {"base"},
    "config": {"base", "model"},
    "storage": {"base", "model"},
    "view": {"base", "model"},
    "loop": {"base"},
    "upstream": {"base", "model", "config", "loop"},
    "webhook": {"base", "model", "config", "storage", "loop"},
    "oidc": {"base", "model", "config", "loop"},
    "tracing": {"base", "loop"},
    "http": {"base", "model"},
    "reconcile": {"base", "model", "config", "storage", "view", "loop", "upstream", "webhook"},
    "api": {"base", "model", "config", "storage", "view", "oidc", "http"},
    "daemon": {"base", "model", "config", "storage", "view", "loop", "upstream", "webhook", "oidc", "tracing", "http",
               "reconcile",
               "api"},
    "cli": {"base", "model"},
    "simulator": {"base"},
    "fuzz": {"base", "model", "config", "view", "upstream", "webhook", "oidc", "http", "api", "cli"},
}
# The HTTP engine may include the problems and the former names, and nothing else of the model. Each of these is one list, with its own words and ours. The
# command line may include the words of the contract.
OF_THE_MODEL = {"http": {"model/problem.h", "model/former_names.h"}, "cli": {"model/names.h", "model/spec_hint.h", "model/former_names.h"}}
FOLDERS = set(MAY_INCLUDE)
# The files beside each other in one folder, without its subfolders, may include each other and, of their own top folder, the
# folders in their row.
SUBFOLDERS = {
    "http/message": set(),
    "http/connection": set(),
    "http": {"http/message", "http/connection"},
    "api": set(),
    "api/resources": {"api"},
    "upstream": set(),
    "upstream/wire": {"upstream"},
    "upstream/account": {"upstream", "upstream/wire"},
    "storage": set(),
    "storage/sqlite": {"storage"},
    "reconcile/world": set(),
    "reconcile/answers": {"reconcile/world"},
    "reconcile/operations": {"reconcile/world"},
    "reconcile/observation": {"reconcile/world", "reconcile/answers", "reconcile/operations"},
    "reconcile/lookups": {"reconcile/world", "reconcile/answers", "reconcile/observation"},
    "reconcile/commands": {"reconcile/world", "reconcile/answers", "reconcile/operations", "reconcile/observation", "reconcile/lookups"},
    "reconcile": {"reconcile/world", "reconcile/answers", "reconcile/operations", "reconcile/observation", "reconcile/lookups",
                  "reconcile/commands"},
    "cli": set(),
    "cli/verbs": {"cli"},
    "simulator/cloud": set(),
    "simulator/wire": {"simulator/cloud"},
    "simulator/request": {"simulator/cloud"},
    "simulator/handlers": {"simulator/cloud", "simulator/wire", "simulator/request"},
    "simulator/control": {"simulator/cloud", "simulator/wire", "simulator/request", "simulator/handlers"},
    "simulator": {"simulator/cloud", "simulator/wire", "simulator/request", "simulator/handlers", "simulator/control"},
}
# The tables of the API list what each resource has; the table of commands lists the verbs. Only these files include files of the
# folders above them.
TABLES = {"api/routes.c", "api/params.c", "cli/cli_commands.c"}
# One file per resource. A resource may include the list of all handlers and, of other resources, only these.
RESOURCES = {
    "cluster_list": {"cluster_order", "first_rows"},
    "first_rows": {"cluster_order"},
    "issues": {"first_rows", "webhook_issues"},
}
# Library headers, and the folders that may include them.
LIBRARIES = {
    "microhttpd.h": {"http", "simulator", "fuzz"},
    "sqlite3.h": {"storage/sqlite"},
    "curl/curl.h": {"loop", "upstream", "webhook", "daemon", "cli"},
    "yaml.h": {"base", "config", "model", "cli"},
    "utf8proc.h": {"cli"},
    "systemd/": {"daemon"},
    "cjose/": {"oidc"},
    "openssl/": {"upstream", "simulator", "reconcile", "loop"},
    "uthash.h": {"http", "reconcile", "webhook", "upstream", "simulator"},
}
BANNED = ("sprintf", "vsprintf", "strcpy", "strcat", "strncat", "strtok", "atoi", "atol", "atof", "gets", "localtime", "gmtime",
          "asctime", "ctime", "system", "popen", "tmpnam", "alloca", "rand", "srand", "getpwnam", "inet_ntoa",
          "gethostbyname")
SOURCES = sorted(p for folder in FOLDERS for p in (ROOT / folder).rglob("*.[ch]"))


def code_of(path):
    """The text without comments and strings; the lines stay."""
    text = path.read_text()
    pattern = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()) or " ", text)


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if found:
            yield number, found.group(1), found.group(2)


def folder_of(path):
    return path.relative_to(ROOT).parts[0]


def test_there_is_something_to_look_at():
    assert len(SOURCES) > 100 and {folder_of(p) for p in SOURCES} == FOLDERS


def test_includes_point_one_way():
    faults = []
    for path in SOURCES:
        own = folder_of(path)
        for number, kind, name in includes(path):
            where = f"{path.relative_to(ROOT)}:{number}: {name}"
            if kind == "<":
                if name.split("/")[0] in FOLDERS:
                    faults.append(where + " is ours: use quotes")
                continue
            other = name.split("/")[0]
            if not (ROOT / name).exists():
                faults.append(where + " does not exist from the root")
            elif other == own:
                continue
            elif other not in MAY_INCLUDE[own]:
                faults.append(where + f": {own} must not know {other}")
            elif other == "model" and own in OF_THE_MODEL and name not in OF_THE_MODEL[own]:
                faults.append(where + f": {own} knows only {sorted(OF_THE_MODEL[own])}")
            elif name.endswith("_private.h") and own != "fuzz":  # fuzz targets are parts of a module, as units are
                faults.append(where + " is private")
    assert not faults, "\n".join(faults)


def subfolder_of(name):
    return str(PurePosixPath(name).parent)


def order_breached(path, names):
    """The included files that break the order of the subfolders of a top folder; paths start at the root."""
    own = subfolder_of(path)
    for name in names:
        other = subfolder_of(name)
        same_folder = PurePosixPath(path).parts[0] == PurePosixPath(name).parts[0]
        if own in SUBFOLDERS and same_folder and other not in {own} | SUBFOLDERS[own] and path not in TABLES:
            yield f"{path}: {own} must not know {name}"
        stem, others = PurePosixPath(path).stem, PurePosixPath(name).stem
        if own == other == "api/resources" and others not in {stem, "handlers"} | RESOURCES.get(stem, set()):
            yield f"{path}: a resource must not know {name}"


def test_subfolders_have_an_order():
    faults = [f for p in SOURCES for f in order_breached(str(p.relative_to(ROOT)), [n for _, kind, n in includes(p) if kind == '"'])]
    assert not faults, "\n".join(faults)
    there = {subfolder_of(p.relative_to(ROOT)) for p in SOURCES}
    for name, others in SUBFOLDERS.items():
        assert name in there and others <= set(SUBFOLDERS), name
        assert not any(name in SUBFOLDERS[other] for other in others), name
    covered = {name.split("/")[0] for name in SUBFOLDERS}
    assert {name for name in there if name.split("/")[0] in covered} == set(SUBFOLDERS), "a folder without a row"
    assert TABLES <= {str(p.relative_to(ROOT)) for p in SOURCES}


@pytest.mark.parametrize("path, name", [
    ("api/reads.c", "api/resources/cluster_order.h"),
    ("http/message/target.c", "http/server_request.h"),
    ("http/connection/connection.c", "http/message/headers.h"),
    ("api/resources/webhooks.c", "api/resources/cluster_order.h"),
    ("reconcile/world/entity.c", "reconcile/operations/steps.h"),
    ("reconcile/operations/steps.c", "reconcile/observation/observe.h"),
    ("reconcile/observation/fresh.c", "reconcile/commands/commands.h"),
    ("upstream/wire/wire_answer.c", "upstream/account/account_private.h"),
    ("storage/writer.c", "storage/sqlite/sqlite_private.h"),
    ("cli/follow.c", "cli/verbs/verb_change.h"),
    ("simulator/cloud/sim.c", "simulator/request/sim_exchange.h"),
    ("simulator/handlers/sim_clusters.c", "simulator/process.h"),
])
def test_a_planted_breach_is_found(path, name):
    assert list(order_breached(path, [name])) and not list(order_breached(path, ["base/mem.h", path]))


def test_the_rule_is_not_vacuous():
    edges = {(folder_of(p), n.split("/")[0]) for p in SOURCES for _, kind, n in includes(p) if kind == '"'}
    assert ("reconcile", "upstream") in edges and ("api", "view") in edges and ("model", "base") in edges
    for folder, others in MAY_INCLUDE.items():  # no cycle: an included folder may not include the folder back
        assert not any(folder in MAY_INCLUDE[other] for other in others), folder


def test_libraries_are_seen_by_few():
    faults = []
    for path in SOURCES:
        where = str(path.relative_to(ROOT))
        for number, kind, name in includes(path):
            for prefix, allowed in LIBRARIES.items():
                if kind == "<" and name.startswith(prefix) and not any(where.startswith(a + "/") for a in allowed):
                    faults.append(f"{where}:{number}: {name}")
    assert not faults, "\n".join(faults)


def test_each_source_includes_its_own_header_first():
    """The first include is the own header, or the public header of the folder if that declares the functions."""
    faults = []
    for path in SOURCES:
        own, folder = path.with_suffix(".h"), folder_of(path)
        if path.suffix == ".c" and own.exists():
            first = next((n for _, kind, n in includes(path) if kind == '"'), None)
            good = {str(own.relative_to(ROOT)), f"{folder}/{folder}.h"}
            if first not in good:
                faults.append(f"{path.relative_to(ROOT)}: {first}")
    assert not faults, "\n".join(faults)


def test_headers_are_guarded():
    for path in SOURCES:
        text = path.read_text()
        table = re.search(r"^(STATEMENT|METRIC)\(", text, re.M)  # included several times on purpose
        if path.suffix == ".h" and not table:
            guard = re.sub(r"[^A-Z0-9]", "_", str(path.relative_to(ROOT)).upper())
            assert re.search(rf"^#ifndef {guard}\n#define {guard}$", text, re.M), path
            assert text.startswith("/*"), f"{path} says not what it is for"


def test_banned_calls():
    pattern = re.compile(r"(?<![A-Za-z0-9_>.])(" + "|".join(BANNED) + r")\s*\(")
    faults = [f"{p.relative_to(ROOT)}:{n}: {line.strip()}" for p in SOURCES
              for n, line in enumerate(code_of(p).splitlines(), 1) if pattern.search(line)]
    assert not faults, "\n".join(faults)


def log_calls(text):
    """The arguments of each log call in code without comments; strings stay."""
    token = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|.', re.S)
    for call in re.finditer(r"\blog_(debug|info|warning|error|write)\(", text):
        depth, arguments = 1, [""]
        for one in token.finditer(text, call.end()):
            piece = one.group()
            depth += (piece in "([{") - (piece in ")]}")
            if not depth:
                break
            if piece == "," and depth == 1:
                arguments.append("")
            else:
                arguments[-1] += piece
        arguments = [a.strip() for a in arguments]
        yield arguments[1:] if call.group(1) == "write" else arguments


def commentless(path):
    strings_first = re.compile(r'("(?:\\.|[^"\\\n])*")|/\*.*?\*/|//[^\n]*', re.S)
    return strings_first.sub(lambda m: m.group(1) or " ", path.read_text())


def log_keys(text):
    return {key.strip('"') for arguments in log_calls(text) for key in arguments[1::2] if key.startswith('"')}


def test_only_upstream_knows_which_apis_there_are():
    """The others ask what the API of an account can do (model/upstream_abilities.h). config/ has the word that chooses the driver."""
    knows = re.compile(r"\b(API_V\d+|api_generation|CLEURA_APIS|driver_v\d+)\b")
    found = {folder_of(path) for path in SOURCES if knows.search(code_of(path))}
    assert found == {"config", "upstream", "fuzz"}


def test_log_fields_have_the_same_names_everywhere():
    """`message` and `priority` are fields of the journal, `time` and `level` of JSON lines; a reason is logged as `reason`."""
    keys = {str(p.relative_to(ROOT)): log_keys(commentless(p)) for p in SOURCES if p.name not in ("log.h", "log.c")}
    assert sum(len(k) for k in keys.values()) > 100 and "reason" in set().union(*keys.values())
    assert log_keys('log_info(a ? "b, c" : d(")", 1), "why", f("x", y), "n", LOG_INT(1))') == {"why", "n"}
    faults = {path: k & {"message", "why", "priority", "time", "level"} for path, k in keys.items()}
    assert not {path: k for path, k in faults.items() if k}


# A format may cut these texts to a number of bytes, because they are ASCII: ids, digests, versions, and names of the simulator.
CUT_BY_FORMAT = {
    "daemon/daemon.c": {"%.20s"},  # the host name
    "api/resources/webhooks.c": {"%.39s"},  # the id in a cursor
    "view/render.c": {"%.10s"},  # a part of an id
    "simulator/handlers/sim_kubeconfig.c": {"%.60s"},
    "simulator/handlers/actions.c": {"%.40s"},
    "simulator/handlers/openstack.c": {"%.100s"},
}


def test_texts_are_not_cut_inside_a_character():
    """utf8_cut cuts at the end of a character; the precision of a format counts bytes."""
    found = {str(p.relative_to(ROOT)): set(re.findall(r"%[-+ #0]*\d*\.\d{2,}s", commentless(p))) for p in SOURCES}
    assert {path: formats for path, formats in found.items() if formats} == CUT_BY_FORMAT


@pytest.mark.parametrize("word", ["TO" + "DO", "FIX" + "ME", "X" * 3, "HA" + "CK"])
def test_no_marks_of_unfinished_work(word):
    places = SOURCES + sorted((ROOT / "tests").rglob("*.py")) + sorted((ROOT / "tests").rglob("*.[ch]")) + \
        sorted((ROOT / "tools").glob("*")) + sorted((ROOT / "docs").glob("*.md")) + \
        [ROOT / "openapi.yaml", ROOT / "Makefile", ROOT / "README.md"]
    pattern = re.compile(rf"\b{word}\b")
    faults = [f"{p.relative_to(ROOT)}:{n}" for p in places if p.is_file() and "node_modules" not in p.parts
              for n, line in enumerate(p.read_text().splitlines(), 1) if pattern.search(line)]
    assert not faults, faults


def test_files_are_small():
    for path in SOURCES:
        assert len(path.read_text().splitlines()) <= 700, path


# The dashboard: a folder of dashboard/src may import itself, the files beside main.tsx, and the folders in its row. The files
# beside main.tsx (the row "") know sign_on, because a token may be renewed before each call.
DASHBOARD = {"": {"sign_on"}, "live": {"sign_on"}, "sign_on": set(), "ui": {"live", "sign_on"},
             **dict.fromkeys(("fleet", "cluster", "operations", "events", "webhooks", "accounts", "audit"), {"live", "ui"})}
DASHBOARD_TOP = {"app.tsx", "main.tsx"}


def test_the_dashboard_has_an_order():
    root = ROOT / "dashboard/src"
    paths = sorted(p for p in root.rglob("*.ts*"))
    assert len(paths) > 25 and {p.parent.name for p in paths} == (set(DASHBOARD) - {""}) | {"src"}
    faults = []
    for path in paths:
        text = path.read_text()
        own = path.parent.name if path.parent != root else ""
        assert len(text.splitlines()) <= 300 or path.name == "texts.ts", path
        for name in re.findall(r'^(?:import|export) .*?from "(\.[^"]+)"', text, re.M):
            other = (path.parent / name).resolve()
            folder = other.parent.name if other.parent not in (root, ROOT / "dashboard/types") else ""
            allowed = set(DASHBOARD) if path.name in DASHBOARD_TOP and not own else {own, "", *DASHBOARD[own]}
            if folder not in allowed or other.name in {p.split(".")[0] for p in DASHBOARD_TOP} and path.name != "main.tsx":
                faults.append(f"{path.relative_to(root)} must not know {name}")
    assert not faults, "\n".join(faults)


def test_http_clients_of_the_tests_are_made_in_one_place():
    """The docstring of web.py gives the reason."""
    made = re.compile(r"\bhttpx\.(get|options|head|post|put|patch|delete|request|stream|Client|AsyncClient)\b|from httpx\s+import")
    places = sorted((ROOT / "tests").rglob("*.py")) + sorted((ROOT / "bench").glob("*.py")) + sorted((ROOT / "fuzz").glob("*.py"))
    found = {str(p.relative_to(ROOT)) for p in places if "node_modules" not in p.parts and made.search(p.read_text())}
    assert found == {"tests/api/web.py"}


def test_lists_of_test_files_name_what_there_is():
    """Every folder of sources has a row in `make quick`."""
    there = {p.name for p in (ROOT / "tests/api").glob("test_*.py")}
    assert set(sanitizers.NOT_REPEATED) | set(sanitizers.REPEATED) | {n for n in spread.LONG_FIRST if n.endswith(".py")} | {n for row in spread.BROWSERS.values() for n in row} <= there
    assert not set(sanitizers.NOT_REPEATED) & set(sanitizers.REPEATED)
    with_a_browser = {p.name for p in (ROOT / "tests/api").glob("test_*.py") if re.search(r"^from (browser|dashboard_world) import|^import browser$", p.read_text(), re.M)}
    assert sorted(n for row in spread.BROWSERS.values() for n in row) == sorted(with_a_browser)
    assert set(quick.FILES) >= FOLDERS
    assert all((ROOT / "tests" / name).exists() for names in [quick.ALWAYS, *quick.FILES.values()] for name in names)
    assert quick.chosen(["oidc/keys.c", "tests/api/test_tls.py", "README.md"]) == {*quick.ALWAYS, "api/test_oidc.py", "api/test_tls.py"}
    assert quick.chosen(["dashboard/src/audit/page.tsx", "openapi.yaml"]) == {*quick.ALWAYS, "api/test_dashboard_lists.py", "api/test_dashboard_sources.py", "api/test_contract.py"}


def test_documents_name_no_place_of_this_machine():
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = path.read_text()
        assert not re.search(r"/work/|/root/|/home/", text), path


@pytest.mark.skipif(SANITIZED, reason="the shipped build is looked at, not the sanitizer builds")
def test_hardening_of_the_binary_QA_2():
    elf = subprocess.run(["readelf", "-W", "-h", "-l", "-d", "-s", BUILD / "shootd"], capture_output=True, text=True,
                         check=True).stdout
    assert "DYN (Position-Independent Executable" in elf or "DYN (Shared object" in elf
    assert "BIND_NOW" in elf or "Flags: NOW" in elf
    assert "GNU_RELRO" in elf
    assert re.search(r"GNU_STACK.*RW ", elf) and not re.search(r"GNU_STACK.*RWE", elf)
    assert "__stack_chk_fail" in elf and "_chk@" in elf


PLANTED = {
    "a.c": "void first(struct x *x)\n{\n    second(x);\n}\n",
    "b.c": "struct place *second(struct x *x)\n{\n    x->react(x);\n    return NULL;\n}\n",
    "by_name.c": "static void third(struct x *x)\n{\n    first(x);\n}\nvoid set(struct x *x)\n{\n    *x = (struct x){.react = third};\n}\n",
    "by_place.c": "struct x {\n    int kind;\n    void (*react)(struct x *x);\n};\nstatic void fourth(struct x *x)\n{\n    first(x);\n}\n"
                  "static const struct x all[] = {\n    {1, fourth},\n};\n",
    "handed.c": "static void fifth(struct x *x)\n{\n    first(x);\n}\nvoid begin(struct x *x)\n{\n    second(x, fifth);\n}\n",
    "kept.c": "static void seventh(struct x *x)\n{\n    first(x);\n}\nvoid keep(struct x *x, void (*act)(struct x *x))\n{\n    x->react = act;\n}\n"
              "void start(struct x *x)\n{\n    keep(x, seventh);\n}\n",
    "timer.c": "static void eighth(struct x *x)\n{\n    first(x);\n}\nvoid set_timer(struct x *x, void (*act)(struct x *x))\n{\n    x->fire = act;\n}\n"
               "void plan(struct x *x)\n{\n    set_timer(x, eighth);\n}\n",
    "apart.c": "static void sixth(struct x *x)\n{\n    /* first(x) */\n    log_info(\"second(x)\");\n}\n",
}


def test_cycles_through_pointers_are_found(tmp_path):
    """A function is called by each caller of the member that stores it, or by the function that receives it and does not store it;
    also if it returns a struct. Nobody here calls a timer."""
    for name, text in PLANTED.items():
        (tmp_path / name).write_text(text)
    calls = structure.Calls(tmp_path)
    cycle = {path.name for path in structure.largest_cycle(calls.graph)}
    assert cycle == {"a.c", "b.c", "by_name.c", "by_place.c", "handed.c", "kept.c"}
    assert {caller for _, caller in calls.callers["first"]} == {"third", "fourth", "fifth", "seventh", "eighth"}


def test_the_moves_are_drawn_as_they_are_made():
    """The READMEs of the folders have a diagram for each table of moves, row by row."""
    source = "".join((ROOT / name).read_text() for name in ("model/moves.c", "reconcile/world/step_life.c", "upstream/account/lane.c"))
    page = "".join((ROOT / folder / "README.md").read_text() for folder in ("reconcile/operations", "upstream", "webhook"))
    drawn = [re.findall(r"^    (\w+) --> (\w+): (.+)$", block, re.M) for block in re.findall(r"```mermaid\nstateDiagram-v2\n(.*?)```", page, re.S)]
    tables = [[(a.lower(), b.lower(), on) for a, b, on in re.findall(r'\{[A-Z]+_([A-Z_]+), [A-Z]+_([A-Z_]+),\s+"([^"]+)"\}', table)]
              for table in re.findall(r"_moves\[\] = \{\n(.*?)\n\};", source, re.S)]
    assert [len(t) for t in tables] == [7, 13, 3, 20, 9] and sorted(drawn) == sorted(tables)

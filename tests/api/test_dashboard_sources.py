"""The sources of the dashboard: colours, shapes, texts, types, and parts that need no browser."""

import re
import subprocess

import pytest

import contract
from harness import ROOT


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    dark, light = sorted((luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)


def test_da25_each_phase_has_a_colour_and_a_shape_of_its_own():
    """Each phase of the contract, in both themes. docs/dashboard.md has the same colours with their contrast."""
    style, shapes = (ROOT / "dashboard/src/style.css").read_text(), (ROOT / "dashboard/src/ui/phase.tsx").read_text()
    colours = {m[1]: (m[2], m[3]) for m in re.finditer(r"--([a-z-]+): light-dark\((#\w{6}), (#\w{6})\)", style)}
    phases = contract.DOCUMENT["components"]["schemas"]["Phase"]["enum"]
    page = (ROOT / "docs/dashboard.md").read_text()
    for theme in (0, 1):
        assert len({colours[f"phase-{phase}"][theme] for phase in phases}) == len(phases) == 12
        for phase in phases:
            assert all(contrast(colours[f"phase-{phase}"][theme], colours[ground][theme]) >= 4.5 for ground in ("panel", "ground", "raised")), phase
        assert all(contrast(colours["border"][theme], colours[ground][theme]) >= 3 for ground in ("panel", "ground", "raised"))
        for text in ("ink", "quiet"):
            assert all(contrast(colours[text][theme], colours[ground][theme]) >= 4.5
                       for ground in ("panel", "ground", "raised", "tint", "bad-ground", "warn-ground")), text
    for phase in phases:
        light, dark = colours[f"phase-{phase}"]
        row = rf"\| {phase} \| [^|]+ \| `{light}` {contrast(light, colours['panel'][0]):.1f} \| `{dark}` {contrast(dark, colours['panel'][1]):.1f} \|"
        assert re.search(row, page), row
    properties = re.findall(r"^\| `--([a-z-]+)` \| `(#\w{6})` \| `(#\w{6})` \| \S", page, re.M)
    assert {name: (light, dark) for name, light, dark in properties} == {name: both for name, both in colours.items() if not name.startswith("phase-")}
    assert len(properties) == len({name for name, *_ in properties})
    assert all(contrast(colours["on-accent"][theme], colours["accent"][theme]) >= 4.5 for theme in (0, 1))
    table = re.search(r"const phases[^=]*= \{(.*?)\n\};", shapes, re.S)[1]
    drawn = dict(re.findall(r"^  (\w+): (\{.*\}),$", table, re.M))
    assert set(drawn) == set(phases) and len(set(drawn.values())) == len(phases)


def test_every_text_is_in_one_file_and_no_style_is_an_attribute():
    for path in sorted((ROOT / "dashboard/src").rglob("*.tsx")):
        text = path.read_text()
        assert not re.search(r"\sstyle=|dangerouslySetInnerHTML|innerHTML|insertAdjacentHTML|document\.write", text), path
        words = [w for w in re.findall(r">\s*([A-Za-z][A-Za-z ,.']{2,})\s*<(?=/)", text) if w.strip()]
        assert not words, (path, words)
    for path in sorted((ROOT / "dashboard/src").rglob("*.ts*")):
        if path.name != "texts.ts":
            assert not english(path.read_text()), path


ATTRIBUTES = "aria-label|aria-description|aria-valuetext|title|placeholder|alt|label"


def english(source):
    """Texts for people in a source: attributes that a reader sees or hears, and literals that begin like a sentence."""
    code = re.sub(r"^\s*(//|/?\*).*", "", source, flags=re.M)
    attributes = re.findall(rf'\b(?:{ATTRIBUTES})=\{{?["\'`]([^"\'`]*[A-Za-z][^"\'`]*)["\'`]', code)
    return attributes + re.findall(r"""["'`]([A-Z][a-z]+,? (?:[a-z]|\$\{\w+\} [a-z])[^"'`\n]*)["'`]""", code)


def test_english_texts_are_found():
    for source in ('<a aria-label="Close">', "<a title={`Close it`}>", 'const text = "Close the page";', "say('It is closed, and stays so')", "`Only ${n} of them`"):
        assert english(source), source
    assert not english('<a class="close it" id="x">{texts.close}</a>\n// "Close the page"\nconst field = `Bearer ${token}`;')


def test_the_sources_are_typed_by_the_contract():
    """The sources pass strict TypeScript with types that are generated from openapi.yaml."""
    programs = ROOT / "dashboard/node_modules/.bin"
    if not (programs / "tsc").exists():
        pytest.skip("dashboard/node_modules is absent: npm or its registry was absent")
    for argv in ([programs / "openapi-typescript", ROOT / "openapi.yaml", "-o", "types/openapi.d.ts"], [programs / "tsc", "--project", "."]):
        done = subprocess.run(argv, cwd=ROOT / "dashboard", capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr


def test_parts_that_need_no_browser(tmp_path):
    program = ROOT / "dashboard/node_modules/.bin/esbuild"
    if not program.exists():
        pytest.skip("dashboard/node_modules is absent: npm or its registry was absent")
    bundle = tmp_path / "units.test.mjs"
    subprocess.run([program, "test/units.test.ts", "--bundle", "--platform=node", "--format=esm", f"--outfile={bundle}", "--log-level=error",
                    "--jsx=automatic", "--jsx-import-source=preact", '--banner:js=globalThis.document={hidden:false,baseURI:"http://shootd.test/"};globalThis.fetch=(request)=>globalThis.serve(request);'],
                   cwd=ROOT / "dashboard", check=True, timeout=60)
    done = subprocess.run(["node", "--test", bundle], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "pass 25" in done.stdout.replace("# ", ""), done.stdout + done.stderr

"""Plain words: a sentence begins with its subject or its verb, in the comments of C and of the dashboard, the pages and the contract."""

import pathlib
import re
import statistics

import pytest

from harness import ROOT

# A sentence that begins so has no plain subject ("What was read is kept", "Of these, the first").
FORBIDDEN = re.compile(r"(What|Of|So|Which|Nor|Whoever|Who)\b")
COMMENT = re.compile(r"/\*(.*?)\*/", re.S)
SCRIPT_COMMENT = re.compile(r"/\*.*?\*/|(?:^[ \t]*//[^\n]*\n)+|[ \t]//[ \t][^\n]*", re.S | re.M)


def sources():
    return sorted(p for kind in ("*.c", "*.h") for p in ROOT.glob(f"*/**/{kind}") if p.relative_to(ROOT).parts[0] != "build")


def sentences(comment):
    text = re.sub(r"\s+", " ", re.sub(r"\n\s*\*", " ", comment)).strip(" *-")
    return re.split(r"(?<=[.!?])\s+", text)


def faults(text):
    """(line, sentence) of each fault."""
    return [(text.count("\n", 0, comment.start()) + 1, sentence) for comment in COMMENT.finditer(text)
            for sentence in sentences(comment[1]) if FORBIDDEN.match(sentence)]


def prose(path, text):
    """(line, text) for each part of a line that begins a sentence, a cell or a description; code is left out."""
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        in_code ^= line.startswith("```")
        if path.suffix == ".md":
            pieces = [] if in_code or line.startswith(("    ", "#")) else line.split("|")
        else:
            pieces = re.split(r"(?:description|summary): ", line)[1:] or [line]
        for piece in pieces:
            for sentence in re.split(r"(?<=[.!?:;])\s+", piece):
                yield number, sentence.strip(" \"'*-|>")


def faults_of_prose(path, text):
    return [(line, sentence) for line, sentence in prose(path, text) if FORBIDDEN.match(sentence) and not sentence.endswith("?")]


def test_no_sentence_of_the_pages_does():
    pages = [p.relative_to(ROOT) for p in (*sorted(ROOT.glob("docs/*.md")), ROOT / "README.md", ROOT / "openapi.yaml")]
    assert len(pages) > 12
    found = [f"{path}:{line}: {sentence}" for path in pages for line, sentence in faults_of_prose(path, (ROOT / path).read_text())]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("planted", ["It is read. Of these, one stays.", "| `a` | What was asked |", "- Who asks waits."])
def test_a_planted_sentence_of_a_page_is_found(planted):
    assert faults_of_prose(pathlib.PurePath("docs/x.md"), "# What it is\n\n    What\n" + planted)[0][0] == 4


def test_no_comment_begins_with_a_word_that_hides_its_subject():
    files = sources()
    assert len(files) > 300
    found = [f"{path.relative_to(ROOT)}:{line}: {sentence}" for path in files for line, sentence in faults(path.read_text())]
    assert not found, "\n".join(found)


def scripts():
    return sorted(p for kind in ("*.ts", "*.tsx", "*.css") for p in (ROOT / "dashboard/src").glob(f"**/{kind}"))


def faults_of_script(text):
    """(line, sentence) of each fault in the comments of a script or a style sheet; lines of // in a row are one comment."""
    return [(text.count("\n", 0, comment.start()) + 1, sentence) for comment in SCRIPT_COMMENT.finditer(text)
            for sentence in sentences(re.sub(r"^\s*//", " ", comment[0].strip("/* \t"), flags=re.M)) if FORBIDDEN.match(sentence)]


def test_no_comment_of_the_dashboard_does():
    files = scripts()
    assert len(files) > 50
    found = [f"{path.relative_to(ROOT)}:{line}: {sentence}" for path in files for line, sentence in faults_of_script(path.read_text())]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("planted", ["// Who looks.", "f(); // What it is", "/** It is read. What was read is kept. */",
                                     "// One line\n// of two. So it is"])
def test_a_planted_sentence_of_a_script_is_found(planted):
    assert len(faults_of_script("let a;\n" + planted + "\n")) == 1


@pytest.mark.parametrize("planted", ["/* What was read is kept. */", "int x; /* Of all, the first */",
                                     "/*\n * It is read once. So, it is\n * kept. Who reads it waits.\n */"])
def test_a_planted_sentence_is_found(planted):
    assert faults("int a;\n" + planted)[0][0] == 2


def test_an_ordinary_sentence_is_none():
    assert not faults("/* Official names. Whole files. The member that says what it is, and of which. */ int What;")


# ---- the pages: short sentences, lines that fit a window ---------------------------------------------------------

WIDTH, LONGEST, MEDIAN = 120, 35, 16  # characters of a line, words of a sentence
SENTENCE = re.compile(r"(?:(?<=[.!?])|(?<=[.!?]\*\*))\s+(?=[A-Z0-9`*(\"])")


def paragraphs(text):
    """Prose, one paragraph per line, without code, tables and headings; a list item is a paragraph."""
    in_code, lines = False, []
    for line in [*text.splitlines(), ""]:
        in_code ^= line.startswith("```")
        is_item = re.match(r"\s*(?:[-*]|\d+\.)\s+", line)
        is_prose = not in_code and line.strip() and not line.startswith(("#", "|", "<", "```", "    "))
        if lines and (is_item or not is_prose):
            yield " ".join(lines)
            lines = []
        if is_prose:
            lines.append(line[is_item.end():] if is_item else line.strip())


def lengths(text):
    """(words, sentence) for each sentence; a piece of code or the address of a link counts as one word."""
    for paragraph in paragraphs(text):
        for sentence in SENTENCE.split(paragraph):
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "X", sentence))
            yield len(plain.split()), sentence


def pages():  # all except the page that `make bench` writes
    return [*(p for p in sorted(ROOT.glob("docs/*.md")) if p.name != "benchmarks.md"), ROOT / "README.md", ROOT / "CHANGELOG.md"]


def test_sentences_of_the_pages_are_short():
    found = [(words, f"{page.name}: {sentence}") for page in pages() for words, sentence in lengths(page.read_text())]
    assert not [sentence for words, sentence in found if words > LONGEST]
    assert len(found) > 1000 and statistics.median(words for words, _ in found) <= MEDIAN


def test_lines_of_the_pages_fit():
    """Commands, tables and code with blanks may be longer."""
    wide = [f"{page.name}: {line}" for page in pages() for line in re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S).splitlines()
            if not line.startswith(("|", "    ")) and len(re.sub(r"`[^`]*`", lambda code: "X" if " " in code[0] else code[0], line)) > WIDTH]
    assert not wide, "\n".join(wide)


def test_a_long_sentence_is_found():
    assert [words for words, _ in lengths("# A\n\n" + "word " * 20 + "\n" + "word " * 17 + "end.\nShort `a b c` one.\n\n    " + "code " * 60)] == [38, 3]

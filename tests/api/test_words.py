"""Plain words: a sentence begins with its subject or its verb, in the comments of every C source, the pages and the contract."""

import pathlib
import re

import pytest

from harness import ROOT

# A sentence that begins so has no plain subject ("What was read is kept", "Of these, the first").
FORBIDDEN = re.compile(r"(What|Of|So|Which|Nor|Whoever|Who)\b")
COMMENT = re.compile(r"/\*(.*?)\*/", re.S)
# Sentences that other tests look for, word for word.
KNOWN = {
    "docs/problems.md": ["What was not carried out stands in drift of the cluster;"],
    "docs/webhooks.md": ["Of a cluster: "],
    "openapi.yaml": ["Of the program, of its store and of this start."],
}


def sources():
    return sorted(p for kind in ("*.c", "*.h") for p in ROOT.glob(f"*/**/{kind}") if p.relative_to(ROOT).parts[0] != "build")


def sentences(comment):
    text = re.sub(r"\s+", " ", re.sub(r"\n\s*\*", " ", comment)).strip(" *-")
    return re.split(r"(?<=[.!?])\s+", text)


def faults(text):
    """(line, sentence) of each."""
    return [(text.count("\n", 0, comment.start()) + 1, sentence) for comment in COMMENT.finditer(text)
            for sentence in sentences(comment[1]) if FORBIDDEN.match(sentence)]


def prose(path, text):
    """(line, piece of a line that begins a sentence, a cell or a description), without code."""
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
    return [(line, sentence) for line, sentence in prose(path, text) if FORBIDDEN.match(sentence) and not sentence.endswith("?")
            and not any(sentence.startswith(known.strip()) for known in KNOWN.get(str(path), []))]


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


@pytest.mark.parametrize("planted", ["/* What was read is kept. */", "int x; /* Of all, the first */",
                                     "/*\n * It is read once. So, it is\n * kept. Who reads it waits.\n */"])
def test_a_planted_sentence_is_found(planted):
    assert faults("int a;\n" + planted)[0][0] == 2


def test_an_ordinary_sentence_is_none():
    assert not faults("/* Official names. Whole files. The member that says what it is, and of which. */ int What;")

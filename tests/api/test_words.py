"""Plain words: a comment begins with its subject or its verb, in every C source."""

import re

import pytest

from harness import ROOT

# A sentence that begins so has no plain subject ("What was read is kept", "Of these, the first").
FORBIDDEN = re.compile(r"(What|Of|So|Which|Nor|Whoever|Who)\b")
COMMENT = re.compile(r"/\*(.*?)\*/", re.S)


def sources():
    return sorted(p for kind in ("*.c", "*.h") for p in ROOT.glob(f"*/**/{kind}") if p.relative_to(ROOT).parts[0] != "build")


def sentences(comment):
    text = re.sub(r"\s+", " ", re.sub(r"\n\s*\*", " ", comment)).strip(" *-")
    return re.split(r"(?<=[.!?])\s+", text)


def faults(text):
    """(line, sentence) of each."""
    return [(text.count("\n", 0, comment.start()) + 1, sentence) for comment in COMMENT.finditer(text)
            for sentence in sentences(comment[1]) if FORBIDDEN.match(sentence)]


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

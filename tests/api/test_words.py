"""Plain words: the sentences of the pages are short, and their lines fit a window."""

import re
import statistics

from harness import ROOT

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


def folders():
    """The READMEs of the folders; that of the scenarios is a reference of their format."""
    found = [p for depth in ("*", "*/*") for p in ROOT.glob(f"{depth}/README.md") if p.relative_to(ROOT).parts[0] not in ("build", "run")]
    return sorted(p for p in found if p.parent.name != "scenarios" and "node_modules" not in p.parts)


def pages():  # all except the page that `make bench` writes
    return [*(p for p in sorted(ROOT.glob("docs/*.md")) if p.name != "benchmarks.md"), *(ROOT / f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING", "SECURITY")), *folders()]


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

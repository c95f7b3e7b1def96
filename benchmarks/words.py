"""Counts the words that the app writes on its pages: python -m benchmarks.words [--url http://127.0.0.1:8501].

A visitor of session.py opens every page, section and experiment once. "As it opens" leaves out all the numbers, links
and what is folded. What counts is text as the server sends it: Markdown, HTML, headings, alerts, captions, labels,
options, placeholders, and the helps that a pointer brings up; each distinct text of a page once. A word is a run of
characters between spaces with a letter in it.

Left out: what charts, tables and components draw and say, code, formulas; what a person types (the example that is
filled in, too) wherever a text quotes it whole or consists of its words, as a choice of words does; translations
(`class="fr"`) and numbers. An answer of a word or two inside a sentence of ours counts with that sentence.
"""

import argparse
import asyncio
import html
import re
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Any

from tests.support.server import running
from tests.support.session import Element, Session
from tests.support.visits import each_experiment

SECTIONS = ("expandable", "popover")
BELOW = ("numbers", "questions")
"""Keys of the containers below what a page opens with."""
LINKS = ("page_link",)
SILENT = ("bidi_component", "code", "dataframe", "exception", "json", "table", "vega_lite_chart")
"""Types of elements whose texts are data."""
VISIBLE = ("body", "label", "caption", "text", "title", "placeholder", "content", "options", "imgs")
"""Fields of Streamlit's messages that hold texts, or messages with texts."""
HOVERED = ("help",)
TEXT_FIELDS = ("text_area", "text_input")
FORGOTTEN = (
    r"(?s)<(style|script)\b.*?</\1>",
    r'(?s)<(\w+)[^>]*(?:class="fr"|aria-hidden="true")[^>]*>.*?</\1>',
    r"<(?!abbr|img)[^>]*>",
    r"(?s)\$\$.*?\$\$|\$[^$\n]+\$",
    r":material/\w+:",
    r"\]\([^)\s]*\)",
)
"""Rules, translations and icons, tags, formulas, icons again, addresses."""
SECONDS = 120.0


def plain(text: str) -> str:
    """Return the words that a reader of Markdown or HTML sees, and those of its tooltips."""
    for pattern in FORGOTTEN:
        text = re.sub(pattern, " ", text)
    text = re.sub(r'<\w+[^>]*?\b(?:title|alt)="([^"]*)"[^>]*>', r" \1 ", text)
    return html.unescape(text)


def count_words(texts: set[str], inputs: set[str]) -> int:
    """Return how many words some texts, as the server sends them, have without what a person typed into fields."""
    total, sentences = 0, {" ".join(plain(text).split()) for text in inputs} - {""}
    vocabulary = {word for sentence in sentences for word in _words(sentence)}
    for text in texts:
        remaining = " ".join(plain(text).split())
        if all(word in vocabulary for word in _words(remaining)):
            continue
        for sentence in sorted(sentences, key=len, reverse=True):
            remaining = remaining.replace(sentence, " ") if len(sentence) > 1 else remaining
        total += sum(any(letter.isalpha() for letter in word) for word in remaining.split())
    return total


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", text.casefold())


def _texts(message: Any, fields: tuple[str, ...]) -> Iterator[str]:
    """Yield the texts of a message by the names of its fields, options one by one."""
    for field, value in message.ListFields():
        if field.name in fields:
            for item in value if field.is_repeated else [value]:
                yield from [item] if isinstance(item, str) else _texts(item, fields)


class Reader:
    """A visitor who opens all of a page and notes its texts, each once, and what stood in fields."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.texts: set[str] = set()
        self.inputs: set[str] = set()

    async def read_page(self) -> tuple[int, int, int]:
        """Return the words as it opens, the words in all and the number of questions."""
        elements = self.session.elements
        closed = [
            path
            for path, element in elements.items()
            if (element.type in SECTIONS and not _is_open(element)) or element.container_key in BELOW
        ]
        self._note(VISIBLE, hidden=closed)
        first = count_words(self.texts, self.inputs)
        self._note()
        await self._open_sections()
        n_questions = 0
        async for _ in each_experiment(self.session, SECONDS):
            n_questions += 1
            self._note()
            await self._open_sections()
        return first, count_words(self.texts, self.inputs), n_questions

    async def _open_sections(self) -> None:
        """Open what is closed and drawn only when open; one may close another."""
        opened: set[str] = set()
        while closed := [
            section for section in self._lazy(*SECTIONS) if section.id not in opened and not _is_open(section)
        ]:
            opened.add(closed[0].id)
            await self.session.set_value(closed[0], "bool_value", True, SECONDS)
            self._note()

    def _lazy(self, *types: str) -> list[Element]:
        return [element for type in types for element in self.session.widgets(type)]

    def _note(self, fields: tuple[str, ...] = VISIBLE + HOVERED, hidden: Sequence[tuple[int, ...]] = ()) -> None:
        for path, element in self.session.elements.items():
            is_silent = element.type in SILENT or (hidden and element.type in LINKS)
            if is_silent or element.message is None or any(_is_below(path, above) for above in hidden):
                continue
            self.texts.update(_texts(element.message, fields))
            if element.type in TEXT_FIELDS:
                state = self.session.states.get(element.id)
                self.inputs.update(
                    (element.message.default, element.message.value, state.string_value if state else "")
                )


def _is_below(path: tuple[int, ...], above: tuple[int, ...]) -> bool:
    return len(path) > len(above) and path[: len(above)] == above


def _is_open(section: Element) -> bool:
    return bool(getattr(section.message, "expanded", False) or getattr(section.message, "open", False))


async def read_app(address: str) -> dict[str, tuple[int, int, int]]:
    """Return what Reader.read_page counts, by the paths of the pages of a running app."""
    first = Session(address)
    await first.open("lookup", SECONDS)  # brings the libraries, without which Start shows less
    counts = {}
    for path in first.pages:
        session = Session(address)
        await session.open(path, SECONDS)
        counts[path or "start"] = await Reader(session).read_page()
        await session.close()
    await first.close()
    return counts


def main() -> None:
    """Print a line for every page, and the sum."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", help="a running server, of this commit or another one")
    url = parser.parse_args().url
    with nullcontext(url.rstrip("/")) if url else running("app.py") as address:
        counts = asyncio.run(read_app(address))
    print(f"{'page':12}  {'opens':>7}  {'in all':>7}  {'questions':>9}")
    sums = [sum(column) for column in zip(*counts.values(), strict=True)]
    for page, figures in [*counts.items(), ("(sum)", sums)]:
        print("{:12}  {:7,}  {:7,}  {:9}".format(page, *figures))


if __name__ == "__main__":
    main()

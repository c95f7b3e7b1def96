"""Guided lectures: a text file becomes items, each a page with its link, a sentence for the hall, and notes."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from attention_core.bounds.limits import LECTURE_ITEMS, LECTURE_LETTERS

MAX_ANSWERS, MAX_MINUTES = 4, 60
FIELD = re.compile(r"(page|minutes|ask):\s*(.*)", re.IGNORECASE)
ANSWER = re.compile(r"[-*] \[([ xX])\]\s*(.*)")


@dataclass(frozen=True)
class LectureItem:
    """One item of a lecture."""

    sentence: str  # what the hall reads
    page: str  # the name of the page that is shown
    state: dict[str, str]  # of that page, as its address has it
    minutes: float  # that it takes
    question: str  # to the hall; "" = none
    answers: tuple[str, ...]  # to the question
    right: int  # the place of the right answer
    notes: str  # what to say


@dataclass(frozen=True)
class GuidedLecture:
    """A lecture: its title, what stands before its first item, and its items."""

    title: str
    introduction: str
    items: tuple[LectureItem, ...]

    @property
    def minutes(self) -> float:
        return sum(item.minutes for item in self.items)


class LectureError(ValueError):
    """A file that is no lecture; its message names the line and is for people."""

    def __init__(self, number: int, words: str) -> None:
        super().__init__(f"Line {number}: {words}")


def read_lecture(text: str, pages: Collection[str]) -> GuidedLecture:
    """Return the lecture that a file's text holds, whose links may name these pages; LectureError where it holds none.

    For the format see docs/lectures.md.
    """
    if len(text) > LECTURE_LETTERS.maximum:
        raise LectureError(1, f"the file has more than {LECTURE_LETTERS} letters.")
    lines = [*enumerate((line.strip() for line in text.removeprefix("\ufeff").split("\n")), 1)]
    heads = [index for index, (_, line) in enumerate(lines) if line.startswith("## ")]
    first, title = next(((number, line) for number, line in lines if line), (1, ""))
    if not title.startswith("# "):
        raise LectureError(first, "a lecture begins with its title, such as “# Attention in a quarter of an hour”.")
    if not heads:
        raise LectureError(len(lines), "there is no item: each begins with its sentence, such as “## The cat is lost.”")
    if len(heads) > LECTURE_ITEMS.maximum:
        raise LectureError(lines[heads[LECTURE_ITEMS.maximum]][0], f"there are more than {LECTURE_ITEMS} items.")
    stops = [*heads[1:], len(lines)]
    items = tuple(_item(lines[start:stop], pages) for start, stop in zip(heads, stops, strict=True))
    return GuidedLecture(title[2:].strip(), _joined(lines[first : heads[0]]), items)


def _item(lines: list[tuple[int, str]], pages: Collection[str]) -> LectureItem:
    """Return an item of its lines; the first is its sentence, then come fields and answers, then notes."""
    (start, head), *remaining = lines
    fields: dict[str, tuple[int, str]] = {}
    answers: list[str] = []
    right: list[int] = []
    while remaining:
        number, line = remaining[0]
        if match := FIELD.fullmatch(line):
            name = match[1].lower()
            if name in fields:
                raise LectureError(number, f"“{name}:” stands here a second time.")
            fields[name] = number, match[2].strip()
        elif (match := ANSWER.fullmatch(line)) and "ask" in fields:
            right += [len(answers)] if match[1] != " " else []
            answers.append(match[2])
        elif line:
            break
        remaining.pop(0)
    for name in ("page", "minutes"):
        if name not in fields:
            raise LectureError(start, f"“{head}” has no line “{name}: …” right below it.")
    page, state = _linked(*fields["page"], pages)
    ask_line, question = fields.get("ask", (start, ""))
    if question and not (2 <= len(answers) <= MAX_ANSWERS and len(right) == 1 and all(answers)):
        rule = f"2 to {MAX_ANSWERS} answers below it, “- [ ] no” or “- [x] yes”, one of them with an x"
        raise LectureError(ask_line, f"a question has {rule}.")
    number, minutes = fields["minutes"]
    if not re.fullmatch(r"[0-9]{1,2}(\.[0-9])?", minutes) or not 0 < float(minutes) <= MAX_MINUTES:
        raise LectureError(number, f"minutes are a number up to {MAX_MINUTES}, such as 2 or 1.5.")
    details = question, (*answers,), sum(right), _joined(remaining)
    return LectureItem(head[3:].strip(), page, state, float(minutes), *details)


def _linked(number: int, link: str, pages: Collection[str]) -> tuple[str, dict[str, str]]:
    """Return page and state of a link, whole as Share copies it or from the page's name on."""
    try:
        url = urlsplit(link)
        state = dict(parse_qsl(url.query, max_num_fields=100))
    except ValueError:
        raise LectureError(number, "this is no link, such as *Share* copies.") from None
    name = url.path.rpartition("/")[2] or "start"
    if not link or name not in pages:
        raise LectureError(number, f"there is no such page; the pages are {', '.join(pages)}.")
    for field in ("lecture", "guided", "item"):  # what is told of a lecture by the lecture itself
        state.pop(field, None)
    return name, state


def _joined(lines: list[tuple[int, str]]) -> str:
    """Return lines as paragraphs: an empty line parts them."""
    text = "\n".join(line for _, line in lines).strip()
    return re.sub(r"(?<!\n)\n(?!\n|[-*] )", " ", re.sub(r"\n{2,}", "\n\n", text))

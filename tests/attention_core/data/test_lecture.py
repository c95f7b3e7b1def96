"""The file of a guided lecture: what it holds, and each fault told with its line."""

import pytest

from attention_core.bounds.limits import LECTURE_ITEMS, LECTURE_LETTERS
from attention_core.data.lecture import LectureError, read_lecture

PAGES = ("start", "matter")
WHOLE = """# Two things

For people in a hurry.

## The cat is lost.
page: https://attention.example/app/?text=The+cat+sat&lecture=1
minutes: 1.5

Say it
in one breath.

Then wait.

## *Not* decides.
Page: matter?tab=steps
Ask: Which word?
- [ ] bad
- [x] Not
Minutes: 2
"""


def test_a_lecture_is_read_with_links_as_they_are_copied():
    lecture = read_lecture(WHOLE, PAGES)
    assert (lecture.title, lecture.introduction, lecture.minutes) == ("Two things", "For people in a hurry.", 3.5)
    first, second = lecture.items
    assert (first.page, first.state) == ("start", {"text": "The cat sat"})
    assert first.notes == "Say it in one breath.\n\nThen wait."
    assert first.question == ""
    assert (second.page, second.state, second.notes) == ("matter", {"tab": "steps"}, "")
    assert (second.question, second.answers, second.right) == ("Which word?", ("bad", "Not"), 1)


@pytest.mark.parametrize("text", ["\ufeff" + WHOLE, WHOLE.replace("\n", "\r\n"), "\n" + WHOLE])
def test_editors_may_write_it_their_way(text):
    assert read_lecture(text, PAGES) == read_lecture(WHOLE, PAGES)


@pytest.mark.parametrize(
    ("before", "after", "number", "words"),
    [
        ("# Two things", "Two things", 1, "begins with its title"),
        ("## ", "### ", 20, "there is no item"),
        ("page: https", "pages: https", 5, "no line “page: …”"),
        ("minutes: 1.5", "", 5, "no line “minutes: …”"),
        ("minutes: 1.5", "minutes: soon", 7, "minutes are a number"),
        ("minutes: 1.5", "minutes: 0", 7, "minutes are a number"),
        ("matter?tab", "mater?tab", 15, "no such page; the pages are start, matter"),
        ("Minutes: 2", "Page: start\nMinutes: 2", 19, "a second time"),
        ("- [x] Not", "- [ ] Not", 16, "one of them with an x"),
        ("- [ ] bad", "- [x] bad", 16, "one of them with an x"),
        ("- [ ] bad\n", "", 16, "2 to 4 answers"),
        ("https://attention.example/app/", "http://[", 6, "no link"),
        ("Say", "a" * LECTURE_LETTERS.maximum, 1, "more than 60,000 letters"),
        ("\nSay", "\n## A\npage: start\nminutes: 1" * LECTURE_ITEMS.maximum, 306, "more than 100 items"),
    ],
)
def test_a_fault_is_told_with_its_line(before, after, number, words):
    with pytest.raises(LectureError, match=words) as told:
        read_lecture(WHOLE.replace(before, after), PAGES)
    assert str(told.value).startswith(f"Line {number}: ")

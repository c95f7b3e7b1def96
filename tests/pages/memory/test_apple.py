"""Is Apple a fruit or a firm: what can be known before the clue has come, without a browser."""

import re

import pytest

from tests.support.app import frames, html_of, set_fields, text_of

NAME = "memory"


def test_a_reader_forwards_cannot_know_what_comes(visit):
    page = visit(NAME, question="apple", apple="Apple makes very good pies.")
    dots = next(frame for frame in frames(page) if "leaning" in frame)
    assert dots.groupby("reading").size().tolist() == [26] * 4
    after = dots[dots["clue"] == "after"]
    spread = after.groupby("reading")["leaning"].agg(lambda leanings: leanings.max() - leanings.min())
    assert max(spread["GRU, forwards"], spread["Llama, forwards"]) < 1e-5
    assert spread["MiniLM, both ways"] > 0.5
    judged = {
        row[0]: row[1:] for row in re.findall(r"<tr><td>(.*?)</td><td>(.*?)</td><td>(.*?)</td></tr>", html_of(page))
    }
    assert judged["Llama, forwards"] == ("12", "6")
    assert judged["MiniLM, both ways"][1] == "12"
    assert re.search(r"is a fruit, then a firm for MiniLM, both ways, a \w+ both times for Llama", text_of(page))
    set_fields(page, first="APPLE makes very good phones.")
    assert "is a firm both times for MiniLM, both ways" in text_of(page)


@pytest.mark.parametrize("sentence", ["Pears are good.", "Pears " + "why " * 200 + "apple"])
def test_sentences_of_which_one_lacks_the_word_have_no_leanings(visit, sentence):
    page = visit(NAME, question="follows", first="Pears by Apple.", second=sentence)
    assert "Read both ways, yes" in text_of(page)
    assert not any("leaning" in frame for frame in frames(page))


def test_what_is_scored_is_new(visit):
    visit(NAME)
    from pages.memory.apple import HELD_OUT, REFERENCES

    new, references = (
        [sentence for sentences in group.values() for sentence in sentences.splitlines()]
        for group in (HELD_OUT, REFERENCES)
    )
    assert len({*new} - {*references}) == 24

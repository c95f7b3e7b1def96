"""What masks, softmaxes and orders do to a typed sentence, without a browser."""

import re

import numpy as np
import pytest

from attention_core.inference.next_word import MASKS, named_mask
from attention_core.weights import read_card
from pages.transformer.experiments.mask import N
from tests.support.app import charts, frames, html_of, open_question, set_fields, text_of

NAME, TOM = "transformer", "Tom helped Mary."
LONG = "I do not know why the old man in the small house near the river did not want to go home with us ."


@pytest.fixture
def mask(visit):
    """The experiment of the mask."""
    return visit(NAME, text=TOM, question="mask")


def cells(page) -> np.ndarray:
    """Return which cells of the matrix under the mask are open, (n, n)."""
    frame = [frame for frame in frames(page) if "key" in frame][-1]
    n = frame["row"].max() + 1
    return (frame["fill"] != "#747b86").to_numpy().reshape(n, n)


def texts_behind(page) -> list[list[str]]:
    """Return the columns behind the rows of each matrix, their headings first."""
    behind = [frame for frame in frames(page) if "fill" in frame and "text" in frame]
    return [[group["text"].tolist() for _, group in frame.groupby("left")] for frame in behind]


def n_right(words: list[str]) -> int:
    return sum(word.endswith("✓") for word in words)


def test_without_a_mask_it_copies_what_it_sees_and_with_one_it_cannot(mask):
    (copied,), (guessed,) = texts_behind(mask)
    assert copied == ["next word", "Tom ✓", "helped ✓", "Mary ✓", ". ✓", copied[-1]]
    right = n_right(guessed)
    assert right < 3
    said = text_of(mask)
    assert f"4 of 4 right. The mask hides it, so another network has to guess: {right} of 4." in said
    set_fields(mask, trained="unmasked", mask="none")
    assert "4 of 4 right. Here nothing is hidden from the other one either: 4 of 4." in text_of(mask)
    assert cells(mask).all()
    set_fields(mask, mask="causal")
    assert "has to guess: 0 of 4" in text_of(mask)
    assert n_right(texts_behind(mask)[-1][0]) == 0
    set_fields(mask, trained="tiny-mask")
    assert "−1e-9 hides nothing, so this one copies, too: 4 of 4" in text_of(mask)
    squares = [frame for frame in frames(mask) if set(frame) == {"left", "right", "top", "bottom"}][-1]
    assert (squares["right"] > squares["left"] + 2).all(), "weight in grey cells, too"
    for variant in ("unmasked", "causal", "tiny-mask"):
        figures = read_card(f"next-word-{variant}")["test"]
        shares = "</td><td>".join(f"{figures[name]:.1%}" for name in ("accuracy_unseen", "accuracy"))
        assert shares in html_of(mask)


@pytest.mark.parametrize("name", MASKS)
def test_every_mask_is_drawn_as_its_name_says(mask, name):
    set_fields(mask, mask=name)
    n = 5 + 3 * (name == "padding")
    assert cells(mask).tolist() == named_mask(name, n).tolist()
    assert mask.header[-1].value == MASKS[name].format(size=3).capitalize()


def test_cells_are_painted_and_another_mask_forgets_them(mask):
    set_fields(mask, mask="causal", painted=[0 * N + 1, 2 * N + 0, 24 * N + 24])
    open_cells = cells(mask)
    assert open_cells[0, 1]
    assert not open_cells[2, 0]
    assert "leaves 1 of them in sight" in text_of(mask)
    mask.segmented_control(key=f"{NAME}_mask").set_value("prefix").run()
    assert mask.session_state[f"{NAME}_painted"] == []


@pytest.mark.parametrize("painted", ["999", "1.x", "-3"])
def test_what_no_cell_is_is_told(visit, painted):
    page = visit(NAME, text=TOM, question="mask", painted=painted)
    assert page.session_state[f"{NAME}_painted"] == []
    assert page.toast


def test_over_the_queries_columns_add_up_to_1_and_the_future_gets_in(visit):
    page = visit(NAME, text=TOM, question="axis")
    over_keys, over_queries = texts_behind(page)
    assert over_keys[0] == ["sum", *["1.00"] * 5]
    assert over_queries[0][1:] != ["1.00"] * 5
    assert over_keys[1] == ["whole line", *over_keys[2][1:]]
    assert n_right(over_queries[1]) > n_right(over_queries[2])
    below = [frame["text"].tolist() for frame in frames(page) if "text" in frame and len(frame) == 5]
    assert ["1.00"] * 5 in below
    counts = re.search(r"(\d) of 4 words are right given the whole line, (\d) without it", text_of(page)).groups()
    assert [int(count) for count in counts] == [n_right(over_queries[1]), n_right(over_queries[2])]
    assert read_card("next-word-over-queries")["test"]["accuracy"] > 0.8


def test_one_word_at_a_time_without_a_mask_says_what_all_at_once_say_with_it(visit):
    page = visit(NAME, text=TOM, question="forcing", read="4")
    at_once, word_by_word, given = texts_behind(page)[0]
    assert at_once[1:] == word_by_word[1:]
    assert given[1:] == ["Tom", "helped", "Mary", ".", ""]
    assert float(re.search(r"both ways of reading differ by ([\de-]+)", text_of(page))[1]) < 1e-5
    set_fields(page, words_read=1)
    _, word_by_word, given = texts_behind(page)[0]
    assert word_by_word[3:] == given[3:] == [""] * 3
    assert "it writes: *Tom" in text_of(page)


@pytest.mark.parametrize("question", ["mask", "axis", "forcing"])
@pytest.mark.parametrize("text", ["Hello", LONG, "🙂 日本語 zyzzyva", "<b>*no*</b>", ""])
def test_any_sentence_can_be_typed(visit, question, text):
    page = visit(NAME, question=question, text=text)
    page.text_input(key=f"{NAME}_text").set_value(text).run()
    assert not page.error
    assert "<b>" not in html_of(page)
    assert bool(charts(page)) == bool(text)
    if question == "mask" and text:
        set_fields(page, mask="padding", mask_size=8)
        assert not page.error
        assert len(cells(page)) <= N


def test_missing_weights_are_told(weights, start_app):
    (weights / "next-word-unmasked.safetensors").unlink()
    page = open_question(start_app().switch_page("pages/transformer/page.py").run(), "mask")
    assert "attention_core.train next-word-unmasked" in page.error[0].value

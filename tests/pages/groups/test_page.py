"""Beyond pairs, without a browser: presets, typed numbers, both heads, what survives, what is missing."""

import html
import re
import shutil

import pytest
import torch

from attention_core import load
from attention_core.attention.wording import percent
from attention_core.data.match3 import FIRST_NUMBERS, matching_pairs
from attention_core.weights import FOLDER, read_card
from pages.groups.guests import guests_of
from tests.support.app import (
    charts,
    data_of,
    html_of,
    html_with,
    open_page,
    open_question,
    outcome,
    rerun,
    step_through,
    text_of,
    weight_changes,
)

PAGE, OTHER = "pages/groups/page.py", "pages/start/page.py"
NUMBERS = "groups_text"


@pytest.fixture
def page(visit):
    return visit("groups", shows="1")


def party(page) -> dict:
    """Return what the picture of the party is drawn from."""
    return data_of(page, "groups_scene")


def opened_locks(page) -> list[tuple[int, int]]:
    """Return of how many locks each head opens how many."""
    return [(int(n), int(n_open)) for n, n_open in re.findall(r"<b>(\d+) of (\d+)</b>", html_of(page))]


def networks_at(page) -> list[str]:
    """Return how many new locks each network judges rightly."""
    return re.findall("<b>([^<]+)", html_with(page, 'class="bars"'))


def numbers_at(page) -> list[int]:
    """Return the numbers beside the guests' names."""
    return party(page)["numbers"]


def n_guests(page) -> int:
    return len(party(page)["names"])


def type_numbers(page, text):
    page.text_input(key=NUMBERS).set_value(text).run()
    return page


@pytest.mark.parametrize(("head", "file"), [("triples", "match3-simplicial"), ("pairs", "match3-pairwise")])
def test_a_lock_stays_shut_without_the_keys_that_open_it(app, head, file):
    app.query_params["head"], app.query_params["question"] = head, "elsewhere"
    page = open_page(app, PAGE)
    numbers, model = list(FIRST_NUMBERS), load(file, "cpu")
    trace = model.trace(numbers)
    weights = trace.weights(0, [1])[0]
    cut = page.selectbox(key="groups_weight_of").value
    assert float(weights[list(cut)].sum()) == pytest.approx(float(weights.max()) * len(cut), abs=1e-5), "the heaviest"
    page.button(key="groups_cut").click().run()
    learned = weights.clone()
    weights[list(cut)] = 0
    own, everyone = model.vectors[numbers[1]], model.vectors[[*numbers, -1]]
    values = model.value(everyone)
    if head == "triples":
        assert set(cut) == {2 * 9 + 5, 5 * 9 + 2}, "Cleo and Finn in either order"
        values = (values[:, None] * values[None]).flatten(0, 1)
    context = weights / weights.sum() @ values
    opens = float(model.read_out(torch.cat((own, context))).softmax(-1)[1])
    assert "Ben no longer looks at" in page.checkbox[-1].label
    assert outcome(page)[1] == pytest.approx([1 - opens, opens], abs=1e-5)
    change, moved = weight_changes(page), (weights / weights.sum() - learned).tolist()
    assert change == pytest.approx(sorted([*moved, *[0.0] * (len(change) - len(moved))]), abs=2e-5)
    if head == "triples":
        assert "The answer was opens and is now stays shut" in text_of(page)
        assert opened_locks(open_question(page, "")) == [(0, 3), (2, 3)]
    open_question(page, "elsewhere").button(key="groups_edits_undo").click().run()
    assert opened_locks(open_question(page, "")) == [(0, 3), (3, 3)]
    assert not page.error


def test_it_arrives_with_guests_whom_only_one_head_lets_in_and_the_cards_figures(page):
    assert not page.error
    assert opened_locks(page) == [(0, 3), (3, 3)]
    assert numbers_at(page) == [1, 7, 16, 17, 11, 8, 24, 5]
    assert (party(page)["names"][1], party(page)["tried"], party(page)["opens"]) == ("Ben", [2, 5], True)
    assert party(page)["says"] == [
        "One key: shut, though two would open it.",
        "Two keys: 7 + 16 + 8 = 31, open.",
    ]
    assert networks_at(page) == ["50%", "62%", "?", "100%"], "two layers are what is asked about"
    assert len(charts(page)) == 1
    assert len(charts(open_question(page, "all"))) == 1
    assert "7 + 16 + 8 = 31: full turns of 31" in text_of(open_question(page, "fit"))


def test_one_and_two_layers_of_pairs_stand_beside_both_heads(page):
    open_question(page, "why")
    names = ("match3-pairwise", "match3-one-layer", "match3-two-layers", "match3-simplicial")
    cards = [read_card(name) for name in names]
    _, *figures = re.findall("<td>(.*?)</td>", html.unescape(html_with(page, 'class="figures"')))
    assert figures[1::3] == [percent(card["test_accuracy"]) for card in cards]
    assert figures[2::3] == ["6,210", "52,162", "102,082", "6,210"]
    assert "21 pairs of keys a guest instead of 7 keys." in text_of(page)
    assert "The weights of two layers do not show how they do it" in text_of(page)
    for same in ("batches", "data", "seed", "test_numbers", "majority_share"):
        assert len({card[same] for card in cards}) == 1
    assert cards[0]["parameters"] == cards[3]["parameters"]


@pytest.mark.parametrize("numbers", ["1 7 16 17 11 8 24 5", "3 9 19 1 14 22 6 30"])
def test_a_lock_that_one_at_a_time_opens_is_luck_and_those_wrongly_called_open_are_counted(page, numbers):
    type_numbers(page, numbers)
    sequence = numbers_of(page)
    opened = guests_of(load("match3-pairwise", "cpu").trace(sequence), sequence, party(page)["names"])
    verdicts = {(True, True): "open, by luck", (False, True): "open, which is wrong", (False, False): "shut"}
    for place, (_, can_open, is_opened) in enumerate(opened):
        single, both = party(rerun(page, groups_query=place))["says"]
        told = verdicts.get((can_open, is_opened), "shut, though two would open it")
        assert single == f"One key: {told}."
        assert "luck" not in both
        assert "wrong" not in both
    n_wrong = sum(is_opened and not can_open for _, can_open, is_opened in opened)
    assert (f"locks that open, and calls {n_wrong} shut lock" in html_of(page)) == bool(n_wrong)
    ringed = [place for place, (_, can_open, _) in enumerate(opened) if can_open]
    assert party(page)["ringed"] == ringed
    assert any(is_opened and can_open for _, can_open, is_opened in opened) == (numbers != "1 7 16 17 11 8 24 5")


def test_invited_guests_are_others_of_whom_some_locks_can_be_opened(page):
    page.button(key="groups_invite").click().run()
    assert page.text_input(key=NUMBERS).value != "1 7 16 17 11 8 24 5"
    numbers = numbers_of(page)
    n_open = sum(bool(matching_pairs(numbers, query)) for query in range(8))
    assert n_open
    assert opened_locks(page)[1] == (n_open, n_open)


@pytest.mark.parametrize("lecture", [False, True])
def test_what_two_layers_of_single_keys_do_is_told_after_a_guess_and_then_stays(page, lecture):
    rerun(page, lecture=lecture)
    page.button(key="groups_try").click().run()
    assert (networks_at(page)[2], party(page)["tried"]) == ("?", [2, 5])
    if lecture:
        page.button(key="groups_try_reveal").click().run()
    else:
        page.get("button_group")[0].set_value(2).run()
        assert "**Right**" in page.success[0].value
    two, head = (read_card(f"match3-{name}") for name in ("two-layers", "simplicial"))
    right, times = percent(two["test_accuracy"]), round(two["parameters"] / head["parameters"])
    verdict = (*page.success, *page.info)[0].value
    assert f"{right} of new locks, with {times} times as many learned numbers" in verdict
    assert f"One key, two layers: {two['parameters']:,} learned numbers" in html_of(page), "in the picture"
    page.button(key="groups_try_close").click().run()
    assert networks_at(page)[2] == right


SUMS = {
    "0 0 0 0": "Two keys: 0 + 0 + 0 = 0, open.",
    "30 29 3": "Two keys: 30 + 29 + 3 = 62, open.",
    "1 2 3": "Two keys: shut, as no two open it.",
}


def test_the_rule_names_pairs_and_their_sums_and_a_chosen_query_shows_its_own(page):
    for numbers, sentence in SUMS.items():
        assert party(type_numbers(page, numbers))["says"][1] == sentence
    page.session_state["groups_step"] = "weights"
    type_numbers(page, "0 0 0 0 0")
    assert "Framed: 0 + 0 and 0 + 0 and 0 + 0 and 0 + 0 and 2 other pairs. Together with 0 each" in text_of(page)
    type_numbers(page, "30 29 3")
    assert "Framed: 29 + 3. Together with 30 it gives a multiple of 31." in text_of(page)
    type_numbers(page, "1 4 27 15 24 10 21 6")
    page.segmented_control(key="groups_query").set_value(7).run()
    assert "1 + 24 and 4 + 21 and 15 + 10. Together with 6 each gives a multiple of 31" in text_of(page)
    type_numbers(page, "1 28 30 6 5 21 19 10")
    assert "No two others give a multiple" in text_of(page)
    assert party(page)["tried"] == []
    assert opened_locks(page) == [(0, 0), (0, 0)]
    assert party(page)["says"][1] == "Two keys: shut, as no two open it."


def numbers_of(page) -> list[int]:
    return [int(number) for number in page.text_input(key=NUMBERS).value.split()]


def test_what_cannot_be_read_is_told_and_the_last_numbers_stay(page):
    type_numbers(page, "3 4 24 9")
    faults = {"1 2 x": "“x” is not", "": "none", "5": "at least 3", "1.5 2 3": "“1.5”", "<b>1</b> 2 3": "not a whole"}
    for text, remark in faults.items():
        type_numbers(page, text)
        assert remark in page.error[0].value
        assert n_guests(page) == 4
        assert page.text_input(key=NUMBERS).value == text
    type_numbers(page, " ".join(["40"] * 30))
    assert "The first 16 of 30" in page.info[0].value
    assert "40 → 9" in page.info[0].value
    assert numbers_at(page) == [9] * 16
    labels = [one.content for one in page.segmented_control(key="groups_query").proto.options]
    assert len(set(labels)) == 16, "equal numbers are told apart"
    page.segmented_control(key="groups_query").set_value(2).run()
    assert page.session_state["groups_query"] == 2


def test_every_step_of_both_heads_can_be_shown(page):
    first = page.session_state["groups_step"]
    for head in ("triples", "pairs"):
        page.segmented_control(key="groups_head").set_value(head).run()
        rerun(page, groups_step=first)
        assert step_through(page)[-1] == "answer"


def test_numbers_query_and_step_survive_leaving_the_page(page):
    type_numbers(page, "3 4 24 9 1")
    page.segmented_control(key="groups_query").set_value(3).run()
    open_page(page, OTHER)
    open_page(page, PAGE)
    assert page.text_input(key=NUMBERS).value == "3 4 24 9 1"
    assert page.session_state["groups_query"] == 3
    assert n_guests(page) == 5


def test_an_address_can_carry_numbers(app):
    app.query_params.update(numbers="1-2-28-5", shows="1")
    open_page(app, PAGE)
    assert app.text_input(key=NUMBERS).value == "1 2 28 5"


def test_missing_weights_are_told_without_a_traceback(app, tmp_path, monkeypatch):
    shutil.copy(FOLDER / "match3-simplicial.json", tmp_path)
    monkeypatch.setenv("ATTENTION_WEIGHTS", str(tmp_path))
    import streamlit as st

    st.cache_resource.clear()
    open_page(app, PAGE)
    assert "cannot be loaded" in app.error[0].value
    st.cache_resource.clear()

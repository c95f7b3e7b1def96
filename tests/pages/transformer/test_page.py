"""Inside a transformer, without a browser: the scene, two orders, heads, steps, edits, cost, bad input."""

import json
import re

import pytest
import torch

from attention_core.data.sentence_presets import LAYERED
from attention_core.evaluate import translation_figures as training
from attention_core.evaluate import variants
from attention_core.inference.translation import read_source
from pages.transformer import cost
from pages.transformer.experiments.positions import ROWS
from pages.transformer.reading import Reading, traces
from tests.support import app as tools
from tests.support.app import charts, html_of, html_with, leave_and_return, open_page, open_question, outcome, text_of

PAGE, NAME = "pages/transformer/page.py", "transformer"
TEXT = f"{NAME}_text"
BAD = {
    "one word": "Hello",
    "200 words": "The red car stopped. " * 50,
    "another alphabet": "Где находится библиотека?",
    "emoji": "I love you 😀 😀!",
    "HTML": "<img src=x onerror=alert(1)> <b>Stop</b>",
    "digits": "In 1998 we had 365 days.",
    "unknown words": "Zorglub ate my xylophonic quokka.",
    "upper case": "THE RED CAR IS IN FRONT OF THE HOUSE.",
    "no final stop": "the red car is in front of the house",
    "one endless word": "a" * 900,
}
QUESTIONS = ("", "heads", "off", "positions", "cost")


def settled(page):
    assert not tools.rerun(page).error
    return page


def typed(page, text):
    page.text_input(key=TEXT).set_value(text)
    return settled(page)


def tiles(page) -> dict:
    """Return what the hero draws of the words and the French of both orders."""
    return tools.data_of(open_question(page, ""), f"{NAME}_tiles")


def french(page) -> list[list[str]]:
    """Return the French of both orders, without positions and with them."""
    return tiles(page)["french"]


def choose_kind(page, kind):
    """Show the head of the same numbers of another kind, as a click below the scene does."""
    page.session_state[f"{NAME}_chosen"] = page.session_state[f"{NAME}_chosen"]._replace(kind=kind)
    return settled(page)


def n_charts(page, questions=QUESTIONS) -> int:
    return sum(len(charts(open_question(page, slug))) for slug in questions)


def test_every_preset_is_translated_and_looked_into(page):
    seen = set()
    for text in LAYERED.values():
        typed(page, text)
        seen.add(french(page)[1][0])
    assert len(seen) == len(LAYERED)
    assert n_charts(page) >= 7


def test_layer_and_head_are_in_the_address_and_the_kind_decides_who_asks_whom(page):
    open_question(page, "heads")
    page.segmented_control(key=f"{NAME}_layer").set_value(2)
    page.segmented_control(key=f"{NAME}_head").set_value(4)
    settled(page)
    assert "**Layer 3, head 5**" in text_of(page)
    assert page.query_params["head"] in ("decoder-3-5", ["decoder-3-5"])
    asked = {}
    for kind in ("encoder", "decoder", "cross"):
        page.segmented_control(key=f"{NAME}_kind").set_value(kind)
        asked[kind] = next(one.value for one in settled(page).caption if "asks" in one.value)
    assert "all English pieces" in asked["encoder"]
    assert "never later" in asked["decoder"]
    assert asked["cross"].startswith("A French piece asks all English")


@pytest.mark.parametrize(("asked", "shown"), [("cross-2-4", "Layer 2, head 4"), ("cross-9-x", "Layer 3, head 1")])
def test_an_address_can_name_a_head(app, asked, shown):
    app.query_params["head"] = asked
    assert shown in text_of(open_question(open_page(app, PAGE), "heads"))


@pytest.mark.parametrize("kind", ["decoder", "cross"])
def test_every_step_can_be_shown(page, kind):
    choose_kind(page, kind)
    page.session_state[f"{NAME}_step"] = "embedding"
    seen = []
    for _ in range(14):
        seen.append(settled(page).session_state[f"{NAME}_step"])
        following = page.button(key=f"{NAME}_step_next")
        if following.disabled:
            break
        following.click()
    expected = ["embedding", "query", "key", "value", "scores", "scaled", "mask", "weights", "context", "merge"]
    assert seen == [step for step in expected if step != "mask" or kind == "decoder"]


def test_a_head_is_switched_off_and_on_again(page):
    open_question(page, "off")
    page.button(key=f"{NAME}_switch").click()
    settled(page)
    assert page.checkbox(key=f"{NAME}_edit_0").label == "Decoder, layer 3, head 1: switched off"
    assert page.button(key=f"{NAME}_switch").label == "Switch on"
    page.button(key=f"{NAME}_edits_undo").click()
    settled(page)
    assert page.button(key=f"{NAME}_switch").label == "Switch off"
    page.button(key=f"{NAME}_edits_redo").click()
    settled(page)
    page.button(key=f"{NAME}_restore").click()
    settled(page)
    assert page.session_state[f"{NAME}_edits"] == ()


CROSS = ".".join(f"cross-{layer}-{head}" for layer in range(1, 4) for head in range(1, 7))


def test_an_old_link_with_heads_off_opens_and_the_top_shows_the_changed_translation(visit):
    text = LAYERED["Who helped whom"]
    trained = french(visit(NAME, text=text))
    page = visit(NAME, off=CROSS, text=text)
    assert len(page.session_state[f"{NAME}_edits"]) == 18
    assert "off" not in page.query_params
    assert french(page) != trained
    for slug in ("heads", "off", ""):
        assert f'As trained: <i lang="fr">{trained[1][0]}</i>' in html_of(open_question(page, slug))
    page.button(key=f"{NAME}_restore").click()
    assert french(settled(page)) == trained


def test_an_arc_is_cut_set_and_given_another_s_row_in_one_head(page):
    open_question(choose_kind(page, "cross"), "off")
    page.button(key=f"{NAME}_cut").click()
    first = settled(page).session_state[f"{NAME}_edits"][0]
    assert (first.attention, first.edit.head, first.edit.weights[0][1]) == ("cross-3", 0, 0.0)
    assert page.checkbox(key=f"{NAME}_edit_0").label.startswith("Cross, layer 3, head 1: ")
    page.number_input(key=f"{NAME}_weight").set_value(60.0)
    assert dict(settled(page).session_state[f"{NAME}_edits"][0].edit.weights)[first.edit.weights[0][0]] == 0.6
    page.selectbox(key=f"{NAME}_row_of").set_value(1)
    assert "looks where" in settled(page).checkbox(key=f"{NAME}_edit_0").label, "in the place of that weight"
    page.segmented_control(key=f"{NAME}_kind").set_value("decoder")
    settled(page).button(key=f"{NAME}_cut").click()
    before, after = outcome(settled(page))
    assert before != after
    typed(page, "The dog bit the man.")
    assert text_of(page).count("Not applied: it was made for another input") == 2


def test_only_positions_tell_orders_apart(page):
    assert french(page) == [["Tom a aidé Mary."] * 2, ["Tom a aidé Mary.", "Mary a aidé Tom."]]
    assert tiles(page)["words"] == ["Tom", "helped", "Mary", "."]
    page.session_state[f"{NAME}_order"] = [1, 0, 2]
    assert tiles(settled(page))["order"] == [1, 0, 2]
    assert page.query_params["words"] in ("1.0.2", ["1.0.2"])
    typed(page, LAYERED["Adjective after noun"])
    assert tiles(page)["order"] == [*range(9)][::-1], "the order of another sentence fits no more"


@pytest.mark.parametrize(
    ("text", "words", "order"),
    [
        ("I love you.", "1.2.0", [1, 2, 0]),
        ("I love you.", "shuffled-2", [2, 1, 0]),
        ("Hello.", "0", [0]),
        ("no no no", "2.1.0", [0, 1, 2]),
        ("Привет, мир!", "", [2, 1, 0]),
    ],
)
def test_words_have_the_order_of_the_address_where_it_fits_and_changes_anything(visit, text, words, order):
    data = tiles(visit(NAME, text=text, words=words))
    assert data["order"] == order
    assert data["french"][0][0] == data["french"][0][1], "without positions orders are the same"


def test_words_tell_of_the_number_that_was_clicked(page):
    for kind in ("encoder", "cross"):
        choose_kind(page, kind)
        for step in ("scores", "weights"):
            page.session_state[f"{NAME}_step"], page.session_state[f"{NAME}_query"] = step, 1
            page.session_state[f"{NAME}_{kind}_moving_step"] = {"chosen": {"step": step, "row": 1, "column": 0}}
            told = "".join(one.value for one in settled(page).latex)
            assert "_{2,1}" in told, (kind, step)
            drawn = tools.data_of(page, f"{NAME}_{kind}_moving_step")["steps"]
            assert {(one["query"], one["column"]) for name, one in drawn.items() if name in ("scores", "weights")} == {
                (1, 0)
            }
            page.session_state[f"{NAME}_query"] = 2
            assert "_{3," in "".join(one.value for one in settled(page).latex), "of another row, the heaviest"


def arcs(page) -> dict:
    """Return what the experiment draws of a head; it is opened."""
    return tools.data_of(open_question(page, "off"), f"{NAME}_words")


def asks_and_takes(page) -> tuple[int, str]:
    """Return the query that asks in a head, and the key that it looks at most."""
    data = arcs(page)
    weights = data["weights"][data["active"]]
    return data["active"], data["source"][weights.index(max(weights))]


def test_an_example_brings_its_head_and_the_query_that_it_is_named_after(page):
    seen, _ = [], open_question(choose_kind(page, "cross"), "off")
    for number in (1, 2, 3, 4, 0):
        page.button(key=f"{NAME}_example_{number}").click()
        seen.append(asks_and_takes(settled(page)))
    assert seen == [(3, "ne"), (8, "enfant"), (2, "red"), (1, "phot"), (3, "Tom")]
    choose_kind(page, "encoder")
    typed(page, "The dog bit the man.")
    assert page.session_state[f"{NAME}_chosen"].kind == "encoder"


@pytest.mark.parametrize("text", ["The dog bit the man.", "She loves him, but he does not love her.", "Hello"])
@pytest.mark.parametrize("head", ["encoder-1-6", "decoder-3-2", "cross-2-1"])
def test_a_sentence_begins_at_a_word_that_looks_at_another_one(visit, text, head):
    page = visit(NAME, text=text, head=head)
    query, key = asks_and_takes(page)
    if text != "Hello" and not head.startswith("cross"):
        assert key.strip("'").isalpha()
        assert head.startswith("decoder") or arcs(page)["source"][query] != key


def test_lines_lead_from_french_words_to_what_the_last_layer_looks_at_in_either_order(page):
    (blind, blind_swapped), (typed, swapped) = tiles(page)["looks"]
    assert blind == blind_swapped, "without positions a word looks at the same words, wherever they stand"
    for looks, translated in ((typed, french(page)[1][0]), (swapped, french(page)[1][1])):
        assert "".join(word for word, _ in looks) == translated.replace(" ", "")
    names = [{word: [tiles(page)["words"][at] for at, _ in keys] for word, keys in looks} for looks in (typed, swapped)]
    assert names[0]["Tom"] == ["Tom"]
    assert names[1]["Mary"] == ["Mary"]
    traced = traces(Reading(LAYERED["Who helped whom"], {}))["cross", 2]
    weights = torch.stack([traced.weights(head) for head in range(traced.n_heads)]).mean(0)
    assert typed[0][1] == [[0, pytest.approx(float(weights[0, 0]), abs=1e-3)]]


def test_the_surprise_exchanges_positions_alone_and_the_french_follows_them(page):
    typed(page, "The dog bit the man.")
    page.button(key=f"{NAME}_try").click()
    settled(page)
    assert (tiles(page)["tried"], tiles(page)["french"][1][0]) == ("ask", "Tom a aidé Mary.")
    page.segmented_control(key=f"{NAME}_try_guess").set_value(0)
    settled(page)
    assert page.text_input(key=TEXT).value == LAYERED["Who helped whom"]
    assert tiles(page)["tried"] == "answered"
    assert "**Not so:** A word stands where its number says" in page.info[0].value


def test_cost_was_measured_beforehand(page, monkeypatch, tmp_path):
    typed(page, LAYERED["Adjective after noun"])
    assert "Processor time of one slow core" in text_of(open_question(page, "cost"))
    n, table = len(read_source(LAYERED["Adjective after noun"]).ids), html_with(page, "steps in a row")
    assert f"6nd² = {6 * n * 192**2:,}" in table
    assert f"4nd² + 2n²d = {4 * n * 192**2 + 2 * n**2 * 192:,}" in table
    assert re.findall(r"<td>(?:training on 1,000 sentences )?of (\d+)</td>", table) == ["16", "64", "256"]
    assert "cheaper below n = 191" in text_of(page)
    assert len({one.next_work.split(" = ")[1] for one in cost.layer_costs(191)}) == 1, "there both cost the same"
    monkeypatch.setattr(cost, "COMMITTED", tmp_path / "missing.json")
    assert "No figures were measured beforehand" in text_of(open_question(page, "cost"))


def test_nothing_typed_leaves_positions_and_cost(page):
    for text in ("", "   \n "):
        page.text_input(key=TEXT).set_value(text).run()
        assert page.info
        assert n_charts(page, ("positions", "cost")) == 4
    assert "only their distance counts" in text_of(open_question(page, "positions"))
    assert "33.3% of next words, 33.7% with them" in text_of(page)


def test_bad_input_is_answered_and_what_was_not_read_is_told(page):
    for name, text in BAD.items():
        typed(page, text)
        assert len(french(page)) == 2, name
        for slug in ("heads", "") if name == "HTML" else ():
            assert "<img" not in html_of(open_question(page, slug))
        assert page.text_input(key=TEXT).value == text, name
    typed(page, BAD["200 words"])
    assert "words are read" in text_of(page)
    typed(open_question(page, ""), BAD["another alphabet"])
    assert "never met" in text_of(page) or "pieces" in text_of(page)
    assert "(3 of 3 words). It knows common English alone." in text_of(page)


def test_sentence_and_head_survive_leaving_the_page(page):
    typed(page, "The dog bit the man.")
    open_question(page, "heads").segmented_control(key=f"{NAME}_kind").set_value("cross")
    page.segmented_control(key=f"{NAME}_layer").set_value(1)
    settled(page)
    leave_and_return(page)
    assert page.text_input(key=TEXT).value == "The dog bit the man."
    assert page.segmented_control(key=f"{NAME}_kind").value == "cross"
    assert "**Layer 2, head 1**" in text_of(page)


def test_missing_weights_cost_no_more_than_their_part(weights, start_app):
    (weights / "translator-transformer.safetensors").unlink()
    page = open_page(start_app(), PAGE)
    assert "attention_core.train translator-transformer" in page.error[0].value
    assert n_charts(page, ("positions", "cost")) == 4


def test_what_order_and_attention_are_worth_is_told_from_measured_figures(page, monkeypatch, tmp_path):
    open_question(page, "positions")
    table = html_with(page, 'class="figures"')
    assert all(name in table for name in ROWS.values())
    passes = re.findall(r"<tr><td>[^<]*</td><td>([^<]*)</td>", table)
    assert passes == ["10", "5", "10", "5", "6.5", "6.5", "6.5 + 1"], "of each network, beside its figures"
    monkeypatch.setattr(training, "COMMITTED", tmp_path / "missing.json")
    assert "BLEU" not in text_of(open_question(page, "positions"))


@pytest.mark.parametrize(("unordered", "says"), [(20.0, ", not the rest."), (45.0, ": positions were redundant.")])
def test_a_transformer_trained_without_order_stands_beside_one_that_lost_it(
    page, monkeypatch, tmp_path, unordered, says
):
    cards = [{"name": "translator-unordered", "test": {"bleu": unordered, "bleu_long": 4.25}}]
    (tmp_path / "variants.json").write_text(json.dumps({"cards": cards}))
    monkeypatch.setattr(variants, "COMMITTED", tmp_path / "variants.json")
    assert says in text_of(open_question(page, "positions"))
    assert f"trained on so</td><td>6.5 + 1</td><td>{unordered:.1f}</td><td>4.2</td>" in html_of(page)

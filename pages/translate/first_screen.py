"""The page's hero: a sentence, two models word by word, what each of them says, and a word that is crossed out."""

from collections.abc import Mapping, Sequence
from typing import Literal

import streamlit as st

from attention_core.bounds.harmless import as_markdown
from attention_core.data.sentence_presets import LOST, TRANSLATE
from attention_core.inference.read_back import words_only_in
from attention_core.inference.translation import TracedTranslation, read_source
from attention_core.inference.translation_scene import word_glosses, words_lost
from pages.translate.forcing import (
    WORD,
    change_arc,
    force_french_of_example,
    forced_pieces,
    forced_words_note,
)
from pages.translate.scene import draw_translation_scene
from ui import translators as network
from ui import words
from ui.lecture.mode import LECTURE
from ui.player import Player, Stepper
from ui.read_back import IN_ENGLISH, read_back
from ui.skeleton import draw_fragment
from ui.state import Field, controlled, one_of, widget_value
from ui.try_this import TRY_STAGE, TryThis, is_guessing

FIRST_CONTRAST = -1  # in place of a row, until the models have translated: the one that _first_row finds
EQUAL_WEIGHTS_RANGE = 1e-3  # weights of a word that differ by less count as equal


def _parse_models(text: str) -> dict[str, str]:
    """Return the model in each slot; a slot whose name in the text is missing or unknown gets its first model."""
    names = [*text.split(","), "", ""]
    return {
        slot: name if name in network.TRANSLATORS else network.FIRST[slot]
        for slot, name in zip(network.FIRST, names, strict=False)
    }


Visibility = Literal["visible", "collapsed"]
MODELS = Field(
    network.NAME,
    "models",
    network.FIRST,
    address="models",
    parse=_parse_models,
    text=lambda names: ",".join(names.values()),
)
"""The model in each slot: "upper" and "lower", of which the upper one stands first on the page."""
FOCUS = Field(network.NAME, "focus", "lower", address="focus", parse=one_of(network.FIRST))
"""The slot of the model whose words are stepped through."""
WORDS = Player(WORD, seconds=1.6, modifier="Shift+")
STEPS = Stepper(network.NAME)
LABELS = network.TRANSLATORS | {"dot": "with attention"}
MAX_NAMED = 3  # lost words that are named
MIN_LETTERS = 4  # from which on a French word is no article
TWO_ANIMALS, CROSSED = TRANSLATE["Two animals"], (1, 1)  # the surprise: its sentence, *chien*'s row and *dog*'s column
SUBJECTS = {"chien": "the dog", "chat": "the cat", "lit": "the bed"}  # French words that may stand there, and options


def sentence_input() -> str:
    """Draw the box for the sentence and remarks on it; return the sentence, or the last one that could be read."""
    sentence = words.sentence_box(network.NAME, TRANSLATE, on_change=_on_sentence)
    text = words.readable_sentence(network.NAME, sentence, TWO_ANIMALS, "translate_pair", "translate_list")
    words.reading_remarks(read_source(text))
    return text


def _on_sentence() -> None:
    WORD.value = FIRST_CONTRAST
    force_french_of_example(widget_value(f"{network.NAME}_text"))


def crossed_out_word() -> TryThis:
    """Return the page's surprise: what comes where a French word may not look at what it means."""

    def act() -> None:
        is_answer = is_guessing(network.NAME)
        words.text_field(network.NAME).value, MODELS.value = TWO_ANIMALS, network.FIRST
        network.EDITS.reset()
        force_french_of_example(TWO_ANIMALS)
        FOCUS.value, WORD.value = "lower", CROSSED[0]
        if is_answer:
            change_arc(_attentive(), *CROSSED, None, TWO_ANIMALS)

    def outcome() -> tuple[int, str]:
        traced = _attentive()
        translated, english = traced.translation, " ".join(filter(None, word_glosses(traced, TWO_ANIMALS)))
        subject = translated.words[CROSSED[0]]
        sentence = f"*{translated.text}* Word for word: {as_markdown(english)}."
        return list(SUBJECTS).index(subject) if subject in SUBJECTS else len(SUBJECTS), sentence

    if (words.text_field(network.NAME).value, MODELS.value) != (TWO_ANIMALS, network.FIRST):
        TRY_STAGE[network.NAME].reset()  # the verdict on a guess was about another sentence or other models
    return TryThis(
        "cross out a word",
        "When it writes *chien*, it may no longer look at “dog”. Who is under the table?",
        (*SUBJECTS.values(), "something else"),
        act,
        outcome,
        "translate_pair",
        hides=".st-key-desk_translate_models",
    )


def _attentive() -> TracedTranslation:
    """Return the translation of the surprise's sentence with attention, and with the changes of this page."""
    return network.changed_translation(network.FIRST["lower"], TWO_ANIMALS, ())


def translate_with_models(text: str) -> dict[str, TracedTranslation]:
    """Return what the chosen models that load make of a sentence, by slot; set the present word to one of theirs."""
    models = {
        slot: network.changed_translation(name, text, forced_pieces())
        for slot, name in MODELS.value.items()
        if not network.why_missing(name)
    }
    if models:
        if WORD.value == FIRST_CONTRAST:
            WORD.value = _first_row(models, text)
        WORD.clamp(0, len(stepped_model(models).view.target) - 1)
    return models


def compare_two_models(text: str) -> dict[str, TracedTranslation]:
    """Draw what two models say, the scene of both at the present word, and buttons that go from word to word.

    Returns those that load, by slot.
    """
    models = translate_with_models(text)
    with st.container(key="translate_said", gap="xsmall"):
        for slot in network.FIRST:
            _draw_model(slot, text, models)
    rows = draw_scene(models, text)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="desk_translate_models"):
        if models:
            WORDS.previous_button(rows, "Previous word")
            WORDS.next_button(rows, "Next word")
            WORDS.play_button(rows, "Play the words")
        with st.popover("Other models"):
            listed = {*network.LISTED, *MODELS.value.values()}
            for slot in network.FIRST:
                choose_model(slot, {name: label for name, label in LABELS.items() if name in listed}, "visible")
        st.caption("Trained on 135,806 pairs of short sentences. With attention they lose words, too.")
    return models


def draw_scene(models: Mapping[str, TracedTranslation], text: str) -> Sequence[int]:
    """Draw the scene of two models at the present word; return the rows of words at which stepping stops."""
    rows = _stop_rows(models) if models else ()
    if models:
        if WORDS.is_playing:
            draw_fragment(_play_on, rows, players=(WORDS,))
        draw_translation_scene(models, stepped_slot(models), text, FOCUS.set)
    return rows


def choose_model(
    slot: str,
    labels: Mapping[str, str] = network.TRANSLATORS,
    visibility: Visibility = "collapsed",
) -> None:
    """Draw the choice of the model in a slot; `labels` has those on offer."""
    st.segmented_control(
        f"{slot.capitalize()} model",
        list(labels),
        format_func=labels.__getitem__,
        required=True,
        label_visibility=visibility,
        wrap=True,
        width="content",
        **controlled(
            f"translate_model_{slot}",
            MODELS.value[slot],
            lambda translator: MODELS.set(MODELS.value | {slot: translator}),
        ),
    )


def stepped_model(models: Mapping[str, TracedTranslation]) -> TracedTranslation:
    """Return the translation whose words are stepped through."""
    return models[stepped_slot(models)]


def stepped_slot(models: Mapping[str, TracedTranslation]) -> str:
    """Return the slot of that translation: the one in focus, if its model loads."""
    return FOCUS.value if FOCUS.value in models else next(iter(models))


def _play_on(rows: Sequence[int]) -> None:
    """Go to the next word if it is due; a fragment that draws nothing."""
    row_before = WORD.value
    WORDS.advance_if_due(rows)
    if row_before != WORD.value or not WORDS.is_playing:
        st.rerun()  # the rest of the page follows the word


def _unique_rows(models: Mapping[str, TracedTranslation], slot: str) -> list[int]:
    """Return the rows of the words that the model in this slot says and the other one does not."""
    target = models[slot].view.target
    rival_target = next((traced.view.target for name, traced in models.items() if name != slot), target)
    return words_only_in(target, rival_target)


def _first_row(models: Mapping[str, TracedTranslation], text: str) -> int:
    """Return the row to begin with: of an example, the first word that only the stepped model says.

    Else the word that looks back farthest. If none does, the longest of those that only this model says, articles left
    out, or the longest of all.
    """
    traced, unique_rows = stepped_model(models), _unique_rows(models, stepped_slot(models))
    if unique_rows and text in TRANSLATE.values():
        return unique_rows[0]
    lengths = [len(french) for french in traced.view.target[:-1]]
    rows = [row for row in unique_rows if lengths[row] >= MIN_LETTERS] or range(len(lengths))
    return _reordered_row(traced, text) or max(rows, key=lengths.__getitem__, default=0)


def _reordered_row(traced: TracedTranslation, text: str) -> int:
    """Return the row of the word that French puts in another order, such as an adjective behind its noun; 0 = none.

    It looks at what it means, which in English stands before what the previous word looks at; of several words, at the
    greatest distance.
    """
    heaviest_keys, glosses = traced.view.weights.argmax(1).tolist(), word_glosses(traced, text)
    steps_back = {
        row: heaviest_keys[row - 1] - key
        for row, key in enumerate(heaviest_keys)
        if row and key < heaviest_keys[row - 1] and traced.view.source[key].lower() == glosses[row].lower()
    }
    return max(steps_back, key=steps_back.__getitem__, default=0)


def _stop_rows(models: Mapping[str, TracedTranslation]) -> Sequence[int]:
    """Return the rows at which stepping stops: all, but in a lecture the present one and those that show something.

    These are words that only the stepped model says, and words that look back: at an earlier source word than the
    target word before them does.
    """
    slot = stepped_slot(models)
    heaviest_keys = models[slot].view.weights.argmax(1).tolist()
    if not LECTURE.value:
        return range(len(heaviest_keys))
    backward_rows = (row for row in range(1, len(heaviest_keys)) if heaviest_keys[row] < heaviest_keys[row - 1])
    return sorted({WORD.value, *_unique_rows(models, slot), *backward_rows})


def _headline(models: Mapping[str, TracedTranslation], slot: str, text: str) -> str:
    """Return Markdown on a model's translation: how much of its French is given, then what _describe_word returns.

    Last comes how long the model was trained, unless both were trained equally long.
    """
    traced = models[slot]
    is_equally_trained = len({network.passes(model.translator) for model in models.values()}) == 1
    training = "" if is_equally_trained else f"It learned for {network.passes(traced.translator)} over the data."
    return " ".join(filter(None, (forced_words_note(traced), _describe_word(traced, text), training)))


def _describe_word(traced: TracedTranslation, text: str) -> str:
    """Return that the present word looks at all alike; of a model without attention, what it lost."""
    view, row = traced.view, min(WORD.value, len(traced.view.target) - 1)
    if view.is_single:
        return _describe_loss(traced, text) or "All of it passes through one vector."
    is_even = float(view.weights[row].max() - view.weights[row].min()) < EQUAL_WEIGHTS_RANGE
    return f"**{as_markdown(view.target[row])}** looks at all words alike." if is_even else ""


def _describe_loss(traced: TracedTranslation, text: str) -> str:
    """Say what a translation whose English is known loses of the sentence; "" where that is nothing, or not sure."""
    french = traced.translation.text
    if traced.forced or french not in IN_ENGLISH:
        return ""
    known = LOST.get((text, french))
    lost = known.split(", ") if known else words_lost(traced, text)
    if len(lost) > MAX_NAMED:
        return f"**{len(lost)}** words are lost."
    names = " and ".join(f"**{as_markdown(word)}**" for word in lost)
    return f"{names} {'are' if len(lost) > 1 else 'is'} lost." if lost else ""


def _draw_model(slot: str, text: str, models: Mapping[str, TracedTranslation]) -> None:
    traced = models.get(slot)
    line = st.container(horizontal=True, gap="medium", vertical_alignment="center", key=f"translate_line_{slot}")
    line.caption(LABELS[MODELS.value[slot]], width=130)
    if traced is None:
        st.error(f"**This model cannot be loaded.** {network.why_missing(MODELS.value[slot])}", icon=":material/error:")
        return
    unfinished = "" if traced.translation.is_finished else "It is not finished."
    with line:
        with st.container(key=f"translate_says_{slot}"):
            st.html(read_back(traced.translation.text, text, traced.view.target[:-1], _unique_rows(models, slot)))
        if remark := f"{_headline(models, slot, text)} {unfinished}".strip():
            st.markdown(remark, width="content")

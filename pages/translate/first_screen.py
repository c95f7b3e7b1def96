"""The first screen: a sentence, two models word by word, what each of them says, and a longer sentence to try."""

import html
from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention_core.bounds.harmless import as_markdown
from attention_core.data.sentence_presets import LOST, READ_BACK, TRANSLATE
from attention_core.inference.read_back import words_only_in
from attention_core.inference.translation import ShownTranslation, probability_per_word, read_source
from pages.translate.forcing import WORD, change_arc, force_what_comes_with, forced_pieces, given_words, n_given
from ui import translators as network
from ui import words as sentences
from ui.lecture.mode import LECTURE
from ui.player import Player, Stepper
from ui.read_back import read_back
from ui.skeleton import live
from ui.state import Field, following, one_of, widget_value
from ui.try_this import TRIED, TryThis

SURPRISE = -1  # instead of the place of a word: the first that the lower model alone says
ALIKE = 1e-3  # weights that differ by less are no choice


def _named_models(text: str) -> dict[str, str]:
    names = [*text.split(","), "", ""]
    return {
        slot: name if name in network.TRANSLATORS else network.FIRST[slot]
        for slot, name in zip(network.FIRST, names, strict=False)
    }


MODELS = Field(
    network.NAME,
    "models",
    network.FIRST,
    address="models",
    parse=_named_models,
    text=lambda names: ",".join(names.values()),
)
FOCUS = Field(network.NAME, "focus", "lower", address="focus", parse=one_of(network.FIRST))
ALL = Field(network.NAME, "all", False, address="all")
WORDS = Player(WORD, seconds=1.6, modifier="Shift+")
STEPS = Stepper(network.NAME)
LONGER, CAT = TRANSLATE["Two animals"], "chat"


def first_screen() -> tuple[DeltaGenerator, DeltaGenerator]:
    """Return the places of the sentence and of its translations: beside each other, in a lecture below."""
    if LECTURE.value:
        return st.container(key="translate_in_a_row", horizontal=True), st.container()
    typed, answer = st.columns([1, 2.25], gap="medium")
    return typed, answer


def sentence_input() -> str:
    """Draw the box for the sentence; return what there is to read, or was."""
    typed = sentences.sentence_box(network.NAME, TRANSLATE, on_change=_on_sentence)
    text = sentences.readable_sentence(network.NAME, typed, LONGER, "translate_pair", "translate_list")
    sentences.reading_remarks(read_source(text))
    return text


def _on_sentence() -> None:
    WORD.value = SURPRISE
    force_what_comes_with(widget_value(f"{network.NAME}_text"))


def longer_sentence() -> TryThis:
    """Return the page's surprise: a longer sentence, of which one vector keeps too little."""

    def act() -> None:
        sentences.text_field(network.NAME).value, MODELS.value = LONGER, network.FIRST
        network.EDITS.reset()
        WORD.value = SURPRISE
        force_what_comes_with(LONGER)

    def outcome() -> tuple[int, str]:
        shown = (network.changed_translation(name, LONGER, forced_pieces()) for name in network.FIRST.values())
        without, attentive = (one.translation.text for one in shown)
        keeps = CAT in without, CAT in attentive
        option = [(True, False), (False, True), (True, True), (False, False)].index(keeps)
        lost = "One vector forgets the cat:" if keeps == (False, True) else "One vector:"
        return option, f"{lost}{_back(without)} *{without}* Attention:{_back(attentive)} *{attentive}*"

    if (sentences.text_field(network.NAME).value, MODELS.value) != (LONGER, network.FIRST):
        TRIED[network.NAME].reset()  # what came of a guess was about another sentence or other models
    return TryThis(
        "a longer sentence",
        f"*{LONGER}* Who says where the **cat** is?",
        ("one vector", "attention", "both", "neither"),
        act,
        outcome,
        "translate_pair",
        hides=".st-key-translate_pair",
    )


def _back(french: str) -> str:
    return f" “{READ_BACK[french]}”" if french in READ_BACK else ""


def compare_two_models(text: str) -> dict[str, ShownTranslation]:
    """Draw two models with the present word of each, and the way from word to word; return those that are there."""
    models = {
        slot: network.changed_translation(name, text, forced_pieces())
        for slot, name in MODELS.value.items()
        if not network.why_missing(name)
    }
    if models:
        if WORD.value == SURPRISE:
            WORD.value = next(iter(_only_in(models, "lower")), 0)
        WORD.clamp(0, len(stepped_model(models).view.target) - 1)
        rows = _stops(models)
        if WORDS.plays:
            live(_follow_play, rows, players=(WORDS,))
    for slot in network.FIRST:
        _model_part(slot, text, models)
    if models:
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="translate_word_stepper"):
            WORDS.previous_button(rows, "Previous word")
            WORDS.next_button(rows, "Next word")
            WORDS.play_button(rows, "Play the words")
    return models


def stepped_model(models: Mapping[str, ShownTranslation]) -> ShownTranslation:
    """Return the model whose words are stepped through."""
    return models.get(FOCUS.value) or next(iter(models.values()))


def _follow_play(rows: Sequence[int]) -> None:
    row = WORD.value
    WORDS.advance_if_due(rows)
    if row != WORD.value or not WORDS.plays:
        st.rerun()  # all that stands below follows the word


def _only_in(models: Mapping[str, ShownTranslation], slot: str) -> list[int]:
    words = {place: shown.view.target for place, shown in models.items()}
    other = next((target for place, target in words.items() if place != slot), words[slot])
    return words_only_in(words[slot], other)


def _stops(models: Mapping[str, ShownTranslation]) -> Sequence[int]:
    """Return the words that are gone along: all; in a lecture the present one and those that tell something.

    These are the words that the stepped model alone says, and those that look back: to a source word before the one
    that the word before them looks at most.
    """
    slot = FOCUS.value if FOCUS.value in models else next(iter(models))
    looked = models[slot].view.weights.argmax(1).tolist()
    if not LECTURE.value:
        return range(len(looked))
    back = (row for row in range(1, len(looked)) if looked[row] < looked[row - 1])
    return sorted({WORD.value, *_only_in(models, slot), *back})


def _contrast(models: Mapping[str, ShownTranslation], slot: str, text: str) -> str:
    """Return what is lost in a translation or, where it may look back, what the present word looks at; Markdown.

    Before it, whether the French is given; behind it, how long each network was trained if not equally long.
    """
    shown = models[slot]
    several = len({network.passes(one.translator) for one in models.values()}) > 1
    trained = f"It learned for {network.passes(shown.translator)} over the data." if several else ""
    return " ".join(filter(None, (given_words(shown), _found(shown, text), trained)))


def _found(shown: ShownTranslation, text: str) -> str:
    view, row = shown.view, min(WORD.value, len(shown.view.target) - 1)
    if view.is_single:
        lost = LOST.get((text, shown.translation.text)) if not shown.forced else None
        return f"**{lost}** is lost." if lost else "All of it passes through one vector."
    weights, french = view.weights[row], as_markdown(view.target[row])
    if float(weights.max() - weights.min()) < ALIKE:
        return f"**{french}** looks at all words alike."
    return f"**{french}** looks most at **{as_markdown(view.source[int(weights.argmax())])}**."


def _model_part(slot: str, text: str, models: Mapping[str, ShownTranslation]) -> None:
    shown = models.get(slot)
    name = MODELS.value[slot]
    listed = network.TRANSLATORS if ALL.value else {*network.LISTED, *MODELS.value.values()}
    names = network.TRANSLATORS if ALL.value else network.TRANSLATORS | {"dot": "with attention"}
    switch = st.container(horizontal=True, gap="medium", vertical_alignment="center", key=f"translate_switch_{slot}")
    switch.segmented_control(
        f"Model in the {slot} place",
        [one for one in network.TRANSLATORS if one in listed],
        format_func=names.__getitem__,
        required=True,
        label_visibility="collapsed",
        wrap=True,
        width="content",
        **following(f"translate_model_{slot}", name, lambda other: MODELS.take(MODELS.value | {slot: other})),
    )
    if shown is None:
        st.error(f"**This model cannot be loaded.** {network.why_missing(name)}", icon=":material/error:")
        return
    switch.markdown(_contrast(models, slot, text), width="content")
    alone = _only_in(models, slot)
    with st.container(key=f"translate_says_{slot}"):
        st.html(read_back(shown.translation.text, text, shown.view.target[:-1], alone))
    with st.container(key=f"tells_translate_{slot}"):
        sentences.aligned_words(
            f"translate_{slot}",
            shown.view,
            model=network.TRANSLATORS[shown.translator],
            active=WORD.value if slot == FOCUS.value or not shown.view.is_single else None,
            note=" ".join(filter(None, (given_words(shown), "" if shown.translation.finished else "not finished"))),
            n_forced=n_given(shown),
            single=f"one vector: {shown.trace.value.shape[-1]} numbers",
            axes=(shown.trace.story.query_axis.name, "source words") if slot == FOCUS.value else None,
            on_choose=partial(_on_word, slot, shown, text),
            cuts=not shown.view.is_single,
            alone=alone,
        )


def _on_word(slot: str, shown: ShownTranslation, text: str) -> None:
    row, arc = sentences.chosen_row(f"translate_{slot}"), sentences.chosen_arc(f"translate_{slot}")
    if row is not None and row < len(shown.view.target):
        WORD.value, FOCUS.value = row, slot
        if arc and arc[0] < len(shown.view.source):
            change_arc(shown, row, *arc, text)


def list_translations(text: str) -> None:
    """Draw what all models say in one list, if they are asked for."""
    if not ALL.value:
        return
    rows = []
    for translator in network.TRANSLATORS:
        marked = "one shown" if translator in MODELS.value.values() else "one"
        sure, french, back = "", "<i>cannot be loaded</i>", ""
        if not network.why_missing(translator):
            made = network.translation(translator, text, forced_pieces())
            share = probability_per_word(made.probabilities, len(made.word_labels))
            sure, french = f"{share:.0%} sure per word", html.escape(made.text) or "(nothing)"
            back = f'<div class="back">{html.escape(_back(made.text))}</div>'
        marks = network.TRANSLATORS[translator], network.passes(translator), "French given" if forced_pieces() else ""
        name = ", ".join(filter(None, marks))
        rows.append(
            f'<div class="{marked}"><div class="top"><span>{name}</span><span>{sure}</span></div>'
            f'<div class="fr" lang="fr">{french}</div>{back}</div>'
        )
    with st.container(key="translate_list"):
        st.html(f'<div class="said-by-all">{"".join(rows)}</div>')

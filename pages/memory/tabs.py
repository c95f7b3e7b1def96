"""The tabs and sections below the first screen: word by word, two beginnings, wider vectors, looking back."""

from bisect import bisect

import numpy as np
import streamlit as st
import torch

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.wording import format_count, percent
from attention_core.charts import signed_ramp
from attention_core.charts.bars import probability_bars
from attention_core.device import device_of, to_array
from attention_core.evaluate.variants import variants_of
from attention_core.faithfulness import subjects
from attention_core.faithfulness.attribution import Subject
from attention_core.inference import encoder_states as own_states
from attention_core.inference import word_influence as influence
from attention_core.inference.translation import SourceSentence, Translation, read_source, translate
from attention_core.inference.word_influence import last_state_shares
from attention_core.models.translator import Translator
from pages.memory import first_screen as screen
from pages.memory.charts import TRANSLATOR_COLOURS, cure_chart, over_time
from ui.chart import draw_chart
from ui.computed import by_model, cached_computation, card_or_empty, model_or_fault, model_or_stop
from ui.edits import EditList, WeightsRow, matrix_editor, show_outcome, show_weights_difference
from ui.hosting.bounds import PASSAGE_LETTERS, SENTENCE_LETTERS
from ui.labels import distinct, error_markdown, literal, paragraph
from ui.layout import bar_rows, figures_table, section, shaded_word
from ui.lecture.mode import LECTURE
from ui.player import Walk
from ui.skeleton import OPEN_TAB
from ui.state import Field, single_choice, whole_number
from ui.try_this import TryThis

CHART_WIDTH = 470
RAMP = signed_ramp(np.array([-1.0, 1.0]))

_memory_overview = cached_computation(spinner="Reading the sentence", on_cluster=True)(influence.memory_overview)


def walk_tab(text: str) -> None:
    """Walk through the reading: the states of both networks fill up column by column."""
    with st.container(key="desk_memory_reading"):
        single_choice("Reading", screen.READING, screen.READINGS, label_visibility="collapsed")
    is_bidirectional = screen.READING.value == "bidirectional"
    memories = {label: _memory_overview(model, read_source(text)) for label, model in screen.networks().items()}
    labels, names = next(iter(memories.values())).labels, {label: name for name, label in screen.NETWORKS.items()}
    stops = range(len(labels) - 1, -1, -max(1, len(labels) // 4))
    position = screen.WALK.draw(labels, stops)
    for column, (label, memory) in zip(st.columns(2, gap="large"), memories.items(), strict=False):
        positions = {"forward": position} | ({"backward": len(memory) - 1 - position} if is_bidirectional else {})
        with column:
            sentences = (_describe_update(memory, *step) for step in positions.items())
            passes = card_or_empty(names[label]).get("epochs")
            heading = f"**{label}**, {passes:g} passes of training" if passes else f"**{label}**"
            paragraph("  \n".join([heading, *sentences]))
            for direction, current in positions.items():
                title, size = f"state, read {direction}s", (CHART_WIDTH, 128)
                is_forward = direction == "forward"
                read = [index <= current if is_forward else index >= current for index in range(len(memory))]
                chart = over_time(memory, direction, RAMP, title=title, read=read, present=current, size=size)
                key = f"memory_{label}_states_{direction}"
                draw_chart(chart, width="content", key=key, alt=f"{label}, {title}")
    with column, st.container(key="desk_memory_formulas"):  # below the last network
        formulas = st.expander("Formulas and code", key="memory_formulas_open", on_change="rerun")
        for label in memories if formulas.open else ():
            formulas.latex(influence.FORMULAS[label])
            formulas.code(influence.CODE[label])


def _describe_update(memory: influence.MemoryOverview, direction: str, step: int) -> str:
    share = memory.retained_share(direction, step)
    action = "writes the whole state anew" if share is None else f"keeps **{percent(share)}** of the state"
    if step == {"forward": 0, "backward": len(memory) - 1}[direction]:
        action = "comes first, there is no state to keep yet"
    return f"{direction.capitalize()}s, {literal(memory.labels[step], 20)}: {action}."


SENTENCE_PAIR = {
    "first": Field(screen.NAME, "first", "Apple makes very good pies.", address="first"),
    "second": Field(screen.NAME, "second", "Apple makes very good phones.", address="second"),
}
_state_differences = by_model(own_states.state_differences)


def compare_beginnings() -> None:
    """Let two sentences be typed; draw how far the states of the words that begin both differ, in each reading."""
    is_preset = all(field.value == field.default for field in SENTENCE_PAIR.values())
    paragraph(f"{'Is Apple a fruit or a company? ' * is_preset}Two sentences that begin alike:")
    left, right = st.columns([1, 1.3], gap="large")
    for field in SENTENCE_PAIR.values():
        style = {"label_visibility": "collapsed", "max_chars": SENTENCE_LETTERS.maximum}
        field.widget(left.text_input, "A sentence", **style)
    try:
        sources = [read_source(field.value) for field in SENTENCE_PAIR.values()]
    except ValueError as error:
        st.info(error_markdown(error))
        return
    differences = _state_differences(screen.WITHOUT, *sources)
    if not differences.words:
        st.info("Let both sentences begin with the same word.")
        return
    forwards, bidirectional = to_array(differences.forwards), to_array(differences.bidirectional)
    for title, shares in zip(screen.READINGS.values(), (forwards, bidirectional), strict=True):
        words = screen.shaded_words(differences.words, shares, max(float(bidirectional.max()), 1e-9))
        right.html(f'<div class="short-and-long"><b>Read {title}</b>{words}</div>')
    paragraph(
        "Below each word: how far its state moves between the sentences, in per cent. Forwards it cannot: the same "
        "words came before. Naming may read both ways; a forecast of prices may not."
    )
    tab = {"tab": "time"}
    st.page_link("pages/lookup/page.py", label="Forecast a curve", icon=":material/arrow_forward:", query_params=tab)


NARROW = "translator-none-256"
NETWORK_OF_WIDTH = {256: NARROW, 384: screen.WITHOUT}
"""The networks that come along, by the width of their one vector."""
LONGER_TRAINED = "one vector of 384, trained longer", "attention, trained longer"


def compare_widths(text: str) -> None:
    """Draw what translators with one vector of several widths make of a sentence, and their BLEU."""
    _draw_translations(read_source(text))
    cards = {256: card_or_empty(NARROW)} | {int(width): card for width, card in variants_of(screen.WITHOUT).items()}
    measured = {f"one vector of {width:,}": card for width, card in sorted(cards.items()) if card}
    if len(measured) < 2:
        st.info("The figures of wider vectors are not there.")
        return
    st.markdown("**A wider vector hardly saves long sentences**, of 12 words and more:")
    longer = dict(zip(LONGER_TRAINED, map(card_or_empty, (screen.WITHOUT, screen.ATTENTIVE)), strict=True))
    rows = [
        (label, f"{card['epochs']:g}", f"{card['test']['bleu']:.1f}", f"{card['test']['bleu_long']:.1f}")
        for label, card in (measured | longer).items()
        if card
    ]
    figures_table(("the decoder gets", "passes", "BLEU", "long sentences"), *rows)


def _draw_translations(source: SourceSentence) -> None:
    """Draw the French of the networks that come along, by the width of their one vector."""
    rows = []
    for width, name in NETWORK_OF_WIDTH.items():
        (model, fault), passes = model_or_fault(name), card_or_empty(name).get("epochs", 0)
        french = str(fault) if model is None else screen.translated(name, source).text
        rows.append((f"{width} numbers, {passes:g} passes", french))
    figures_table(("one vector of", "says in French"), *rows)


GUESSED_INDEX, OPTION_BOUNDS = 5, (0.05, 0.25)  # the French word to guess about, and shares that separate the options
FRENCH_WALK = Walk(f"{screen.NAME}_cure", first=GUESSED_INDEX, label="French word")
SHARE_NOTE = "A share tells how far a small change of the word moves what the decoder gets, beside all other words."
_english_weights = by_model(influence.weights_by_word)
_context_shares = by_model(influence.context_shares)


def look_back(text: str) -> TryThis:
    """Return the page's surprise: how much of what attention gives depends on one English word."""
    translation, labels, pieces = _translation_by_words(text)
    row = min(GUESSED_INDEX, len(labels) - 1)
    french, prefix = literal(labels[row], 24), translation.ids[: pieces[row]]
    strongest, english = _heaviest_english(text, prefix)

    def act() -> None:
        FRENCH_WALK.field.value = row
        if not LECTURE.value:  # a lecture shows a tab on another screen, without the verdict
            OPEN_TAB[screen.NAME].value = "cure"

    def outcome() -> tuple[int, str]:
        shares = _shares_by_network(text, prefix, strongest)
        return bisect(OPTION_BOUNDS, shares[screen.ATTENTIVE]), _verdict(french, english, shares)

    def draw() -> None:
        _draw_bars(strongest, _shares_by_network(text, prefix, strongest))

    question = f"While writing {french}, how much of what attention gives depends on {english}?"
    options = ("less than 5%", "5 to 25%", "more than 25%")
    return TryThis("let the network look back", question, options, act, outcome, "memory_long", draw)


def _heaviest_english(text: str, prefix: list[int]) -> tuple[int, str]:
    """Return the index of the English word that attention weighs most after some French pieces, and its Markdown."""
    source = read_source(text)
    index = int(_english_weights(screen.ATTENTIVE, source, prefix).argmax())
    return index, literal(source.word_labels[index], 24)


def _shares_by_network(text: str, prefix: list[int], index: int) -> dict[str, float]:
    """Return an English word's share in what attention then gives, and in the one vector, by network."""
    context = _context_shares(screen.ATTENTIVE, read_source(text), prefix)
    return {screen.ATTENTIVE: float(context[index]), screen.WITHOUT: float(screen.vector_shares(text)[index])}


def _draw_bars(index: int, shares: dict[str, float]) -> None:
    """Draw an English word's share by network, and frame the word in the sentence on the first screen."""
    bars = bar_rows((screen.called(name), share, TRANSLATOR_COLOURS[name]) for name, share in shares.items())
    framed = f".st-key-memory_long .word:nth-child({index + 1}) {{ outline: 3px solid currentcolor }}"
    st.html(f"<style>{framed}</style>{bars}")


def _translation_by_words(text: str) -> tuple[Translation, list[str], list[int]]:
    """Return attention's translation of a sentence, its words, and the index of the first piece of each."""
    translation = screen.translated(screen.ATTENTIVE, read_source(text))
    first_piece = {word: piece for piece, word in reversed(list(enumerate(translation.word_of)))}
    words = sorted(first_piece)
    return translation, [translation.word_labels[word] for word in words], [first_piece[word] for word in words]


def cure_tab(text: str) -> None:
    """Let a French word be clicked; draw each English word's share in the one vector, and in the context there."""
    if why := why_missing():
        st.info(f"The additive model is not there. {why}")
        return
    paragraph("Click a French word: how much does what attention gives then depend on each English word?")
    sentence = read_source(text)
    translation, labels, pieces = _translation_by_words(text)
    text_column, chart_column = st.columns([1, 1], gap="large")
    with text_column:
        prefix = translation.ids[: pieces[FRENCH_WALK.draw(labels, range(GUESSED_INDEX, GUESSED_INDEX + 3))]]
        strongest, english = _heaviest_english(text, prefix)
        french = literal(labels[FRENCH_WALK.field.value], 24)
        st.markdown(_verdict(french, english, _shares_by_network(text, prefix, strongest)))
        st.caption(f"{'; '.join(map(screen.called, screen.LABELS)).capitalize()}. {SHARE_NOTE}")
    context = to_array(_context_shares(screen.ATTENTIVE, sentence, prefix))
    chart = cure_chart(sentence.word_labels, screen.vector_shares(text), context, marked=strongest)
    alt = f"Shares of {len(sentence.words)} English words in the one vector and in the context"
    with chart_column, st.container(key="memory_cure_picture"):
        draw_chart(chart, width="content", key="memory_cure", alt=alt)


def _verdict(french: str, english: str, shares: dict[str, float]) -> str:
    return (
        f"To say {french}, the decoder looks most at {english}: **{percent(shares[screen.ATTENTIVE])}** of what "
        f"attention gives depends on that word, of the one vector **{percent(shares[screen.WITHOUT])}**."
    )


def why_missing() -> str:
    """Return why one of the two networks cannot be loaded, "" if both can."""
    return model_or_fault(screen.ATTENTIVE)[1] or model_or_fault(screen.WITHOUT)[1]


READER, STATE_ONLY = "language-recurrent", "language-recurrent-alone"
LANGUAGE_NETWORKS = {"looks back": READER, "its state alone": STATE_ONLY}
FIRST_PASSAGE = (
    "My uncle Gustav keeps a guitar. It was raining all day, so we stayed at home and played cards. "
    "My uncle Gustav keeps a"
)
PASSAGE = Field(screen.NAME, "passage", FIRST_PASSAGE, address="passage")
_foresee = cached_computation(on_cluster=True)(own_states.foresee)
_after_piece = by_model(own_states.after_piece)
EDITS = EditList(screen.NAME)
N_COMPARED = 12  # likeliest pieces whose probabilities before and after a change are compared
MIN_WEIGHT, MAX_STATES = 0.005, 3  # of the states that the caption names
PIECE = Field(screen.NAME, "piece", -1, address="piece", parse=whole_number)


def self_attention_tab() -> None:
    """Draw a text to type, where the network looks back after a piece of it, and what both networks foresee there."""
    st.markdown("Two networks of one size guess the next piece; one may look back.")
    PASSAGE.widget(st.text_area, "A text in English", max_chars=PASSAGE_LETTERS.maximum, height=84)
    text = own_states.cut(PASSAGE.value)
    if len(text.ids) < 2:
        st.info("Type a few words: there is nothing to foresee yet.")
        return
    if text.left_out:
        st.caption(f"The first {len(text.ids) - 1} pieces are read; {text.left_out} more are left out.")
    reading = _foresee(model_or_stop(READER), model_or_stop(STATE_ONLY), text)
    last = len(text.ids) - 1
    position = PIECE.clamp_to_options(range(last + 1), last)
    edits = EDITS.fitting(reading.trace, input_id=PASSAGE.value)
    trace = reading.trace.replace(edits)
    _draw_weights(text, trace, position)
    left, right = st.columns([1, 1.25], gap="large")
    with left:
        section("What comes next?")
        foreseen = {name: _after_piece(model, text, position) for name, model in LANGUAGE_NETWORKS.items()}
        likeliest = [(-shares).argsort()[:n] for shares, n in zip(foreseen.values(), (4, 3), strict=True)]
        pieces = list(dict.fromkeys(np.concatenate(likeliest).tolist()))
        labels = distinct([_visible(own_states.piece_label(piece)) for piece in pieces])
        series = {name: shares[pieces].tolist() for name, shares in foreseen.items()}
        chart = probability_bars(series, labels, height=230)
        draw_chart(chart, alt="The likeliest next pieces by both networks")
    with right:
        section("How probable was each piece?")
        labels = distinct([_visible(label) for label in text.labels[1:]])
        series = {name: shares.tolist() for name, shares in zip(foreseen, reading.probabilities, strict=True)}
        with st.container(key="memory_wide_pieces"):
            chart = probability_bars(series, labels, height=230, angle=-45)
            draw_chart(chart, alt="Probability of each piece by both networks")
    with st.container(key="desk_memory_elsewhere"):
        _edit_weights(text, trace, position)


def _visible(label: str) -> str:
    return label.strip() or "␣"


def _edit_weights(text: own_states.TextPieces, trace: AttentionTrace, position: int) -> None:
    """Let the weights after one piece be changed; draw the next pieces before and after."""
    section("Let it look elsewhere")
    left, right = st.columns([1, 1.25], gap="large")
    with left:
        if position:
            earlier: dict[tuple[int, ...], str] = {
                (index,): _visible(label) for index, label in enumerate(text.labels[:position])
            }
            matrix_editor(WeightsRow(EDITS, trace, [position], input_id=PASSAGE.value), PIECE.set, earlier)
        else:
            EDITS.draw(trace)
    if not trace.edits:
        return
    with right:
        before, after = (_after_piece(READER, text, position, edits) for edits in ((), trace.edits))
        pieces = np.argsort(-np.maximum(before, after))[:N_COMPARED].tolist()
        labels = distinct([_visible(own_states.piece_label(piece)) for piece in pieces])
        show_outcome(labels, before[pieces], after[pieces])
        show_weights_difference(screen.NAME, trace.replace(()), trace)


def _draw_weights(text: own_states.TextPieces, trace: AttentionTrace, position: int) -> None:
    """Draw each piece as dark as its weight after the chosen piece, and the slider that chooses another."""
    row = to_array(trace.weights(0, [position])[0])
    maximum = float(row.max()) or 1.0
    styles = ["padding:0;"] * len(row)
    styles[position] += "outline:2px solid #0072B2;"
    pieces = zip(text.labels[1:], row[1:].tolist(), styles[1:], strict=True)
    spans = [shaded_word(label, weight, maximum, style) for label, weight, style in pieces]
    paragraph_style = "font-size:max(1.05rem,var(--least,0px));line-height:1.9;white-space:pre-wrap;margin:0"
    st.html(f"<p style='{paragraph_style}'>{''.join(spans).strip()}</p>")
    names = distinct([_visible(label) for label in text.labels])
    strongest = [int(index) for index in row.argsort()[::-1] if row[index] >= MIN_WEIGHT][:MAX_STATES]
    states = " + ".join(
        f"{percent(row[index])} of that after {literal(names[index])} ({format_count(position - index, 'pieces')} ago)"
        for index in strongest
    )
    PIECE.value = position
    PIECE.widget(st.select_slider, "After which piece", range(len(text.ids)), format_func=names.__getitem__)
    st.caption(f"Context = weighted average of the network's own earlier states: {states or 'none yet'}.")


def vector_subject(model: Translator, text: str) -> Subject:
    """Return the subject that tests the shares of words in the one vector: words are replaced by the unknown one."""
    source = read_source(text)
    ids = torch.tensor(translate(model, source).ids, device=device_of(model))
    shares, pieces = last_state_shares(model, source), source.ids.to(ids.device)
    return subjects.single_vector_subject(model, pieces, ids, source.word_of, source.words, shares)

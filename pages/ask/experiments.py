"""Experiments: looks changed by hand, a sentence about the drawing, digits taken away and counted."""

import html
from collections import Counter
from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st

from attention_core import AttentionTrace, Role, Step
from attention_core.attention.wording import format_count, percent
from attention_core.charts.overlay import glow_ramp, image_png, map_png, overlay_strip, strongest_weight
from attention_core.data.presets import MAX_DIGITS
from attention_core.data.questions import (
    ANSWERS,
    DIGITS,
    ParsedQuestion,
    Question,
    QuestionKind,
    answer_in_words,
    format_question,
    word_ids_of,
)
from attention_core.data.scene_captions import sentence
from attention_core.device import to_array
from attention_core.evaluate.variants import variants_of
from attention_core.explain.guess import KeyPicture
from attention_core.faithfulness import subjects
from attention_core.inference import scenes as ask
from attention_core.models.scene_caption import LABELS, SceneCaption
from attention_core.models.scene_question import SceneAnswer
from pages.ask.charts import nothing_weights
from pages.ask.first_screen import (
    EDITS,
    MODEL,
    NAME,
    PRESETS,
    PadScene,
    draw_empty_weight,
    explain_answer,
    shaded_words,
)
from ui.chart import draw_chart, draw_map, note_picture, picture_address
from ui.computed import by_model, card_or_empty
from ui.edits import show_outcome
from ui.faithfulness import KeysInPicture, faithfulness_tab, subject_of
from ui.player import Stepper, StepStyle, Walk, export_bar, show_step_chart, show_words
from ui.region import Region
from ui.skeleton import Tab
from ui.state import Field, single_choice, slugs, whole_number

EMPTY_KEY = 256  # comes after the 16 x 16 regions
REGIONS = Region(NAME, EDITS, "regions", copies=tuple(PRESETS))
CAPTIONER, TOGETHER = "scene-caption", "scene-caption-together"
ENCODERS = {CAPTIONER: "trained beforehand", TOGETHER: "trained together with the telling"}
ENCODER = Field(NAME, "encoder", CAPTIONER, address="encoder", **slugs(beforehand=CAPTIONER, along=TOGETHER))
WALK = Walk(NAME, label="Look")
MAX_NAMED, FRAME = 3, (200, 205, 211)
answer_for_each, describe_scene = by_model(ask.answer_for_many), by_model(SceneCaption.explain)


def counting(drawing: PadScene, question: Question) -> None:
    """Draw how the model counts although its weights sum to one: digits are removed one by one, and it counts again.

    Removed are the digits of the question's colour, else of the most frequent colour, else all.
    """
    st.markdown(
        "An average of three equal values is one of them: it cannot count. But bare paper and an extra key for "
        "*nothing* get weight too, and how much tells how many digits match."
    )
    if not drawing.digits:
        st.info("There is no digit on the canvas to take away.")
        return
    colours = Counter[str | None](digit.colour for digit in drawing.digits)
    commonest, n_commonest = colours.most_common(1)[0]
    colour = question.colour if colours[question.colour] > 1 else commonest if n_commonest > 1 else None
    matching = [index for index, digit in enumerate(drawing.digits) if colour in (None, digit.colour)][:MAX_DIGITS]
    counts = range(0 if len(drawing.digits) > len(matching) else 1, len(matching) + 1)
    scenes = [drawing.without(matching[count:]) for count in counts]
    count_question = Question(QuestionKind.COUNT, colour=colour)
    text = f"{format_question(count_question)}?"
    answers, empty, paper = answer_for_each(MODEL, [scene.picture for scene in scenes], text)
    looks = slice(count_question.n_looks)
    left, right = st.columns([1, 1.15], gap="large")
    with left:
        n_right = sum(answer == str(count) for answer, count in zip(answers, counts, strict=True))
        shares = [percent(float(empty[at, looks][-1] + paper[at, looks][-1])) for at in (0, -1)]
        st.markdown(
            f"Matching digits go one by one, and each time it is asked: **{text}** {n_right} of {len(counts)} counts "
            f"are right. What those two get of the last look, with {counts[0]}: {shares[0]}; {counts[-1]}: {shares[1]}."
        )
        strip, width = _strip([scene.rgb for scene in scenes]), min(84 * len(scenes), 504)
        st.image(strip, width=width, output_format="PNG", alt="The drawings that were asked about")
    with right:
        chart = nothing_weights(counts, empty[:, looks], paper[:, looks], answers)
        description = "Weight of the empty key and of bare paper, by digits that match"
        draw_chart(chart, width="stretch", key="ask_counting", alt=description)


def _strip(pictures: Sequence[np.ndarray]) -> np.ndarray:
    """Return pictures (rows, columns, 3) side by side, twice as large, each in a thin frame."""
    large = [picture.repeat(2, 0).repeat(2, 1) for picture in pictures]
    for edge in (side for picture in large for side in (picture[0], picture[-1], picture[:, 0], picture[:, -1])):
        edge[:] = FRAME
    gap = np.full((len(large[0]), 6, 3), 255, np.uint8)
    return np.concatenate([tile for picture in large for tile in (picture, gap)][:-1], 1)


def change_section(drawing: PadScene, reading: ParsedQuestion, answer: SceneAnswer) -> None:
    """Draw the region that a visitor brushes, in which all looks are changed, and the answer before and after."""
    learned = explain_answer(MODEL, drawing.picture, reading.words)
    grid, last = answer.looks[-1].story.key_axis.grid, reading.question.n_looks - 1
    before, after = (to_array(each.looks[last].weights()[0, :-1]).reshape(grid) for each in (learned, answer))
    left, right = st.columns([1.65, 1], gap="large")
    with left:
        hint = "Brush over the digit that it needs, then let all looks look away."
        REGIONS.draw(drawing.canvas, before, after, *answer.looks[: last + 1], hint=hint, size=280)
    with right:
        names = [answer_in_words(answer) for answer in ANSWERS]
        show_outcome(NAME, names, to_array(learned.probabilities), to_array(answer.probabilities))


def caption_tab(drawing: PadScene) -> None:
    """Draw the sentence, the look of the present word, and the looks of all words."""
    captioner = single_choice("The part that sees", ENCODER, ENCODERS)
    caption = describe_scene(captioner, drawing.picture)
    grid, labels = caption.trace.story.key_axis.picture_grid, list(caption.trace.story.query_axis.labels)
    text = sentence(caption.words)
    st.markdown(f"### {text[:1].upper()}{text[1:]}{'.' if caption.is_finished else ' …'}")
    look = WALK.draw(labels, [token for token, label in enumerate(labels) if label in DIGITS] or [len(labels) - 1])
    map_column, strip_column = st.columns([1, 2], gap="medium")
    with map_column:
        weights = to_array(caption.trace.weights(0, [look])[0])
        words_of_map = "Where this look goes, over the drawing"
        draw_map(weights[:-1].reshape(grid), drawing.canvas, "ask_told", words_of_map, size=260)
        draw_empty_weight(caption.trace, look)
        if labels[look].startswith("glance"):
            st.markdown("**A first glance**, before any word.")
        else:
            probabilities = to_array(caption.probabilities[look])
            best = np.argsort(-probabilities)[:MAX_NAMED]
            rivals = ", ".join(f"{LABELS[token]} {percent(float(probabilities[token]))}" for token in best[1:])
            certainty = percent(float(probabilities[best[0]]))
            st.markdown(f"After this look it says **{labels[look]}** ({certainty}), rather than {rivals}.")
    with strip_column:
        maps = to_array(caption.trace.weights())[:, :-1].reshape(-1, *grid)
        shades = np.stack([each / strongest_weight(each.size, float(each.max())) for each in maps])
        alt = f"The maps of all {len(labels)} looks over the drawing, each under its word"
        note_picture(partial(overlay_strip, drawing.canvas, shades, labels, size=80, columns=7, chosen=look), alt)
        ramp, below = glow_ramp(shades[0].size, float(shades.max())), picture_address(image_png(drawing.canvas))
        layers = [f"url({picture_address(map_png(shade, ramp, True, 0.75))}), url({below})" for shade in shades]
        named = zip(map(html.escape, labels), layers, strict=True)
        figures = (
            f'<figure{" class=chosen" * (token == look)}>{name}<div style="background-image:{layer}"></div></figure>'
            for token, (name, layer) in enumerate(named)
        )
        st.html(f'<div class="strip" role="img" aria-label="{alt}">{"".join(figures)}</div>')
        with st.container(key="desk_told"):
            st.markdown(f"{_accuracy_note(captioner, len(drawing.digits))}\n\n{_training_note()}".strip())


def _training_note() -> str:
    """Return a sentence that compares encoders trained beforehand and together, where both were measured."""
    cards = variants_of(CAPTIONER).get("beforehand", {}), card_or_empty(TOGETHER)
    if not all(cards):
        return ""
    beforehand, together = (percent(card["test_drawings"]["accuracy"]) for card in cards)
    return (
        "**Beforehand, or all together?** With the telling trained equally long, eyes trained "
        f"beforehand tell {beforehand} of new drawings right, eyes that learn along {together}."
    )


def _accuracy_note(captioner: str, n_digits: int) -> str:
    """Return a sentence: how often it is right on drawings of as many digits, where that was measured."""
    card = card_or_empty(captioner)
    accuracy = card.get("up_to_five_digits", {}).get("accuracy_by_digits", {}).get(str(n_digits))
    if accuracy is None:
        return ""
    return (
        f"It tells {percent(accuracy)} of new drawings with {format_count(n_digits, 'digits')} right; with every "
        f"weight equal {percent(card['with_uniform_attention'])} of those with three at most."
    )


STEPS = Stepper(NAME, first="weights")
LOOK = Field(NAME, "number", -1, address="look", parse=whole_number)
"""The chosen look, from 0; at first the last one that the question needs."""
MAX_DIMENSIONS = 24  # of keys and values that are drawn: those that differ most from region to region


def chosen_glimpse(question: Question) -> int:
    return LOOK.clamp_to_options(range(question.n_looks), question.n_looks - 1)


def ask_steps(drawing: PadScene, question: Question, answer: SceneAnswer) -> None:
    """Step through one look from the picture to the answer."""
    number = chosen_glimpse(question)
    trace, names = answer.looks[number], {look: f"Look {look + 1}" for look in range(question.n_looks)}
    single_choice("Look", LOOK, names, label_visibility="collapsed")
    weights, grid = to_array(trace.weights()[0]), trace.story.key_axis.picture_grid
    if step := STEPS.draw(trace, picture=KeyPicture(drawing.scene.rgb, grid)):
        text_column, matrix_column = st.columns([0.82, 1], gap="large")
        with text_column:
            map_column, words_column = st.columns([1, 1.1], vertical_alignment="center")
            with map_column:
                alt = "The drawing with this look's map"
                draw_map(weights[:-1].reshape(grid), drawing.canvas, "ask_small", alt, size=104)
            with words_column:
                st.html(f"<p style='margin:0'>{shaded_words(answer.words[number])}</p>")
                if np.allclose(weights, weights[0]):
                    st.caption("The weights are all alike.")
            show_words(trace, step, 0, 0, NAME)
        with matrix_column:
            _draw_step_picture(trace, step, drawing)


def _draw_step_picture(trace: AttentionTrace, step: Step, drawing: PadScene) -> None:
    dimensions = {}
    for role, vectors in ((Role.KEY, trace.key), (Role.VALUE, trace.value)):
        dimensions[role] = np.sort(np.argsort(-to_array(vectors[0, :EMPTY_KEY].std(0)))[:MAX_DIMENSIONS]).tolist()
    looks = {"picture": StepStyle(over=drawing.scene.rgb), "weights": StepStyle(over=drawing.canvas)}

    def style_of(step: Step) -> StepStyle:
        return looks.get(step.name, StepStyle())._replace(column_indices=dimensions.get(step.role))

    show_step_chart(trace, step, 0, style_of, NAME, stepper=STEPS)
    if step.name == "weights":
        draw_empty_weight(trace)
    elif step.role in dimensions:
        st.caption(f"The {MAX_DIMENSIONS} of {step.shape[1]} dimensions that differ most; ∅: the empty key's number.")


def export_look(drawing: PadScene, question: Question, answer: SceneAnswer) -> None:
    """Offer the chosen look as numbers, and as a page over the drawing."""
    look = answer.looks[chosen_glimpse(question)]
    export_bar(look, NAME, query=0, picture=drawing.canvas)


def ask_doubts(drawing: PadScene, words: Sequence[str], answer: SceneAnswer) -> Tab:
    """Return the section on a question about a drawing: regions of the feature map are erased."""
    subject = partial(subject_of, subjects.question_subject, MODEL, drawing.picture, word_ids_of(words))
    over = KeysInPicture(drawing.canvas, answer.looks[0].story.key_axis.picture_grid)
    key = to_array(drawing.picture).tobytes(), *words
    return faithfulness_tab(NAME, MODEL, key, subject, "regions", over)

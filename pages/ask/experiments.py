"""Experiments: looks changed by hand, a sentence about the drawing, digits taken away and counted."""

import html
from collections import Counter
from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st

from attention_core import AttentionTrace, Role, Step
from attention_core.charts import overlay_strip
from attention_core.charts.overlay import glow_ramp, image_png, map_png, strongest_weight
from attention_core.data.presets import MAX_DIGITS
from attention_core.data.questions import (
    ANSWERS,
    DIGITS,
    ParsedQuestion,
    Question,
    QuestionKind,
    answer_in_words,
    numbers_of,
    write,
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
    AskedDrawing,
    answer_one,
    say_nowhere,
    shaded_words,
)
from ui.chart import draw_chart, draw_map, note_picture, picture_address
from ui.computed import by_model, card_or_empty
from ui.edits import show_outcome
from ui.faithfulness import KeysInPicture, faithfulness_tab, subject_of
from ui.player import StepLook, Stepper, Walk, export_bar, show_step_chart, show_words
from ui.region import Region
from ui.skeleton import Tab
from ui.state import Field, named, single_choice, whole_number

EMPTY_KEY = 256  # comes after the 16 x 16 regions
REGIONS = Region(NAME, EDITS, "regions", copies=tuple(PRESETS))
TELLER, TOGETHER = "scene-caption", "scene-caption-together"
ENCODERS = {TELLER: "trained beforehand", TOGETHER: "trained together with the telling"}
ENCODER = Field(NAME, "encoder", TELLER, address="encoder", **named(beforehand=TELLER, along=TOGETHER))
WALK = Walk(NAME, label="Look")
MAX_NAMED, FRAME = 3, (200, 205, 211)
answer_for_many, tell = by_model(ask.answer_for_many), by_model(SceneCaption.explain)


def counting(drawing: AskedDrawing, question: Question) -> None:
    """Say and show how the model counts although its weights sum to one.

    What is taken away are the digits of the colour that was asked about, else of the most frequent one, else all.
    """
    st.markdown(
        "An average of three equal values is one of them: it cannot count. But bare paper and an extra key for "
        "*nothing* get weight too, and how much tells how many digits match."
    )
    if not drawing.digits:
        st.info("There is no digit on the canvas to take away.")
        return
    colours = Counter[str | None](digit.colour for digit in drawing.digits)
    most, n_most = colours.most_common(1)[0]
    colour = question.colour if colours[question.colour] > 1 else most if n_most > 1 else None
    matching = [place for place, digit in enumerate(drawing.digits) if colour in (None, digit.colour)][:MAX_DIGITS]
    counts = range(0 if len(drawing.digits) > len(matching) else 1, len(matching) + 1)
    shown = [drawing.without(matching[count:]) for count in counts]
    asked = Question(QuestionKind.COUNT, colour=colour)
    text = f"{write(asked)}?"
    answers, empty, paper = answer_for_many(MODEL, [seen.picture for seen in shown], text)
    looks = slice(asked.n_looks)
    left, right = st.columns([1, 1.15], gap="large")
    with left:
        n_right = sum(said == str(count) for said, count in zip(answers, counts, strict=True))
        least, most = (f"{counts[at]}: {empty[at, looks][-1] + paper[at, looks][-1]:.0%}" for at in (0, -1))
        counted = (
            f"{n_right} of {len(counts)} counts are right. What those two get of the last look, with {least}; {most}."
        )
        st.markdown(f"Matching digits go one by one, and each time it is asked: **{text}** {counted}")
        strip, width = _strip([seen.rgb for seen in shown]), min(84 * len(shown), 504)
        st.image(strip, width=width, output_format="PNG", alt="The drawings that were asked about")
    with right:
        chart = nothing_weights(counts, empty[:, looks], paper[:, looks], answers)
        words = "Weight of the empty key and of bare paper, by digits that match"
        draw_chart(chart, width="stretch", key="ask_counting", alt=words)


def _strip(pictures: Sequence[np.ndarray]) -> np.ndarray:
    """Return pictures (rows, columns, 3) side by side, twice as large, each in a thin frame."""
    large = [picture.repeat(2, 0).repeat(2, 1) for picture in pictures]
    for edge in (side for one in large for side in (one[0], one[-1], one[:, 0], one[:, -1])):
        edge[:] = FRAME
    gap = np.full((len(large[0]), 6, 3), 255, np.uint8)
    return np.concatenate([part for picture in large for part in (picture, gap)][:-1], 1)


def change_section(drawing: AskedDrawing, reading: ParsedQuestion, now: SceneAnswer) -> None:
    """Let a person brush a region and change all looks there, and draw what the answer becomes."""
    learned = answer_one(MODEL, drawing.picture, reading.words)
    grid, last = now.looks[-1].story.key_axis.grid, reading.question.n_looks - 1
    before, after = (to_array(answered.looks[last].weights()[0, :-1]).reshape(grid) for answered in (learned, now))
    left, right = st.columns([1.65, 1], gap="large")
    with left:
        hint = "Brush over the digit that it needs, then let all looks look away."
        REGIONS.draw(drawing.canvas, before, after, *now.looks[: last + 1], hint=hint, size=280)
    with right:
        names = [answer_in_words(answer) for answer in ANSWERS]
        show_outcome(NAME, names, to_array(learned.probabilities), to_array(now.probabilities))


def caption_tab(drawing: AskedDrawing) -> None:
    """Draw the sentence, the look of the present word, and the looks of all words."""
    teller = single_choice("The part that sees", ENCODER, ENCODERS)
    told = tell(teller, drawing.picture)
    grid, labels = told.trace.story.key_axis.picture_grid, list(told.trace.story.query_axis.labels)
    words = sentence(told.words)
    st.markdown(f"### {words[:1].upper()}{words[1:]}{'.' if told.finished else ' …'}")
    look = WALK.draw(labels, [place for place, label in enumerate(labels) if label in DIGITS] or [len(labels) - 1])
    where, looks = st.columns([1, 2], gap="medium")
    with where:
        weights = to_array(told.trace.weights(0, [look])[0])
        words_of_map = "Where this look goes, over the drawing"
        draw_map(weights[:-1].reshape(grid), drawing.canvas, "ask_told", words_of_map, size=260)
        say_nowhere(told.trace, look)
        if labels[look].startswith("glance"):
            st.markdown("**A first glance**, before any word.")
        else:
            probabilities = to_array(told.probabilities[look])
            best = np.argsort(-probabilities)[:MAX_NAMED]
            rivals = ", ".join(f"{LABELS[place]} {probabilities[place]:.0%}" for place in best[1:])
            sure = f"({probabilities[best[0]]:.0%}), rather than {rivals}"
            st.markdown(f"After this look it says **{labels[look]}** {sure}.")
    with looks:
        maps = to_array(told.trace.weights())[:, :-1].reshape(-1, *grid)
        shades = np.stack([each / strongest_weight(each.size, float(each.max())) for each in maps])
        words = f"The maps of all {len(labels)} looks over the drawing, each under its word"
        note_picture(partial(overlay_strip, drawing.canvas, shades, labels, size=80, columns=7, chosen=look), words)
        ramp, below = glow_ramp(shades[0].size, float(shades.max())), picture_address(image_png(drawing.canvas))
        layers = [f"url({picture_address(map_png(shade, ramp, True, 0.75))}), url({below})" for shade in shades]
        named = zip(map(html.escape, labels), layers, strict=True)
        figures = (
            f'<figure{" class=chosen" * (place == look)}>{name}<div style="background-image:{layer}"></div></figure>'
            for place, (name, layer) in enumerate(named)
        )
        st.html(f'<div class="strip" role="img" aria-label="{words}">{"".join(figures)}</div>')
        with st.container(key="desk_told"):
            words = _figures(teller, len(drawing.digits))
            briefly = variants_of(TELLER).get("beforehand", {}), card_or_empty(TOGETHER)
            if all(briefly):
                beforehand, together = (card["test_drawings"]["accuracy"] for card in briefly)
                words += (
                    "\n\n**Beforehand, or all together?** With the telling trained equally long, eyes trained "
                    f"beforehand tell {beforehand:.0%} of new drawings right, eyes that learn along {together:.0%}."
                )
            st.markdown(words.strip())


def _figures(teller: str, n_digits: int) -> str:
    """Return how often it is right on drawings of as many digits, where that was measured."""
    card = card_or_empty(teller)
    alike = card.get("up_to_five_digits", {}).get("accuracy_by_digits", {}).get(str(n_digits))
    if alike is None:
        return ""
    return (
        f"It tells {alike:.0%} of new drawings with {n_digits} digit{'s' * (n_digits > 1)} right; with every weight "
        f"equal {card['with_uniform_attention']:.0%} of those with three at most."
    )


STEPS = Stepper(NAME, first="weights")
LOOK = Field(NAME, "number", -1, address="look", parse=whole_number)
"""The look that is shown, from 0; at first the last one that the question needs."""
SHEET = 24  # dimensions of keys and values that are drawn: those that differ most from region to region


def chosen_glimpse(question: Question) -> int:
    return LOOK.clamp_to_options(range(question.n_looks), question.n_looks - 1)


def ask_steps(drawing: AskedDrawing, question: Question, answered: SceneAnswer) -> None:
    """Step through one look from the picture to the answer."""
    number = chosen_glimpse(question)
    trace, names = answered.looks[number], {place: f"Look {place + 1}" for place in range(question.n_looks)}
    single_choice("Look", LOOK, names, label_visibility="collapsed")
    weights, grid = to_array(trace.weights()[0]), trace.story.key_axis.picture_grid
    if step := STEPS.draw(trace, picture=KeyPicture(drawing.seen.rgb, grid)):
        words, picture = st.columns([0.82, 1], gap="large")
        with words:
            small, hint = st.columns([1, 1.1], vertical_alignment="center")
            with small:
                alt = "The drawing with this look's map"
                draw_map(weights[:-1].reshape(grid), drawing.canvas, "ask_small", alt, size=104)
            with hint:
                st.html(f"<p style='margin:0'>{shaded_words(answered.words[number])}</p>")
                if np.allclose(weights, weights[0]):
                    st.caption("The weights are all alike.")
            show_words(trace, step, 0, 0, NAME)
        with picture:
            _show(trace, step, drawing)


def _show(trace: AttentionTrace, step: Step, drawing: AskedDrawing) -> None:
    telling = {}
    for role, vectors in ((Role.KEY, trace.key), (Role.VALUE, trace.value)):
        telling[role] = np.sort(np.argsort(-to_array(vectors[0, :EMPTY_KEY].std(0)))[:SHEET]).tolist()
    looks = {"picture": StepLook(over=drawing.seen.rgb), "weights": StepLook(over=drawing.canvas)}

    def look(step: Step) -> StepLook:
        return looks.get(step.name, StepLook())._replace(column_indices=telling.get(step.role))

    show_step_chart(trace, step, 0, look, NAME, stepper=STEPS)
    if step.name == "weights":
        say_nowhere(trace)
    elif step.role in telling:
        st.caption(f"The {SHEET} of {step.shape[1]} dimensions that differ most; ∅: the empty key's number.")


def export_look(drawing: AskedDrawing, question: Question, answered: SceneAnswer) -> None:
    """Offer the chosen look as numbers, and as a page over the drawing."""
    look = answered.looks[chosen_glimpse(question)]
    export_bar(look, NAME, query=0, picture=drawing.canvas)


def ask_doubts(drawing: AskedDrawing, words: Sequence[str], answered: SceneAnswer) -> Tab:
    """Return the section on a question about a drawing: regions of the feature map are erased."""
    subject = partial(subject_of, subjects.question_subject, MODEL, drawing.picture, numbers_of(words))
    over = KeysInPicture(drawing.canvas, answered.looks[0].story.key_axis.picture_grid)
    key = to_array(drawing.picture).tobytes(), *words
    return faithfulness_tab(NAME, MODEL, key, subject, "regions", over)

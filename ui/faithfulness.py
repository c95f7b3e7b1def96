"""One experiment for all pages: is this map an explanation of this answer?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator
from torch import Tensor, nn

from attention_core.attention.types import Role
from attention_core.attention.wording import percent
from attention_core.charts.bars import bars, curves_chart, two_weights_chart
from attention_core.charts.ramps import ROLE_COLOURS
from attention_core.device import device_of, to_array
from attention_core.faithfulness import assessment
from attention_core.faithfulness.attribution import Subject, mean_weights
from attention_core.faithfulness.stacks import LENGTH, ROLLOUT, SLOPE, ZEROING
from attention_core.faithfulness.variation import AdversarialWeights
from attention_core.hub.model import ModelError
from attention_core.hub.tracing import UnsupportedError
from attention_core.models import MODELS
from ui.chart import draw_chart, draw_map
from ui.computed import card_or_empty, content_key, model_or_stop
from ui.job_queue import queued_result, result_on_demand
from ui.labels import error_markdown, note, number
from ui.layout import figures_table
from ui.navigation import PAGES
from ui.state import Field, encode_fields, single_choice

AS_LEARNED = "All this is as learned, without your changes."
ERASED, GRADIENTS, INSERTED, NUMBERS = "erased", "gradients", "inserted", "numbers"
THROUGH = "through all layers"
READINGS = {
    ERASED: "Smaller is better; the model never saw such inputs.",
    GRADIENTS: "*Integrated gradients*: *gradient × input*, added up from an empty input on.",
    INSERTED: "Larger is better. It tells what is enough, not what is needed.",
    THROUGH: f"*{ROLLOUT}*: what could come through, not what did. *{LENGTH}*: how much is handed over. *{SLOPE}*: "
    f"what a small change of weights does. *{ZEROING}*: how far a layer's output turns without a value.",
}
BY_GRADIENT, THROUGH_LAYERS = (assessment.GRADIENT, assessment.INTEGRATED), (ROLLOUT, LENGTH, SLOPE, ZEROING)
HIDDEN = {
    ERASED: (*BY_GRADIENT, *THROUGH_LAYERS),
    GRADIENTS: THROUGH_LAYERS,
    INSERTED: THROUGH_LAYERS,
    THROUGH: BY_GRADIENT,
}
"""Orders that are not drawn, by what is chosen."""
CURVE = {page.name: Field(page.name, "doubts_way", ERASED) for page in PAGES}
MAX_HEADS = 12  # heads that are drawn, those that matter most


class KeysInPicture(NamedTuple):
    """Where keys lie in a picture: its regions, in reading order."""

    picture: np.ndarray  # uint8 (height, width, 3 or 4)
    grid: tuple[int, int]  # rows and columns
    first: int = 0  # the key of the first region; others, before it and behind the last one, lie elsewhere
    size: int = 190  # screen pixels across
    smooth: bool = True  # False = a region is a pixel
    high: float | None = None  # the weight of the strongest pink, None = the largest of the maps that are compared


class QuestionedMap(NamedTuple):
    """A page's map, what its curves say, and where they are drawn; no result = why there is none."""

    name: str  # the page's
    model: str
    part: str
    over: KeysInPicture | None = None
    note: str = ""
    beside: DeltaGenerator | None = None
    result: assessment.Assessment | None = None
    reason: str = ""
    first: int = 1  # what the first head is called

    @classmethod
    def missing(cls, reason: str) -> QuestionedMap:
        """Return a map that cannot be questioned, with the reason, a sentence."""
        return cls("", "", "", reason=reason)


def question_map(
    name: str,  # the page's
    model: str,  # the trained model's name, whose card says how it does over many inputs; another's has none
    part: str,  # what is erased, in the plural, such as "ink pixels"
    build_subject: Callable[..., Subject],  # called in the queue, with the model and the inputs
    *inputs: Any,  # arrays become tensors of float32 where the model computes
    over: KeysInPicture | None = None,  # where the keys lie; None = each part's weight is drawn by name
    note: str = "",  # says what the answer is, where the page does not
    beside: DeltaGenerator | None = None,  # where all is drawn; None = below
    is_on_demand: bool = False,  # whether a button asks for the figures, since they may take long
    load: Callable[[str], Any] = model_or_stop,  # returns the model of the name
    first: int = 1,  # what the first head is called
) -> QuestionedMap:
    """Erase what a page's map points at, part by part, and return what becomes of the answer."""
    questioned = QuestionedMap(name, model, part, over, note, beside, first=first)

    def portions() -> Iterator[tuple[float, assessment.Assessment]]:
        loaded = load(model)
        tensors = (_on_device_of(loaded, value) for value in inputs)
        with torch.inference_mode(False):
            yield from assessment.assess(build_subject(loaded, *tensors))

    def preview(result: assessment.Assessment) -> None:
        st.markdown(answer(questioned._replace(result=result)))

    task = ("faithfulness", name, model, content_key(inputs))
    with beside or nullcontext():
        try:
            if is_on_demand:
                button = "Erase one after another", f"{name}_doubts"
                return questioned._replace(result=result_on_demand(task, *button, portions, preview))
            return questioned._replace(result=queued_result(task, portions, preview))
        except (ModelError, UnsupportedError) as error:
            return QuestionedMap.missing(error_markdown(error))


def answer(questioned: QuestionedMap) -> str:
    """Say whether the map points at what the answer needs."""
    if questioned.result is None:
        return questioned.reason or "Erase what it points at, and see whether the answer needed that."
    return assessment.verdict(questioned.result, questioned.part)


def draw(questioned: QuestionedMap) -> None:
    """Draw what becomes of the answer as parts go, and what other weights would do."""
    name, result, part = questioned.name, questioned.result, questioned.part
    if result is None:
        return
    with questioned.beside or nullcontext():
        remarks = _otherwise(result, part), questioned.note, AS_LEARNED * ("edits" in encode_fields(name))
        if text := " ".join(filter(None, remarks)):
            note(text)
        left, right = st.columns([1.15, 1], gap="large")
        with left:
            _curves(name, result, part)
        with right:
            _adversarial_weights(name, result, questioned.over)
            with st.container(key=f"desk_{name}_without"):
                _heads(name, result, questioned.first)
        _over_many(questioned.model, result)


def _otherwise(result: assessment.Assessment, part: str) -> str:
    """Say what is left of the answer where parts are erased in the other way; "" = there is none."""
    if not result.otherwise:
        return ""
    areas = (percent(result.otherwise[order].area) for order in (result.subject.map_name, assessment.RANDOM))
    unknown = f"the *unknown* {part.removesuffix('s')} in its place"
    return f"With {unknown if result.subject.erase_leaves_out else f'{part} left out'} instead: {' and '.join(areas)}."


def _on_device_of(model: nn.Module, value: Any) -> Any:
    is_array = isinstance(value, np.ndarray | Tensor)
    return torch.as_tensor(value, dtype=torch.float32, device=device_of(model)) if is_array else value


def _curves(name: str, result: assessment.Assessment, part: str) -> None:
    kinds = [kind for kind in (*READINGS, NUMBERS) if kind != THROUGH or ROLLOUT in result.deletion]
    kind = single_choice(part.capitalize(), CURVE[name], kinds, wrap=True, label_visibility="collapsed")
    curves = result.insertion if kind == INSERTED else result.deletion
    if kind == NUMBERS:
        rows = (_figures(result, order, curve.area) for order, curve in curves.items())
        figures_table(("order", "area", "agreement", f"first {result.n_first}"), *rows)
        note("Areas where parts are erased. *Agreement* (Kendall's τ), *first*: with erasing each part alone.")
        return
    curves = {order: curve for order, curve in curves.items() if order not in HIDDEN[kind]}
    curves[assessment.RANDOM] = curves.pop(assessment.RANDOM)
    action = INSERTED if kind == INSERTED else ERASED
    alt = f"{part.capitalize()} {action}"
    draw_chart(curves_chart(curves, action), key=f"{name}_{kinds.index(kind)}", alt=alt)
    with st.container(key=f"desk_{name}_orders"):
        note(READINGS[kind])


def _figures(result: assessment.Assessment, order: str, area: float) -> tuple[str, ...]:
    if order == assessment.RANDOM:
        return order, f"{area:.2f}", "", ""
    return order, f"{area:.2f}", number(result.agreement(order), "+.2f"), percent(result.overlap(order))


def _heads(name: str, result: assessment.Assessment, first: int) -> None:
    if len(result.heads) < 2:
        return
    several = len(result.subject.weights) > 1
    strongest = list(result.heads.items())[:MAX_HEADS]
    labels = [f"{f'{layer}, ' * several}head {head + first}" for (layer, head), _ in strongest]
    most = f"{percent(strongest[0][1])}, most of the {len(result.heads)} heads"
    moves = f"**Without {labels[0]}** the answer moves by {most}."
    is_clear = strongest[0][1] > strongest[1][1]
    st.markdown(moves if is_clear else "No head alone moves the answer more than another.")
    chart = bars(
        [100 * moved for _, moved in strongest],
        labels,
        title="the answer moves, %",
        colour=ROLE_COLOURS[Role.WEIGHTS],
        height=26 * len(strongest) + 40,
    )
    draw_chart(chart, key=f"{name}_heads", alt="The answer without each head")
    st.caption("Heads that can replace each other all seem unnecessary.")


def _adversarial_weights(name: str, result: assessment.Assessment, over: KeysInPicture | None) -> None:
    adversarial = result.adversarial
    if adversarial is None or result.shuffled is None or result.uniform is None:
        st.caption(
            "This network has no weights to exchange. A state may remember a word whose small changes hardly move it."
        )
        return
    moved = float(result.shuffled.median())
    hangs = "hangs" if moved > 2 * result.subject.bound else "hardly hangs"
    st.markdown(
        f"Shuffled, these weights move the answer by {percent(moved)}; equal, by {percent(result.uniform)}: it "
        f"{hangs} on them.{_by_layer(result)} {describe_adversarial(adversarial)}"
    )
    if not adversarial.divergence:
        return
    pair = [mean_weights(weights) for weights in (result.subject.map_weights, adversarial.weights)]  # (n_keys,)
    if over:
        high = over.high or float(max(weights.max() for weights in pair))
        for column, title, values in zip(st.columns(2), ("These weights", "Others"), pair, strict=True):
            with column:
                weights = to_array(values)[over.first :][: math.prod(over.grid)].reshape(over.grid)
                draw_map(
                    weights, over.picture, f"{name}_map_{title}", title, size=over.size, high=high, smooth=over.smooth
                )
                st.caption(title)
    else:
        by_word = (result.subject.of_keys(weights).tolist() for weights in pair)
        chart = two_weights_chart(result.subject.names, *by_word)
        draw_chart(chart, key=f"{name}_other", alt="Both weights")


def describe_adversarial(adversarial: AdversarialWeights) -> str:
    """Say how far the most different weights that were found move the answer, or that none were found."""
    distance = f"{adversarial.divergence:.2f}"
    if distance == "0.00":
        return "No different ones were found that move it as little."
    return f"The most different ones found (distance {distance} of 1) move it by {percent(adversarial.moved)}."


def _by_layer(result: assessment.Assessment) -> str:
    if len(result.by_layer) < 2:
        return ""
    smallest, largest = (choose(result.by_layer, key=result.by_layer.__getitem__) for choose in (min, max))
    return (
        f" One layer alone, shuffled, moves it by {percent(result.by_layer[smallest])} ({smallest}) to "
        f"{percent(result.by_layer[largest])} ({largest})."
    )


def _over_many(model: str, result: assessment.Assessment) -> None:
    if model in MODELS and (figures := card_or_empty(model).get("faithfulness")):
        areas = {order: mean for order, (mean, _) in figures["area_of_deletion"].items()}
        order, verdict, clear = result.subject.map_name, assessment.over_many(figures), ""
        if assessment.UNCLEAR in verdict:
            clear = f" Clear: {assessment.CLEAR_MEAN_DIFFERENCE} apart, and ahead on most."
        st.caption(
            f"**{verdict}** Mean area {areas[order]:.3f}, at random {areas[assessment.RANDOM]:.3f}; ahead of chance on "
            f"{percent(figures['attention_beats_random'])}.{clear}"
        )

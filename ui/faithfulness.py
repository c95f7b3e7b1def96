"""One section for all pages: is this map an explanation of this answer?"""

from collections.abc import Callable, Hashable

import numpy as np
import streamlit as st
import torch

from attention_core.charts import vega as vl
from attention_core.charts.faithfulness import deletion_chart, two_weights_chart
from attention_core.device import to_array
from attention_core.faithfulness.assessment import ATTENTION, GRADIENT, INTEGRATED, RANDOM, Assessment, assess, verdict
from attention_core.faithfulness.attribution import Subject, mean_weights
from ui.chart import draw_chart
from ui.computed import card_or_empty
from ui.labels import number
from ui.layout import figures_table
from ui.queued_result import queued_result
from ui.skeleton import Tab

ORDERS = (ATTENTION, GRADIENT, INTEGRATED, RANDOM)


def faithfulness_tab(
    name: str,
    model: str,
    key: Hashable,
    subject: Callable[[], Subject],
    part: str,
    draw_map: Callable[[np.ndarray], vl.Chart] | None = None,
) -> Tab:
    """Return the section of a page.

    Args:
        name: the page's.
        model: the trained model's name, whose card says how it does over many inputs.
        key: tells the input from others.
        subject: makes the subject, in the queue.
        part: what is erased, in the plural, such as "ink pixels".
        draw_map: draws what each key receives, (n_keys,); without it each part's weight is drawn by name.
    """

    def portions():  # type: ignore[no-untyped-def]
        with torch.inference_mode(False):
            yield from assess(subject())

    def say_verdict(known: Assessment) -> None:
        if words := verdict(known, part):  # nothing is known of the map before the curves
            st.markdown(f"**{words}**")

    def section() -> None:
        found = queued_result(("faithfulness", model, key), portions, say_verdict)
        say_verdict(found)
        left, right = st.columns([1.15, 1], gap="large")
        with left:
            draw_chart(deletion_chart(found.deletion), key=f"{name}_deletion", alt=f"Erasing {part} in four orders")
            with st.container(key=f"desk_{name}_orders"):
                st.caption(
                    f"{part.capitalize()} are erased, the most important first (Samek et al. 2017): a small area is a "
                    "good order. Agreement: with erasing each alone (Kendall's τ)."
                )
                figures_table(("order", "area", "agreement"), *(_figures(found, order) for order in ORDERS))
        with right:
            _other_weights(name, found, draw_map)
        _over_many(model)

    return Tab("doubts", "Is this map an explanation?", section)


def _figures(found: Assessment, order: str) -> tuple[str, str, str]:
    agreement = "" if order == RANDOM else number(found.agreement(order), "+.2f")
    return order, f"{found.deletion[order].area:.2f}", agreement


def _other_weights(name: str, found: Assessment, draw_map: Callable[[np.ndarray], vl.Chart] | None) -> None:
    other = found.other
    if other is None or found.shuffled is None:
        return
    moved = float(found.shuffled.median())
    st.markdown(
        f"Shuffled, these weights move the answer by {moved:.0%} (median of 100); all equal, by {found.uniform:.0%}: "
        f"it {'hangs' if moved > 0.2 else 'hardly hangs'} on them."
    )
    own, theirs = (mean_weights(weights) for weights in (found.subject.weights, other.weights))  # (n_keys,)
    if draw_map:
        for column, title, values in zip(st.columns(2), ("These weights", "Others"), (own, theirs), strict=True):
            with column:
                draw_chart(draw_map(to_array(values)), width="content", key=f"{name}_map_{title}", alt=title)
                st.caption(title)
    else:
        by_word = (found.subject.per_unit(weights).tolist() for weights in (own, theirs))
        chart = two_weights_chart(found.subject.names, *by_word)
        draw_chart(chart, key=f"{name}_other", alt="Each word's weight, and another that would do")
    with st.container(key=f"desk_{name}_others"):
        st.markdown(
            f"Others, as different as can be ({other.divergence:.2f} of 1), move the answer by {other.moved:.0%}. That "
            "does not make these wrong: Jain and Wallace 2019, Wiegreffe and Pinter 2019."
        )


def _over_many(model: str) -> None:
    if figures := card_or_empty(model).get("faithfulness"):
        areas = {order: mean for order, (mean, _) in figures["area_of_deletion"].items()}
        st.caption(
            f"{figures['n']} new inputs: area {areas[ATTENTION]:.2f} by attention, {areas[GRADIENT]:.2f} by gradient × "
            f"input, {areas[RANDOM]:.2f} at random; attention beats chance in {figures['attention_beats_random']:.0%}."
        )

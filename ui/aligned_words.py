"""A sentence above its translation with an arc for every weight; hovering shows where a word looks, a click chooses it.

A component rather than a chart: words keep their type and wrap as text does, and hovering needs no server.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import streamlit as st

from attention_core.topics.translate.word_view import WordView
from ui.component import component

_component = component("aligned_words")


def chosen_row(name: str) -> int | None:
    """Return the target word that was clicked last, a row of the weights; None before any was."""
    chosen: dict[str, Any] | None = (st.session_state.get(f"{name}_words") or {}).get("chosen")
    row = (chosen or {}).get("row")
    return row if isinstance(row, int) else None


def aligned_words(
    name: str,
    view: WordView,
    *,
    model: str,
    active: int,
    n_forced: int = 0,
    single: str = "one vector",
    note: str = "",
    plain: bool = False,
    on_choose: Callable[..., None] | None = None,
    args: tuple[Any, ...] = (),
) -> None:
    """Draw the two lines of words.

    Args:
        name: prefix of its state.
        view: words and weights.
        model: name for screen readers.
        active: the present target word, from 0.
        n_forced: target words that a person chose, from the first on.
        single: what to write on the single vector of a translator without attention.
        note: a line below, such as how sure the model is.
        plain: the lower words are not said one after the other, and have no probabilities.
        on_choose: called after a click on a target word, see chosen_row.
        args: of on_choose.
    """
    _component(
        key=f"{name}_words",
        data={
            "name": model,
            "source": view.source,
            "target": view.target,
            "weights": [[round(weight, 4) for weight in row] for row in view.weights.tolist()],
            "probabilities": [
                None if math.isnan(probability) else round(probability, 4) for probability in view.probabilities
            ],
            "uniform": 1 / len(view.keys),
            "note": note,
            "plain": plain,
            "single": single if view.is_single else "",
            "active": min(active, len(view.target) - 1),
            "forced": n_forced,
        },
        default={"chosen": None},
        on_chosen_change=(lambda: on_choose(*args)) if on_choose else (lambda: None),
    )

"""Something to try with the mask: forbid the regions it looks at, or let it look everywhere alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st
import torch

from attention_core.attention.interventions import UNIFORM, Intervention
from attention_core.charts import overlay
from attention_core.device import to_array
from attention_core.topics.find import most_looked_at, others_at_random
from ui.find.pad import NAME
from ui.find.parts import Seen
from ui.models import COMPUTE

N_DRAWS = 20
MOST_BLOCKED = 60
SIZE = 236
FAINT = 8
"""A map is coloured up to at least this many times the uniform weight, so that a uniform one stays faint."""


@dataclass(frozen=True, eq=False)
class Trial:
    """What the network answers after an edit of its attention.

    Attributes:
        weights: float (rows, columns), the mask.
        probabilities: float (10,).
    """

    weights: np.ndarray
    probabilities: np.ndarray

    @property
    def digit(self) -> int:
        """The most probable digit."""
        return int(self.probabilities.argmax())


def trial(seen: Seen, intervention: Intervention) -> Trial:
    """Return the mask and the answer after an edit; the features stay what they are."""
    with COMPUTE, torch.inference_mode():
        weights = seen.trace.replace(intervention).weights()[0].reshape(seen.trace.story.key_axis.grid)  # type: ignore[arg-type]
        return Trial(to_array(weights), to_array(seen.model.answer(seen.trace, intervention)))


def block_section(seen: Seen, picture: np.ndarray) -> None:
    """Draw the mask as it is, without its heaviest regions, without random ones, and uniform, with the answers."""
    n = st.slider(
        "Regions to block, those that the mask looks at most",
        1,
        MOST_BLOCKED,
        6,
        key=f"{NAME}_blocked",
        persist_state="session",
        width=420,
    )
    heaviest = most_looked_at(seen.trace, n)
    before, after = trial(seen, Intervention()), trial(seen, Intervention(blocked_keys=heaviest))
    draws = [trial(seen, Intervention(blocked_keys=others_at_random(seen.trace, n, seed))) for seed in range(N_DRAWS)]
    uniform = trial(seen, UNIFORM)
    same = sum(one.digit == before.digit for one in draws)
    mean = np.mean([one.probabilities[before.digit] for one in draws])
    held = float(before.weights.ravel()[list(heaviest)].sum())
    cases = (
        ("The mask as it is", before, f"Reads **{before.digit}** ({before.probabilities.max():.0%})."),
        (
            f"Its {n} heaviest regions blocked" if n > 1 else "Its heaviest region blocked",
            after,
            f"They held {held:.0%} of the mask. {_now(before, after)}",
        ),
        (
            f"{n} random regions blocked" if n > 1 else "A random region blocked",
            draws[0],
            f"Reads **{before.digit}** in {same} of {N_DRAWS} draws ({mean:.0%} on average).",
        ),
        ("Uniform mask, same network", uniform, f"Every region counts 1/{seen.trace.n_keys}. {_now(before, uniform)}"),
    )
    for number, (column, (title, case, words)) in enumerate(zip(st.columns(4, gap="medium"), cases, strict=True)):
        peak = float(case.weights.max())
        high = max(peak, FAINT / seen.trace.n_keys)
        with column:
            st.markdown(f"**{title}**")
            st.altair_chart(
                overlay(picture, case.weights, size=SIZE, opacity=0.8, high=high, bar=False),
                width="content",
                key=f"{NAME}_case_{number}",
                alt=f"{title}: the mask over the drawing",
            )
            st.markdown(words)
            st.caption(f"Its largest weight is {peak:.1%}.")
    st.caption(
        "A blocked region gets the score minus infinity, so that the others share its weight. Each mask is "
        "coloured up to its own largest weight, so that a spread-out one can be seen too."
    )


def _now(before: Trial, after: Trial) -> str:
    still = "Still" if after.digit == before.digit else "Now"
    rest = "" if after.digit == before.digit else f", the {before.digit} {after.probabilities[before.digit]:.0%}"
    return f"{still} reads **{after.digit}** ({after.probabilities.max():.0%}{rest})."

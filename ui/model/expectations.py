"""What a model expects: behind a mask, computed once for everybody, and in words."""

from __future__ import annotations

import math

from torch import Tensor

from attention_core.hub.knock_out import Head
from attention_core.hub.language import Expected, expected_in_place
from attention_core.hub.run import ModelRun
from ui.model.kept import kept
from ui.runs.runs import ModelInput, prepared_of, pretrained_of


def hidden_place(run: ModelRun, key: str, given: ModelInput, chosen: int | None) -> int:
    """Return the token to hide, from 0: the one that was chosen, else the first mask in the text, else the middle."""
    ids = prepared_of(key, given).inputs["input_ids"][0].tolist()
    mask = pretrained_of(key).tokenizer.mask_token_id
    words = [place for place in range(len(ids)) if place not in run.special] or [0]
    place = chosen if chosen is not None else ids.index(mask) if mask in ids else words[len(words) // 2]
    return min(place, len(ids) - 1)


def hidden_logits(run: ModelRun, key: str, given: ModelInput, place: int, off: tuple[Head, ...] = ()) -> Tensor:
    """Return the logits (n_tokens,) of what a model expects at a place that is hidden from it.

    Args:
        run: of this input, with every head.
        key: of the model.
        given: its input.
        place: which token, from 0.
        off: heads that are switched off.

    Raises:
        ModelError: see expected_in_place.
    """
    pretrained = pretrained_of(key)
    inputs = {name: one.to(pretrained.model.device) for name, one in prepared_of(key, given).inputs.items()}

    def compute() -> Tensor:
        return expected_in_place(pretrained, inputs, place, ablated=off).float().cpu()

    return kept(run, ("hidden word", place, off), compute)


def rest_words(found: Expected) -> str:
    """Return what is beyond the likeliest tokens, and how unsure the model is, in words."""
    as_many = 2**found.entropy
    unsure = f"As unsure as between {as_many:,.0f} equally likely ones" if as_many >= 1.95 else "Almost sure"
    return f"The other {found.n_rest:,} tokens together: {percent(found.rest)}. {unsure} ({found.entropy:.1f} bits)."


def percent(share: float) -> str:
    """Return a probability for people."""
    if not math.isfinite(share):
        return "nothing"
    return f"{share:.0%}" if share >= 0.0995 else f"{share:.1%}" if share >= 0.0005 else "under 0.1%"

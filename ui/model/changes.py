"""What changes when heads are switched off: expected tokens, classes, or the last layer, before and after."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st
from torch import Tensor

from attention_core.attention.types import Role
from attention_core.charts.language import before_after_chart
from attention_core.charts.palette import ROLE_COLOURS, VIRIDIS, Ramp
from attention_core.charts.picture import picture
from attention_core.device import to_array
from attention_core.hub.knock_out import Head, cosine_change, divergence, sentence_change
from attention_core.hub.language import log_probabilities, predicts_words, token_text
from attention_core.hub.model import Kind, ModelError, Pretrained
from attention_core.hub.run import ModelRun
from ui.labels import distinct, literal
from ui.model.chips import Chip, chips
from ui.model.state import NAME
from ui.model.words import hidden_logits, hidden_place
from ui.model.writing import given_ids
from ui.runs.runs import Latest, pretrained_of
from ui.state import Field

N_SHOWN = 6
NAMES = ("every head", "without")
MOST_BITS = 6
"""A token whose log-probability changes by so many bits has the full shade."""
CHANGE_AT = Field[int | None](NAME, "out_change_at", None)


def show_change(run: ModelRun, without: ModelRun, asked: Latest, off: tuple[Head, ...]) -> None:
    """Draw the output with every head beside the one without some.

    Args:
        run: with every head.
        without: the same input without some.
        asked: the model and its input.
        off: the heads that are switched off.
    """
    pretrained = pretrained_of(asked.key)
    if pretrained.kind is Kind.VISION:
        _classes(run, without, pretrained)
    elif not predicts_words(pretrained) or run.logits is None or without.logits is None:
        _last_layer(run, without)
    elif pretrained.kind is Kind.ENCODER:
        _hidden_word(run, asked, off)
        _last_layer(run, without)
    else:
        _next_word(run, without, asked)


def _next_word(run: ModelRun, without: ModelRun, asked: Latest) -> None:
    """Draw the change of what comes next, and of how probable the text's own tokens are."""
    ids = given_ids(asked)
    tokens = run.target_tokens or run.tokens
    before, after = run.logits, without.logits
    skipped = len(ids) - len(before)
    changed = divergence(before, after)
    place = len(ids) - 1 if CHANGE_AT.value is None else min(CHANGE_AT.value, len(ids) - 1)
    row = max(0, place - skipped)
    gains = log_probabilities(after, ids[skipped:]) - log_probabilities(before, ids[skipped:])
    shown = [Chip(text, 0, "the first token, which nothing expected", "#888888") for text in tokens[: skipped + 1]]
    shown += [
        Chip(
            text,
            abs(gain) / MOST_BITS,
            f"its log-probability changes by {gain:+.2f} bits",
            ROLE_COLOURS[Role.QUERY if gain > 0 else Role.CONTEXT],
        )
        for text, gain in zip(tokens[skipped + 1 :], gains.tolist(), strict=True)
    ]
    total = float(gains.sum())
    st.markdown(
        f"**The text becomes {_times(total)} times {'less' if total < 0 else 'more'} probable** "
        f"({total:+.2f} bits); what is expected changes by {_small(float(changed.mean()))} bits a position, "
        f"{_small(float(changed[row]))} after {literal(tokens[place].strip() or tokens[place])} "
        "(Jensen-Shannon divergence, 0 to 1)."
    )

    def look_at(clicked: int) -> None:
        CHANGE_AT.value = clicked

    chips(
        "model_out_change_chips",
        shown,
        chosen=place,
        label="The text, by the change of its tokens",
        hint="Orange: less probable without; blue: more. Click one to see what is expected after it.",
        on_choose=look_at,
    )
    _tokens_chart(before[row], after[row], asked)


def _times(bits: float) -> str:
    times = 2 ** min(abs(bits), 40)
    return f"{times:.2g}" if times < 10 else f"{times:,.0f}" if times < 1e6 else "over a million"


def _hidden_word(run: ModelRun, asked: Latest, off: tuple[Head, ...]) -> None:
    """Draw the change of what is expected behind a mask, at the place chosen in the tab about words."""
    place = hidden_place(run, asked)
    try:
        before, after = (hidden_logits(run, asked, place, heads) for heads in ((), off))
    except ModelError as error:
        st.info(str(error))
        return
    amount = float(divergence(before[None], after[None]))
    st.markdown(
        f"**With {literal(run.tokens[place].strip())} hidden, what is expected there changes by "
        f"{_small(amount)} bits** (Jensen-Shannon, 0 to 1)."
    )
    _tokens_chart(before, after, asked)


def _tokens_chart(before: Tensor, after: Tensor, asked: Latest) -> None:
    tokenizer = pretrained_of(asked.key).tokenizer
    _likeliest(before, after, N_SHOWN, lambda token: token_text(tokenizer, token), "tokens")


def _likeliest(before: Tensor, after: Tensor, n: int, text: Callable[[int], str], what: str) -> None:
    """Draw the probabilities of what is likeliest with every head and of what is without, by logits (n_outputs,)."""
    one, other = before.float().softmax(-1), after.float().softmax(-1)
    tops = dict.fromkeys([*one.topk(n).indices.tolist(), *other.topk(n).indices.tolist()])
    numbers = sorted(tops, key=lambda number: -float(one[number]))
    labels = distinct([text(number) for number in numbers])
    chart = before_after_chart(labels, one[numbers].tolist(), other[numbers].tolist(), names=NAMES)
    words = f"Probabilities of the likeliest {what} with every head and without"
    st.altair_chart(chart, key=f"model_out_{what}", alt=words)


def _classes(run: ModelRun, without: ModelRun, pretrained: Pretrained) -> None:
    """Draw the change of the classes, or of the last layer, patch by patch."""
    if run.logits is not None and without.logits is not None:
        names = getattr(pretrained.model.config, "id2label", {})
        amount = float(divergence(run.logits, without.logits)[0])
        st.markdown(f"**The classes change by {_small(amount)} bits** (Jensen-Shannon, 0 to 1).")
        before, after = run.logits[0], without.logits[0]
        n = min(N_SHOWN, len(before))
        _likeliest(before, after, n, lambda number: str(names.get(number, number)).split(",")[0], "classes")
    if run.hidden is None or without.hidden is None or run.hidden.shape != without.hidden.shape:
        return
    changed = to_array(cosine_change(run.hidden, without.hidden))
    if run.patch_grid is not None and len(changed) == run.n_prefix + int(np.prod(run.patch_grid)):
        patches = changed[run.n_prefix :].reshape(run.patch_grid)
        ramp = Ramp(VIRIDIS, 0.0, float(max(patches.max(), 1e-6)))
        chart = picture(patches, ramp, title="1 - cosine of the last layer", size=220)
        words = "Change of the last layer, patch by patch"
        st.altair_chart(chart, key="model_out_patches", width="content", alt=words)


def _last_layer(run: ModelRun, without: ModelRun) -> None:
    """Draw how far each token's last layer turns, and the mean over tokens, which stands for the sentence."""
    if run.hidden is None or without.hidden is None:
        st.info("The model hands out nothing that could be compared.")
        return
    turned = cosine_change(run.hidden, without.hidden)
    most = max(float(turned.max()), 1e-6)
    tokens = run.tokens if len(run.tokens) == len(turned) else run.target_tokens
    whole = sentence_change(run.hidden, without.hidden)
    st.markdown(
        f"**The sentence's vector turns by {_small(whole)}** (1 - cosine of the mean over tokens; 0 = nothing "
        f"has changed, 1 = at right angles); a token's by {_small(float(turned.mean()))}."
    )
    shown = [
        Chip(text, amount / most, f"its last layer turns by {_small(amount)}", ROLE_COLOURS[Role.CONTEXT])
        for text, amount in zip(tokens, turned.tolist(), strict=True)
    ]
    hint = f"The strongest shade: {_small(most)}. Hover a token for its change."
    chips("model_out_turned_chips", shown, label="The tokens by their change", hint=hint)


def _small(amount: float) -> str:
    """Return a number from 0 upwards for people, with two digits that count."""
    return f"{amount:.2g}" if amount >= 0.0001 else "under 0.0001"

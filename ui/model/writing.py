"""What a visitor lets a language model write: tokens in the session, the texts on a shelf for everybody."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Any

import streamlit as st
from torch import Tensor

from attention_core.hub.generation import Generation, begin, end_tokens, grow, most_positions
from attention_core.hub.language import pick
from attention_core.hub.model import Kind
from attention_core.hub.tokens import readable
from ui.models import COMPUTE
from ui.runs.runs import ALSO_FORGOTTEN, ModelInput, prepared_of, pretrained_of

MOST_WRITTEN = 256
"""Tokens that a visitor may let a model write behind a text."""
AT_ONCE = 24
"""Tokens that one click asks for."""
MOST_ON_SHELF = 8
MOST_MODELS = 2
NEAR = 4
"""Tokens by which a text on the shelf may be shorter to be grown rather than run at once."""


class Shelf:
    """The texts that grew last, of all visitors; the one used longest ago goes first."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Any, Generation] = OrderedDict()
        self._lock = Lock()

    def get(self, place: Any) -> Generation | None:
        """Return what is kept there, or None."""
        with self._lock:
            if place in self._kept:
                self._kept.move_to_end(place)
            return self._kept.get(place)

    def put(self, place: Any, generation: Generation) -> None:
        """Keep a text, and with it its model: texts of other models than the last two are let go."""
        with self._lock:
            self._kept[place] = generation
            self._kept.move_to_end(place)
            while len(self._kept) > MOST_ON_SHELF:
                self._kept.popitem(last=False)
            models = list(dict.fromkeys(id(one.pretrained) for one in reversed(self._kept.values())))
            for old in [at for at, one in self._kept.items() if id(one.pretrained) in models[MOST_MODELS:]]:
                del self._kept[old]

    def clear(self) -> None:
        """Let go of everything."""
        with self._lock:
            self._kept.clear()


_SHELF = Shelf()
ALSO_FORGOTTEN.append(_SHELF.clear)


def generation_of(key: str, given: ModelInput, ids: tuple[int, ...]) -> Generation:
    """Return a text as the model ran it: from the shelf, grown from a slightly shorter one, or run at once.

    Args:
        key: of the model, see pretrained_of.
        given: the input, for what an encoder reads.
        ids: tokens of the text that the model writes.

    Raises:
        ModelError: the model does not write, or the text is too long for it.
    """
    pretrained, source = pretrained_of(key), _source(key, given)
    encoder = given if source else None
    for n_missing in range(min(NEAR, len(ids) - 1) + 1):
        found = _SHELF.get((key, encoder, ids[: len(ids) - n_missing]))
        if found is not None and found.pretrained is pretrained:
            with COMPUTE:
                for token in ids[len(ids) - n_missing :]:
                    found = grow(found, token)
            break
    else:
        with COMPUTE:
            found = begin(pretrained, ids, source)
    _SHELF.put((key, encoder, ids), found)
    return found


def _source(key: str, given: ModelInput) -> Mapping[str, Tensor]:
    """Return what the encoder is called with, on the model's device; nothing for a decoder alone."""
    pretrained = pretrained_of(key)
    if pretrained.kind is not Kind.ENCODER_DECODER:
        return {}
    inputs = prepared_of(key, given).inputs
    return {name: inputs[name].to(pretrained.model.device) for name in ("input_ids", "attention_mask")}


def given_ids(key: str, given: ModelInput) -> tuple[int, ...]:
    """Return the tokens with which the part of the model that writes begins."""
    inputs = prepared_of(key, given).inputs
    return tuple(inputs.get("decoder_input_ids", inputs["input_ids"])[0].tolist())


def text_ids(name: str, key: str, given: ModelInput) -> tuple[int, ...]:
    """Return the tokens as the visitor left them; those of the input for another model or input than last time."""
    now, state = _of(key, given), st.session_state.get(_place(name))
    if state is None or state["of"] != now:
        stop(name)
        start = given_ids(key, given)
        st.session_state[_place(name)] = {"of": now, "ids": list(start), "n_given": len(start), "at": None}
    return tuple(st.session_state[_place(name)]["ids"])


def n_given(name: str) -> int:
    """Return how many tokens at the beginning still are the input's."""
    state = st.session_state[_place(name)]
    return min(state["n_given"], len(state["ids"]))


def position(name: str) -> int:
    """Return the token after which the expectation is shown, from 0: the last one unless another was chosen."""
    state = st.session_state[_place(name)]
    last = len(state["ids"]) - 1
    return last if state["at"] is None else min(state["at"], last)


def look_at(name: str, place: int) -> None:
    """Show what is expected after a token; for callbacks."""
    state = st.session_state[_place(name)]
    state["at"] = None if place >= len(state["ids"]) - 1 else place


def say(name: str, token: int, after: int) -> None:
    """Put a token behind another one and forget what came there; for callbacks."""
    state = st.session_state[_place(name)]
    state["n_given"] = min(state["n_given"], after + 1)
    state["ids"] = [*state["ids"][: after + 1], token]
    state["at"] = None


def stop(name: str) -> None:
    """Let the model write no further; for callbacks."""
    st.session_state[f"{name}_says_asked"] = 0


def back(name: str) -> None:
    """Take the last token away; for callbacks."""
    stop(name)
    state = st.session_state[_place(name)]
    state["ids"] = state["ids"][:-1] or state["ids"]
    state["n_given"] = min(state["n_given"], len(state["ids"]))
    state["at"] = None


def restart(name: str, key: str, given: ModelInput) -> None:
    """Return to the input, or, where an encoder reads it, to nothing written; for callbacks."""
    stop(name)
    start = given_ids(key, given)
    if pretrained_of(key).kind is Kind.ENCODER_DECODER:
        start = start[:1]
    st.session_state[_place(name)] = {"of": _of(key, given), "ids": list(start), "n_given": len(start), "at": None}


def write(name: str, made: Generation, temperature: float, seed: int) -> int:
    """Put the token behind the text that the model says; returns it."""
    token = pick(made.next_logits, temperature=temperature, seed=seed, place=len(made.ids))
    say(name, token, len(made.ids) - 1)
    return token


def why_ended(name: str, key: str, given: ModelInput, ids: tuple[int, ...]) -> str:
    """Return why the model writes no further, in a sentence; empty if it can."""
    pretrained = pretrained_of(key)
    if len(ids) > n_given(name) and ids[-1] in end_tokens(pretrained):
        return f"The model said its end, {readable(pretrained.tokenizer, ids[-1:])[0]}: it has finished."
    return why_full(key, given, ids)


def why_full(key: str, given: ModelInput, ids: tuple[int, ...]) -> str:
    """Return why no token can follow, whoever says it, in a sentence; empty if one can."""
    most = most_positions(pretrained_of(key))
    if most is not None and len(ids) >= most:
        return f"The text fills the {most:,} positions that the model knows."
    if len(ids) >= len(given_ids(key, given)) + MOST_WRITTEN:
        return f"{MOST_WRITTEN} tokens were written, which is the bound of this page."
    return ""


def _place(name: str) -> str:
    return f"{name}_says_writing"


def _of(key: str, given: ModelInput) -> str:
    return f"{key} {hash(given)}"

"""What a visitor lets a language model write: tokens in the session, the texts kept for everybody."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from attention_core.bounds import WRITTEN_TOKENS
from attention_core.hub.generation import Generation, begin, end_tokens, grow, most_positions
from attention_core.hub.model import ModelKind
from attention_core.hub.tokens import readable
from attention_core.packed import pack, unpack
from ui.job_queue import heavy
from ui.model.state import NAME
from ui.runs.runs import ALSO_FORGOTTEN, LatestRun, prepared_of, pretrained_of
from ui.state import Field

AT_ONCE = 24
"""Tokens that one click asks for."""
MOST_TEXTS, MOST_MODELS = 8, 2
"""Texts that are kept for all visitors, and of how many models."""
NEAR = 4
"""Tokens by which a kept text may be shorter to be grown rather than run at once."""
WRITING = Field[dict[str, Any] | None](
    NAME,
    "says_writing",
    None,
    address="written",
    parse=lambda text: _linked(unpack(text)),
    text=lambda text: pack([text["n_given"], text["at"], *text["ids"]]),
)
"""of: model and input; ids: the tokens; n_given: how many of them still are the input's; at: the chosen one or None."""
LINKED = ""
"""In the place of model and input: a link says what was written, which is still to be compared with these."""
WANTED = Field(NAME, "says_asked", 0)
"""Tokens that the model is still to write."""
_TEXTS: dict[Any, Generation] = {}
ALSO_FORGOTTEN.append(_TEXTS.clear)


def generation_of(asked: LatestRun, ids: tuple[int, ...]) -> Generation:
    """Return a text as the model ran it: kept, grown from a slightly shorter one, or run at once."""
    pretrained, source = pretrained_of(asked.key), _source(asked)
    encoder = asked.given if source else None
    for n_known in range(len(ids), max(len(ids) - NEAR, 1) - 1, -1):
        found = _TEXTS.get((asked.key, encoder, ids[:n_known]))
        if found is not None and found.pretrained is pretrained:
            with heavy():
                for token in ids[n_known:]:
                    found = grow(found, token)
            break
    else:
        with heavy():
            found = begin(pretrained, ids, source)
    _keep((asked.key, encoder, ids), found)
    return found


def _keep(key: Any, text: Generation) -> None:
    """Keep a text, and with it its model; those looked at longest ago are let go."""
    _TEXTS.pop(key, None)
    _TEXTS[key] = text
    newest_first = list(_TEXTS.copy().items())[::-1]
    models = list(dict.fromkeys(id(one.pretrained) for _, one in newest_first[:MOST_TEXTS]))[:MOST_MODELS]
    for place, (old, one) in enumerate(newest_first):
        if place >= MOST_TEXTS or id(one.pretrained) not in models:
            _TEXTS.pop(old, None)


def _source(asked: LatestRun) -> Mapping[str, Tensor]:
    """Return what the encoder is called with, on the model's device; nothing for a decoder alone."""
    pretrained = pretrained_of(asked.key)
    if pretrained.kind is not ModelKind.ENCODER_DECODER:
        return {}
    inputs = prepared_of(*asked).inputs
    return {name: inputs[name].to(pretrained.model.device) for name in ("input_ids", "attention_mask")}


def given_ids(asked: LatestRun) -> tuple[int, ...]:
    inputs = prepared_of(*asked).inputs
    return tuple(inputs.get("decoder_input_ids", inputs["input_ids"])[0].tolist())


def text_ids(asked: LatestRun) -> tuple[int, ...]:
    """Return the tokens as the visitor left them; those of the input for another model or input than last time."""
    text, given = WRITING.value, given_ids(asked)
    if text is not None and text["of"] == LINKED and _fits(text, asked, given):
        text["of"] = _of(asked)
    elif text is None or text["of"] != _of(asked):
        stop()
        WRITING.found(_nothing_written(asked, given))
    return tuple(WRITING.value["ids"])


def _nothing_written(asked: LatestRun, ids: tuple[int, ...]) -> dict[str, Any]:
    return {"of": _of(asked), "ids": list(ids), "n_given": len(ids), "at": None}


def _linked(parts: Any) -> dict[str, Any]:
    n_given, at, *ids = parts
    if not ids or not all(type(part) is int and part >= 0 for part in (n_given, at or 0, *ids)):
        raise ValueError("a text is the number of given tokens, the chosen one or nothing, and the tokens")
    return {"of": LINKED, "ids": ids, "n_given": min(n_given, len(ids)), "at": at}


def _fits(text: Mapping[str, Any], asked: LatestRun, given: tuple[int, ...]) -> bool:
    ids, n_given = text["ids"], text["n_given"]
    known = max(ids) < len(pretrained_of(asked.key).tokenizer) and len(ids) <= len(given) + WRITTEN_TOKENS.most
    return known and n_given <= len(given) and tuple(ids[:n_given]) == given[:n_given]


def _of(asked: LatestRun) -> str:
    return f"{asked.key} {hash(asked.given)}"


def position() -> int:
    """Return the token after which the expectation is shown, from 0: the last one unless another was chosen."""
    text = WRITING.value
    last = len(text["ids"]) - 1
    return last if text["at"] is None else min(text["at"], last)


def look_at(place: int) -> None:
    text = WRITING.value
    text["at"] = None if place >= len(text["ids"]) - 1 else place


def say(token: int, after: int) -> None:
    """Put a token behind another one and forget what came there; for callbacks."""
    _cut(after + 1)
    WRITING.value["ids"].append(token)


def back() -> None:
    stop()
    _cut(max(len(WRITING.value["ids"]) - 1, 1))


def _cut(n: int) -> None:
    text = WRITING.value
    text |= {"ids": text["ids"][:n], "n_given": min(text["n_given"], n), "at": None}


def stop() -> None:
    WANTED.value = 0


def restart(asked: LatestRun) -> None:
    """Return to the input, or, where an encoder reads it, to nothing written; for callbacks."""
    start = given_ids(asked)
    stop()
    written = start[:1] if pretrained_of(asked.key).kind is ModelKind.ENCODER_DECODER else start
    WRITING.value = _nothing_written(asked, written)


def why_ended(asked: LatestRun, ids: tuple[int, ...]) -> str:
    """Return why the model writes no further, in a sentence; empty if it can."""
    pretrained = pretrained_of(asked.key)
    if len(ids) > WRITING.value["n_given"] and ids[-1] in end_tokens(pretrained):
        return f"The model said its end, {readable(pretrained.tokenizer, ids[-1:])[0]}: it has finished."
    return why_full(asked, ids)


def why_full(asked: LatestRun, ids: tuple[int, ...]) -> str:
    most = most_positions(pretrained_of(asked.key))
    if most is not None and len(ids) >= most:
        return f"The text fills the {most:,} positions that the model knows."
    if len(ids) >= len(given_ids(asked)) + WRITTEN_TOKENS.most:
        return f"{WRITTEN_TOKENS.most} tokens were written, which is the bound of this page."
    return ""

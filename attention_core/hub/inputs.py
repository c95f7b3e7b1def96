"""A text becomes what a model is called with, bounded, and every cut told."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attention_core.bounds import GENERATED_TOKENS, TOKENIZER_GROWTH, TOKENS
from attention_core.hub.faults import no_panic
from attention_core.hub.model import ModelError, ModelKind, Pretrained
from attention_core.hub.tokens import readable

CHARACTERS_PER_TOKEN = 16
"""A text is cut to this many characters per token before it is tokenised: a long paste costs no time."""


@dataclass(frozen=True, eq=False)
class ModelInputs:
    """What a model is called with (inputs, a batch of one, on the CPU), and what its positions are, see ModelRun."""

    inputs: dict[str, Tensor] = field(repr=False)
    tokens: tuple[str, ...]
    target_tokens: tuple[str, ...] = ()
    special: frozenset[int] = frozenset()
    patch_grid: tuple[int, int] | None = None
    n_prefix: int = 0
    picture: np.ndarray | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()


def text_inputs(
    pretrained: Pretrained, text: str, *, pair: str = "", target: str = "", most_tokens: int = TOKENS.most
) -> ModelInputs:
    """Return a text, or a pair of texts, as a model takes it; spaces at the ends are kept.

    An encoder gets a pair's second text behind a separator. The decoder of an encoder-decoder is given the target, or
    what it writes itself, greedily, where that is empty. Special tokens count for most_tokens.

    Raises:
        ModelError: an empty text, a model that takes no text, or a target that cannot be generated.
    """
    if pretrained.tokenizer is None:
        raise ModelError(f"{pretrained.name} takes a picture, not a text.")
    if not text.strip():
        raise ModelError("The text is empty. Write a sentence: its tokens are what looks at each other.")
    notes: list[str] = []
    most = min(most_tokens, pretrained.most_tokens or most_tokens)
    pair = pair if pretrained.kind is ModelKind.ENCODER and pair.strip() else ""
    ids, types = _tokenised(pretrained, text, pair, most, notes)
    if not ids:
        raise ModelError("The tokenizer makes no tokens of this text.")
    inputs = {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids), dtype=torch.long)}
    if types is not None:
        inputs["token_type_ids"] = torch.tensor([types])
    target_ids: list[int] = []
    if pretrained.kind is ModelKind.ENCODER_DECODER:
        target_ids = _target(pretrained, inputs, target, most, notes)
        inputs["decoder_input_ids"] = torch.tensor([target_ids])
    tokenizer = pretrained.tokenizer
    marks = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id, tokenizer.mask_token_id}
    special = {place for place, number in enumerate(ids) if number in marks}
    return ModelInputs(
        inputs,
        tokens=readable(pretrained.tokenizer, ids),
        target_tokens=readable(pretrained.tokenizer, target_ids) if target_ids else (),
        special=frozenset(special | ({0} if pretrained.kind is ModelKind.DECODER else set())),
        notes=tuple(notes),
    )


def _tokenised(
    pretrained: Pretrained, text: str, pair: str, most: int, notes: list[str]
) -> tuple[list[int], list[int] | None]:
    """Return token numbers and, where the model has them, the text (0 or 1) that each belongs to."""
    most_characters = most * CHARACTERS_PER_TOKEN
    was_cut = max(len(text), len(pair)) > most_characters
    texts = [_sound(one[:most_characters]) for one in (text, pair) if one]
    encoded = _encode(pretrained.tokenizer, *texts)
    n_tokens = len(encoded["input_ids"])
    if n_tokens > most:
        encoded = _encode(pretrained.tokenizer, *texts, truncation=True, max_length=most)
    if n_tokens > most or was_cut:
        more = "at least " if was_cut else ""
        notes.append(
            f"The text was cut to its first {len(encoded['input_ids']):,} tokens of {more}{n_tokens:,}"
            + (f": {pretrained.name} knows no more positions." if most == pretrained.most_tokens else ".")
        )
    return encoded["input_ids"], encoded.get("token_type_ids")


def _encode(tokenizer: Any, *texts: str, truncation: bool = False, **more: Any) -> dict[str, list[int]]:
    more["return_token_type_ids"] = "token_type_ids" in tokenizer.model_input_names
    with no_panic("The tokenizer cannot read this text"):
        _refuse_growth(tokenizer, texts)
        return tokenizer(*texts, padding=False, verbose=False, truncation=truncation, **more)


def _refuse_growth(tokenizer: Any, texts: Sequence[str]) -> None:
    """Make sure that what a tokenizer replaces before it cuts a text does not fill the memory."""
    normalizer = getattr(getattr(tokenizer, "backend_tokenizer", None), "normalizer", None)
    if normalizer is None:
        return
    if any(len(normalizer.normalize_str(sign)) > TOKENIZER_GROWTH.most for sign in set().union(*texts)):
        raise ModelError(f"The tokenizer makes more than {TOKENIZER_GROWTH} letters of one, so no text is given to it.")


def _sound(text: str) -> str:
    return text.encode("utf-8", errors="replace").decode("utf-8")  # no tokenizer takes halves of characters


def _target(pretrained: Pretrained, inputs: dict[str, Tensor], target: str, most: int, notes: list[str]) -> list[int]:
    """Return what the decoder is given: its start token and the target without the end."""
    model: Any = pretrained.model
    tokenizer = pretrained.tokenizer
    end = tokenizer.eos_token_id
    if not target.strip():
        written = _written(pretrained, inputs)
        notes.append("No target text was given: the decoder was given what it writes itself, word by word.")
        return written[:-1] if len(written) > 1 and written[-1] == end else written
    cut = _sound(target[: most * CHARACTERS_PER_TOKEN])
    with no_panic("The tokenizer cannot read this text"):
        _refuse_growth(tokenizer, [cut])
        ids = tokenizer(text_target=cut, verbose=False, truncation=True, max_length=most)["input_ids"]
    if len(ids) >= most:
        notes.append(f"The target text was cut to its first {most:,} tokens.")
    labels = torch.tensor([ids])
    shifted = getattr(model, "prepare_decoder_input_ids_from_labels", None)
    if shifted is not None:
        return shifted(labels.to(model.device))[0].tolist()
    return [_start(pretrained), *(ids[:-1] if ids and ids[-1] == end else ids)]


def _start(pretrained: Pretrained) -> int:
    for name in ("decoder_start_token_id", "bos_token_id", "pad_token_id"):
        if (number := getattr(pretrained.model.config, name)) is not None:
            return int(number)
    raise ModelError(f"The settings of {pretrained.name} do not say with which token its decoder starts.")


@torch.no_grad()
def _written(pretrained: Pretrained, inputs: dict[str, Tensor]) -> list[int]:
    model: Any = pretrained.model
    if not model.can_generate():
        raise ModelError(f"{pretrained.name} has no head that writes text: give it a target text of your own.")
    on_device = {name: value.to(model.device) for name, value in inputs.items() if name != "token_type_ids"}
    most = GENERATED_TOKENS.most
    if pretrained.most_tokens:
        most = min(most, pretrained.most_tokens - 1)  # the start takes a position
    result = model.generate(**on_device, do_sample=False, num_beams=1, max_new_tokens=most, max_length=None)
    return result[0].tolist()

"""The inputs of a model, a text in its tokens or a picture, and a run of it on them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from attention_core.attention.edits import Edits
from attention_core.attention.recording import Recording
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis
from attention_core.attention.weights import all_finite
from attention_core.attention.wording import format_count
from attention_core.bounds.limits import GENERATED_TOKENS, TOKENIZER_GROWTH, TOKENS
from attention_core.explain.heads import PatchGrid, groups, is_self_attention, kind_of
from attention_core.hub.model import (
    ModelError,
    ModelKind,
    Pretrained,
    as_model_errors,
    class_names,
    no_panic,
    readable,
)
from attention_core.hub.tracing import UnsupportedError, run_model
from attention_core.hub.windows import check_window_edits, join_windows, windowed_layers

CHARACTERS_PER_TOKEN = 16
"""A text is cut to this many characters per token before it is tokenised: a long paste costs no time."""


@dataclass(frozen=True)
class TextInput:
    """A text as a visitor gave it, see text_inputs; perhaps with a picture file beside it, see PictureInput."""

    text: str
    pair: str = ""
    target: str = ""
    png: bytes | None = None


@dataclass(frozen=True)
class PictureInput:
    """A picture file as a visitor gave it, of a kind that Pillow reads, its bounds checked."""

    png: bytes


ModelInput = TextInput | PictureInput


@dataclass(frozen=True, eq=False)
class ModelInputs:
    """What a model is called with (inputs, a batch of one, on the CPU), and what its positions are, see ModelRun."""

    inputs: dict[str, Tensor] = field(repr=False)
    tokens: tuple[str, ...]
    target_tokens: tuple[str, ...] = ()
    special: frozenset[int] = frozenset()
    patch_grid: tuple[int, int] | None = None
    n_prefix: int = 0
    tiles: PatchGrid | None = None
    picture: np.ndarray | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()


def text_inputs(
    pretrained: Pretrained, text: str, *, pair: str = "", target: str = "", n_beside: int = 0
) -> ModelInputs:
    """Return a text, or a pair of texts, as a model takes it; spaces at the ends are kept, n_beside tokens find room.

    An encoder gets a pair's second text behind a separator. The decoder of an encoder-decoder is given the target, or
    what it writes itself, greedily, where that is empty. A ModelError for an empty text, a model that takes none, or a
    target that cannot be generated.
    """
    if pretrained.tokenizer is None:
        raise ModelError(f"{pretrained.name} takes a picture, not a text.")
    if not text.strip():
        raise ModelError("The text is empty. Write a sentence: its tokens are what looks at each other.")
    notes: list[str] = []
    max_tokens = max(1, min(TOKENS.maximum, (pretrained.max_tokens or n_beside + TOKENS.maximum) - n_beside))
    pair = pair if pretrained.kind is ModelKind.ENCODER and pair.strip() else ""
    ids, types = _tokenised(pretrained, text, pair, max_tokens, notes)
    if not ids:
        raise ModelError("The tokenizer makes no tokens of this text.")
    inputs = {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids), dtype=torch.long)}
    if types is not None:
        inputs["token_type_ids"] = torch.tensor([types])
    target_ids: list[int] = []
    if pretrained.kind is ModelKind.ENCODER_DECODER:
        target_ids = _target(pretrained, inputs, target, max_tokens, notes)
        inputs["decoder_input_ids"] = torch.tensor([target_ids])
    tokenizer = pretrained.tokenizer
    marks = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id, tokenizer.mask_token_id}
    special = {index for index, number in enumerate(ids) if number in marks}
    return ModelInputs(
        inputs,
        tokens=readable(pretrained.tokenizer, ids),
        target_tokens=readable(pretrained.tokenizer, target_ids) if target_ids else (),
        special=frozenset(special),
        notes=tuple(notes),
    )


def _tokenised(
    pretrained: Pretrained, text: str, pair: str, max_tokens: int, notes: list[str]
) -> tuple[list[int], list[int] | None]:
    """Return token numbers and, where the model has them, the text (0 or 1) that each belongs to."""
    max_characters = max_tokens * CHARACTERS_PER_TOKEN
    was_cut = max(len(text), len(pair)) > max_characters
    texts = [_sound(passage[:max_characters]) for passage in (text, pair) if passage]
    encoded = _encode(pretrained.tokenizer, *texts)
    n_tokens = len(encoded["input_ids"])
    if n_tokens > max_tokens:
        encoded = _encode(pretrained.tokenizer, *texts, truncation=True, max_length=max_tokens)
    if n_tokens > max_tokens or was_cut:
        qualifier = "at least " if was_cut else ""
        n_read = format_count(len(encoded["input_ids"]), "tokens")
        notes.append(
            f"The text was cut to its first {n_read} of {qualifier}{n_tokens:,}"
            + (f": {pretrained.name} knows no more positions." if max_tokens == pretrained.max_tokens else ".")
        )
    return encoded["input_ids"], encoded.get("token_type_ids")


def _encode(tokenizer: Any, *texts: str, truncation: bool = False, **options: Any) -> dict[str, list[int]]:
    options["return_token_type_ids"] = "token_type_ids" in tokenizer.model_input_names
    with no_panic("The tokenizer cannot read this text"):
        _refuse_growth(tokenizer, texts)
        return tokenizer(*texts, padding=False, verbose=False, truncation=truncation, **options)


def _refuse_growth(tokenizer: Any, texts: Sequence[str]) -> None:
    """Make sure that what a tokenizer replaces before it cuts a text does not fill the memory."""
    normalizer = getattr(getattr(tokenizer, "backend_tokenizer", None), "normalizer", None)
    if normalizer is None:
        return
    if any(len(normalizer.normalize_str(sign)) > TOKENIZER_GROWTH.maximum for sign in set().union(*texts)):
        raise ModelError(f"The tokenizer makes more than {TOKENIZER_GROWTH} letters of one, so no text is given to it.")


def _sound(text: str) -> str:
    return text.encode("utf-8", errors="replace").decode("utf-8")  # no tokenizer takes halves of characters


def _target(
    pretrained: Pretrained, inputs: dict[str, Tensor], target: str, max_tokens: int, notes: list[str]
) -> list[int]:
    """Return what the decoder is given: its start token and the target without the end."""
    model: Any = pretrained.model
    tokenizer, eos_id = pretrained.tokenizer, pretrained.tokenizer.eos_token_id
    if not target.strip():
        written = _written(pretrained, inputs)
        notes.append("No target text was given: the decoder was given what it writes itself, word by word.")
        return written[:-1] if len(written) > 1 and written[-1] == eos_id else written
    cut = _sound(target[: max_tokens * CHARACTERS_PER_TOKEN])
    with no_panic("The tokenizer cannot read this text"):
        _refuse_growth(tokenizer, [cut])
        ids = tokenizer(text_target=cut, verbose=False, truncation=True, max_length=max_tokens)["input_ids"]
    if len(ids) >= max_tokens:
        notes.append(f"The target text was cut to its first {format_count(max_tokens, 'tokens')}.")
    if shifted := getattr(model, "prepare_decoder_input_ids_from_labels", None):
        return shifted(torch.tensor([ids], device=model.device))[0].tolist()
    return [_start(pretrained), *(ids[:-1] if ids and ids[-1] == eos_id else ids)]


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
    n_new = min(GENERATED_TOKENS.maximum, (pretrained.max_tokens or TOKENS.maximum) - 1)  # the start takes a position
    result = model.generate(**on_device, do_sample=False, num_beams=1, max_new_tokens=n_new, max_length=None)
    return result[0].tolist()


MAX_LOGITS = 26_000_000  # numbers of logits that a run keeps, 104 MB: 512 positions of GPT-2's vocabulary
MAX_BEFORE = 16  # positions that may stand before the patches of a picture: a class token, registers


class ClassProbability(NamedTuple):
    """What a classifier calls a class, and how probable it is; classes that exclude each other sum to 1."""

    name: str
    probability: float


@dataclass(frozen=True, eq=False)
class ModelRun:
    """Every attention of one run, its tokens and its output."""

    model: str
    kind: ModelKind | None  # None for a recording of an unknown model
    recording: Recording  # the traces in the order of execution, their axes labelled with tokens or patches
    tokens: tuple[str, ...]  # of the only or the encoder's input; for vision what stands before the patches, and these
    target_tokens: tuple[str, ...] = ()  # of the decoder of an encoder-decoder
    special: frozenset[int] = frozenset()
    """positions in tokens that are no words: [CLS], [SEP], what stands before patches"""
    logits: Tensor | None = field(default=None, repr=False)
    """(n_positions, n_outputs), over the vocabulary, or (1, n_classes) of a classifier; None without. Of a long input
    over a large vocabulary the last positions only, as many as MAX_LOGITS allows."""
    hidden: Tensor | None = field(default=None, repr=False)  # (n_positions, d_model), of the last layer; None in a file
    patch_grid: tuple[int, int] | None = None  # rows and columns of patches
    n_prefix: int = 0  # tokens before the first patch
    tiles: PatchGrid | None = None  # where the tokens of a picture lie among those of a text
    picture: np.ndarray | None = field(default=None, repr=False)  # uint8 (height, width, 3), what the model was shown
    notes: tuple[str, ...] = ()
    classes: tuple[ClassProbability, ...] = ()  # of a classifier, by number
    token_classes: tuple[tuple[ClassProbability, ...], ...] = ()  # of each token, of a classifier of tokens

    @property
    def sinks(self) -> frozenset[int]:
        """Where heads look that find nothing: what is special, and a decoder's first token, which all others see."""
        return self.special | ({0} if self.kind is ModelKind.DECODER else frozenset())

    def classes_at(self, position: int) -> Sequence[ClassProbability]:
        """Return the classes of the run, of a classifier of tokens those of one position."""
        return self.token_classes[position] if self.token_classes else self.classes

    @cached_property
    def groups(self) -> dict[str, list[AttentionTrace]]:
        """The traces by stack and kind, see attention_core.explain.heads.groups; of picture and text together first."""
        by_kind = groups(self.recording)
        if self.tiles is None:
            return by_kind
        return dict(sorted(by_kind.items(), key=lambda group: group[1][0].n_keys != len(self.tokens)))


def run(pretrained: Pretrained, prepared: ModelInputs, *, edits: Mapping[int, Edits] | None = None) -> ModelRun:
    """Return what a loaded model did with an input from text_inputs or picture_inputs; edits as in run_model.

    NoMemory where the input is too long, a ModelError where the model cannot be run with it, or has no attention.
    """
    model = pretrained.model
    inputs: dict[str, Any] = {name: value.to(model.device) for name, value in prepared.inputs.items()}
    inputs |= {"output_hidden_states": True} | pretrained.fewer_logits(_n_outputs(prepared), MAX_LOGITS)
    if pretrained.kind in (ModelKind.DECODER, ModelKind.ENCODER_DECODER):
        inputs |= pretrained.without_cache()
    layers = windowed_layers(model)
    if layers:
        check_window_edits(edits)
    with as_model_errors(pretrained, "be run with this input", UnsupportedError):
        recording, output = run_model(model, inputs, edits=edits, item="all" if layers else 0)
    if layers:
        recording = join_windows(recording, layers)
    if pretrained.kind is ModelKind.VISION:
        prepared = _as_positioned(prepared, recording)
    logits = _first(output.get("logits"))
    if is_of_classes := logits is not None and logits.ndim == 1:
        logits = logits[None]
    hidden = _hidden(output)
    notes = [*prepared.notes, *filter(None, [recording.note])]
    if logits is not None and logits.numel() > MAX_LOGITS:
        logits = logits[-max(1, MAX_LOGITS // logits.shape[1]) :].clone()
    classes = _classes(pretrained, logits)
    by_kind = {"classes": classes[0]} if is_of_classes and classes else {"token_classes": classes}
    is_vision = pretrained.kind is ModelKind.VISION
    if logits is not None and not (is_of_classes or is_vision) and len(logits) < _n_outputs(prepared):
        count = f"{len(logits):,} positions are" if len(logits) > 1 else "position is"
        notes.append(f"Of the output, the last {count} kept.")
    fields = vars(prepared) | {"notes": (*notes, *_not_finite(recording, logits, hidden))}
    del fields["inputs"]
    labelled = replace(recording, traces=list(recording.traces))  # an axis of another length keeps its numbers
    if not layers:  # joined windows have their labels
        labelled.label(Axis("patches", prepared.tokens) if is_vision else prepared.tokens, prepared.target_tokens)
    labelled.note = recording.note
    return ModelRun(pretrained.name, pretrained.kind, labelled, logits=logits, hidden=hidden, **by_kind, **fields)


def _classes(pretrained: Pretrained, logits: Tensor | None) -> tuple[tuple[ClassProbability, ...], ...]:
    """Return the classes of each row of logits."""
    names = class_names(pretrained)
    if not names or logits is None or logits.ndim != 2 or logits.shape[1] != len(names):
        return ()
    is_multiple = pretrained.model.config.problem_type == "multi_label_classification"
    probabilities = logits.sigmoid() if is_multiple else logits.softmax(-1)
    return tuple(tuple(map(ClassProbability, names, row)) for row in probabilities.tolist())


def recording_run(recording: Recording, name: str) -> ModelRun:
    """Return a recording from a file as a run of an unknown model; its tokens are its axes' labels."""
    longest = max((trace.story.query_axis for trace in recording.traces), key=len, default=Axis("positions", ()))
    notes = (*filter(None, [recording.note]), *_not_finite(recording, None, None))
    return ModelRun(name, None, recording, tuple(longest.labels), notes=notes)


def special_keys(run: ModelRun, trace: AttentionTrace) -> frozenset[int]:
    """Return the keys of a trace that are no words; in a decoder beside an encoder, the token that starts it."""
    if run.target_tokens and kind_of(trace.story.name).endswith("decoder self"):
        return frozenset({0})
    if run.tiles is not None and trace.n_keys != len(run.tokens):
        return frozenset()
    return frozenset(key for key in run.special if key < trace.n_keys)


def patches_of(run: ModelRun, trace: AttentionTrace) -> PatchGrid | None:
    """Return where the patches lie if both queries and keys of a trace are patches of the run's picture."""
    if (grid := trace.story.query_axis.grid) is not None and run.kind is ModelKind.VISION:  # of joined windows
        return PatchGrid(grid, 0)
    if run.patch_grid is None or not is_self_attention(trace):
        return None
    n_patches = run.patch_grid[0] * run.patch_grid[1]
    return PatchGrid(run.patch_grid, run.n_prefix) if trace.n_keys == run.n_prefix + n_patches else None


def _as_positioned(prepared: ModelInputs, recording: Recording) -> ModelInputs:
    """Return the input with as many positions as the model really had; what stands before the patches is counted."""
    n_positions = recording.traces[0].n_queries
    if n_positions == len(prepared.tokens):
        return prepared
    rows, columns = prepared.patch_grid or (0, 0)
    n_before = n_positions - rows * columns
    if prepared.patch_grid is not None and 0 <= n_before <= MAX_BEFORE:
        before = tuple(f"[{number}]" for number in range(n_before))
        tokens = (*before, *prepared.tokens[prepared.n_prefix :])
        return replace(prepared, tokens=tokens, special=frozenset(range(n_before)), n_prefix=n_before)
    notes = (*prepared.notes, "The positions of this model are not the patches of one grid: they are numbered.")
    tokens = tuple(recording.traces[0].story.query_axis.labels)
    return replace(prepared, tokens=tokens, special=frozenset(), n_prefix=0, patch_grid=None, notes=notes)


def _n_outputs(prepared: ModelInputs) -> int:
    return len(prepared.target_tokens or prepared.tokens)


def _first(batch: Tensor | None) -> Tensor | None:
    return None if batch is None else batch[0].float()


def _hidden(output: Any) -> Tensor | None:
    """Return what the last layer hands out, (n_positions, d_model)."""
    for name in ("decoder_hidden_states", "hidden_states"):
        if output.get(name):
            last = output[name][-1]
            return _first(last.flatten(2).transpose(1, 2) if last.ndim == 4 else last)
    return _first(output.get("last_hidden_state"))


def _not_finite(recording: Recording, logits: Tensor | None, hidden: Tensor | None) -> Iterator[str]:
    for trace in recording.traces:
        name = trace.story.name or "an attention"
        if not all(map(all_finite, (trace.query, trace.key, trace.value))):
            yield f"Query, key or value of {name} holds numbers that are infinite or not a number (NaN)."
            return
        if trace.bias is not None and trace.bias.isnan().any():
            yield f"What {name} adds to scores holds numbers that are not a number (NaN)."
            return
    if any(output is not None and not all_finite(output) for output in (logits, hidden)):
        yield "What the model hands out holds numbers that are infinite or not a number (NaN)."

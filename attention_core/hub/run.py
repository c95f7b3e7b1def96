"""What one model did with one input."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import Any

import numpy as np
from torch import Tensor

from attention_core.attention.capture.keeper import all_finite
from attention_core.attention.edits import Edits
from attention_core.attention.recording import Recording
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis
from attention_core.bounds import LONG_RUN_BYTES, LONG_TOKENS
from attention_core.explain.heads.summary import PatchGrid, is_of_itself, kind_of
from attention_core.hub.faults import worded
from attention_core.hub.inputs import ModelInputs
from attention_core.hub.model import ModelKind, Pretrained
from attention_core.hub.tracing import UnsupportedError, run_model

MOST_LOGITS = 26_000_000
"""Numbers of logits that a run keeps, 104 MB: 512 positions of GPT-2's vocabulary."""
MOST_BEFORE = 16
"""Positions that may stand before the patches of a picture: a class token, registers."""


@dataclass(frozen=True, eq=False)
class ModelRun:
    """Every attention of one run, its tokens and its output.

    Attributes:
        kind: see ModelKind; None for a recording whose model nobody knows.
        recording: the traces in the order of execution, their axes labelled with tokens or patches.
        tokens: of the only or the encoder's input; for vision what stands before the patches, then the patches.
        target_tokens: of the decoder of an encoder-decoder.
        special: positions in tokens that are no words: [CLS], [SEP], the first token, what stands before patches.
        logits: (n_positions, n_outputs), over the vocabulary, or (1, n_classes) of a classifier; None without. Of a
            long input over a large vocabulary the last positions only, as many as MOST_LOGITS allows.
        hidden: (n_positions, d_model), what the last layer hands out; None for a recording from a file.
        patch_grid: rows and columns of patches, or None.
        n_prefix: tokens before the first patch.
        picture: uint8 (height, width, 3), what a vision model was shown, or None.
    """

    model: str
    kind: ModelKind | None
    recording: Recording
    tokens: tuple[str, ...]
    target_tokens: tuple[str, ...] = ()
    special: frozenset[int] = frozenset()
    logits: Tensor | None = field(default=None, repr=False)
    hidden: Tensor | None = field(default=None, repr=False)
    patch_grid: tuple[int, int] | None = None
    n_prefix: int = 0
    picture: np.ndarray | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()


def run(pretrained: Pretrained, prepared: ModelInputs, *, edits: Mapping[int, Edits] | None = None) -> ModelRun:
    """Return what a loaded model did with an input from text_inputs or picture_inputs; edits as in run_model.

    Raises:
        NoMemory: the input is too long.
        ModelError: a model without attention, or one that cannot be run with such an input.
    """
    model = pretrained.model
    inputs: dict[str, Any] = {name: value.to(model.device) for name, value in prepared.inputs.items()}
    inputs |= {"output_hidden_states": True} | pretrained.fewer_logits(_n_outputs(prepared), MOST_LOGITS)
    if (
        pretrained.kind in (ModelKind.DECODER, ModelKind.ENCODER_DECODER)
        and "use_cache" in signature(model.forward).parameters
    ):
        inputs["use_cache"] = False
    with worded(pretrained, "be run with this input", UnsupportedError):
        recording, output = run_model(model, inputs, edits=edits)
    if pretrained.kind is ModelKind.VISION:
        prepared = _as_positioned(prepared, recording)
    logits = _first(output.get("logits"))
    if logits is not None and logits.ndim == 1:
        logits = logits[None]
    hidden = _hidden(output)
    notes = [*prepared.notes, *filter(None, [recording.note])]
    if logits is not None and logits.numel() > MOST_LOGITS:
        logits = logits[-max(1, MOST_LOGITS // logits.shape[1]) :].clone()
    if logits is not None and pretrained.kind is not ModelKind.VISION and len(logits) < _n_outputs(prepared):
        notes.append(f"Of the output, the last {len(logits):,} positions are kept.")
    told = vars(prepared) | {"notes": (*notes, *_not_finite(recording, logits, hidden))}
    del told["inputs"]
    recording = labelled(recording, prepared.tokens, prepared.target_tokens, pretrained.kind)
    return ModelRun(pretrained.name, pretrained.kind, recording, logits=logits, hidden=hidden, **told)


def recording_run(recording: Recording, name: str) -> ModelRun:
    """Return a recording from a file as a run of a model that nobody knows; its tokens are its axes' labels."""
    longest = max((trace.story.query_axis for trace in recording.traces), key=len, default=Axis("positions", ()))
    notes = (*filter(None, [recording.note]), *_not_finite(recording, None, None))
    return ModelRun(name, None, recording, tuple(longest.labels), notes=notes)


def affordable_tokens(run: ModelRun, most_bytes: int | None = None) -> int:
    """Return how many tokens the model may be given for most_bytes (LONG_RUN_BYTES) of traces, by a shorter run.

    Queries, keys and values grow with the tokens, masks and biases with their square. Of a model that hands out
    weights only, the run is as long as it may get.
    """
    most_bytes = LONG_RUN_BYTES.most if most_bytes is None else most_bytes
    n = len(run.tokens)
    linear, square, seen = 0, 0, set()
    for trace in run.recording.traces:
        if not trace.query.shape[-1]:
            return n
        linear += sum(vectors.numel() * vectors.element_size() for vectors in (trace.query, trace.key, trace.value))
        for pairs in (trace.mask, trace.bias):
            if pairs is not None and pairs.data_ptr() not in seen:
                seen.add(pairs.data_ptr())
                square += pairs.untyped_storage().nbytes()
    per_token, per_pair = linear / n, square / n**2
    # The positive solution of per_pair * x**2 + per_token * x = most_bytes, in a form that per_pair = 0 does not break.
    most = 2 * most_bytes / (per_token + math.sqrt(per_token**2 + 4 * per_pair * most_bytes))
    return max(n, min(int(most), LONG_TOKENS.most))


def special_keys(run: ModelRun, trace: AttentionTrace) -> frozenset[int]:
    """Return the keys of a trace that are no words; in a decoder beside an encoder, the token that starts it."""
    if run.target_tokens and kind_of(trace.story.name).endswith("decoder self"):
        return frozenset({0})
    return frozenset(key for key in run.special if key < trace.n_keys)


def patches_of(run: ModelRun, trace: AttentionTrace) -> PatchGrid | None:
    """Return where the patches lie if both queries and keys of a trace are patches of the run's picture."""
    if run.patch_grid is None or not is_of_itself(trace):
        return None
    n_patches = run.patch_grid[0] * run.patch_grid[1]
    return PatchGrid(run.patch_grid, run.n_prefix) if trace.n_keys == run.n_prefix + n_patches else None


def labelled(recording: Recording, tokens: Sequence[str], target_tokens: Sequence[str], kind: ModelKind) -> Recording:
    """Return the recording with tokens on its axes, see ModelRun; an axis of another length keeps its numbers."""
    source: Sequence[str] | Axis = Axis("patches", tuple(tokens)) if kind is ModelKind.VISION else tuple(tokens)
    result = replace(recording, traces=list(recording.traces))
    result.label(source, tuple(target_tokens))
    return replace(result, note=recording.note)


def _as_positioned(prepared: ModelInputs, recording: Recording) -> ModelInputs:
    """Return the input with as many positions as the model really had; what stands before the patches is counted."""
    n_positions = recording.traces[0].n_queries
    if n_positions == len(prepared.tokens):
        return prepared
    rows, columns = prepared.patch_grid or (0, 0)
    n_before = n_positions - rows * columns
    if prepared.patch_grid is not None and 0 <= n_before <= MOST_BEFORE:
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
        if not all(map(all_finite, (trace.query, trace.key, trace.value))):
            yield f"Query, key or value of {trace.story.name} holds numbers that are infinite or not a number (NaN)."
            return
    if any(output is not None and not all_finite(output) for output in (logits, hidden)):
        yield "What the model hands out holds numbers that are infinite or not a number (NaN)."

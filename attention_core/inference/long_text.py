"""A long text that the small language model reads in windows, and the places of a flight over its attention."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Axis, Story
from attention_core.bounds.limits import WINDOWED_PIECES
from attention_core.data.language_pieces import NAME, START, WINDOW, pieces
from attention_core.device import device_of
from attention_core.models import load

N_LAYERS, ECHO = 4, (3, 5)
"""Layers of the model; the layer and head, from 0, that look for what followed last time."""
SHORTEST, LONGEST, SHARED = 7, 12, 4
"""Pieces of the sentences between which a flight may end, and how many of them stand in both."""


@dataclass(frozen=True, eq=False)
class LongText:
    """A text in pieces; ids, labels and sentence_of have one entry for each."""

    ids: Tensor
    labels: tuple[str, ...]
    sentence_of: tuple[int, ...]  # the number of the sentence that a piece belongs to; the start belongs to the first
    is_cut: bool = False  # whether more was given than is read


class Echo(NamedTuple):
    """Two sentences, one behind the other, and where the pieces of the second look in the first."""

    first: range  # the pieces of the first sentence
    second: range
    query: int  # a piece of the second that the first has too
    followed: int  # the piece that followed it there
    # of the weights of all such pieces, on average: on the same piece, on what followed it there, on the piece before
    shares: tuple[float, float, float]
    cells: tuple[tuple[int, int], ...] = ()  # each such piece, and what followed it in the first sentence


def in_pieces(sentences: Iterable[str]) -> LongText:
    """Join sentences into one text in pieces, behind the start piece; at most WINDOWED_PIECES are kept."""
    ids, labels, sentence_of = [0], [START], [0]
    for number, sentence in enumerate(sentences):
        cut = pieces().encode(sentence, add_special_tokens=False)
        ids += cut.ids
        labels += [
            f" {sentence}"[first + bool(first) : last + 1] for first, last in cut.offsets
        ]  # a blank begins a word
        sentence_of += [number] * len(cut.ids)
        if len(ids) > WINDOWED_PIECES.maximum:
            break
    n = WINDOWED_PIECES.maximum
    return LongText(torch.tensor(ids[:n]), tuple(labels[:n]), tuple(sentence_of[:n]), len(ids) > n)


@lru_cache(maxsize=1)
def _reader() -> Any:
    return load(NAME)


@torch.inference_mode()
def read_in_windows(text: LongText, layer: int) -> AttentionTrace:
    """Return a layer's attention, from 0, over a text of any length: each piece sees the last WINDOW, up to itself.

    Blocks of WINDOW pieces attend to themselves and to the block before. Source: Beltagy et al. 2020, "Longformer",
    section 3.1; the positions are rotary, so that only distances below WINDOW occur, as in training.
    """
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

    model, n = _reader().model, len(text.ids)
    ids = F.pad(text.ids, (0, -n % WINDOW)).to(device_of(model))
    states = model.embed_tokens(ids)[None]
    turns = model.rotary_emb(states, torch.arange(len(ids), device=ids.device)[None])
    allowed = _allowed(len(ids) // WINDOW).to(ids.device)
    for block in model.layers[: layer + 1]:
        attention, normalised = block.self_attn, block.input_layernorm(states)
        projected = (vectors(normalised) for vectors in (attention.q_proj, attention.k_proj, attention.v_proj))
        query, key, value = (vectors.unflatten(-1, (-1, attention.head_dim)).transpose(1, 2) for vectors in projected)
        query, key = (vectors[0] for vectors in apply_rotary_pos_emb(query, key, *turns))
        if block is not model.layers[layer]:
            blocks = _blocks(query), _windows(key), _windows(value[0])
            context = F.scaled_dot_product_attention(*blocks, attn_mask=allowed, enable_gqa=True)
            states = states + attention.o_proj(context.transpose(1, 2).reshape(1, len(ids), -1))
            states = states + block.mlp(block.post_attention_layernorm(states))
    axis = Axis("pieces of the text", text.labels)
    return AttentionTrace(
        query=query[:, :n],
        key=key[:, :n],
        value=key[:, :n, :0],
        is_causal=True,
        window=WINDOW,
        normaliser=_normaliser(query, key, allowed)[:, :n],
        story=Story(mechanism="attention in windows", query_axis=axis, key_axis=axis, name=f"layer {layer + 1}"),
    )


def _blocks(vectors: Tensor) -> Tensor:
    """Return (n_blocks, heads, WINDOW, d) of vectors (heads, n, d)."""
    return vectors.unfold(1, WINDOW, WINDOW).permute(1, 0, 3, 2)


def _windows(vectors: Tensor) -> Tensor:
    """Return (n_blocks, heads, 2 WINDOW, d): each block behind the one before it, the first behind zeros."""
    return F.pad(vectors, (0, 0, WINDOW, 0)).unfold(1, 2 * WINDOW, WINDOW).permute(1, 0, 3, 2)


def _allowed(n_blocks: int) -> Tensor:
    """Return which keys of its window each query of a block may attend to, (n_blocks, 1, WINDOW, 2 WINDOW)."""
    back = torch.arange(WINDOW)[:, None] + WINDOW - torch.arange(2 * WINDOW)
    allowed = ((back >= 0) & (back < WINDOW)).repeat(n_blocks, 1, 1, 1)
    allowed[0, ..., :WINDOW] = False
    return allowed


def _normaliser(query: Tensor, key: Tensor, allowed: Tensor) -> Tensor:
    """Return the log-sum-exp of each row's scores, (n_heads, n), one head after the other to save memory."""
    rows, group = [], len(query) // len(key)
    for head in range(len(query)):
        scores = _blocks(query)[:, head] @ _windows(key)[:, head // group].mT * query.shape[-1] ** -0.5
        rows.append(scores.masked_fill(~allowed[:, 0], -torch.inf).logsumexp(-1).flatten())
    return torch.stack(rows)


@torch.inference_mode()
def strongest_echo(text: LongText, trace: AttentionTrace, head: int) -> Echo | None:
    """Find the two short sentences of which the second attends most to what followed in the first; None = no two."""
    begins = [at for at, index in enumerate(text.sentence_of) if at and index != text.sentence_of[at - 1]]
    ids = text.ids.tolist()
    best, max_strength = None, -1.0
    for start, middle, stop in zip([1, *begins], begins, begins[1:], strict=False):
        first, second = range(start, middle), range(middle, stop)
        if not all(SHORTEST <= len(sentence) <= LONGEST for sentence in (first, second)):
            continue
        again = {
            at: first[ids[start:middle].index(ids[at])] for at in second[:-1] if ids[at] in ids[start : middle - 1]
        }
        if len(again) < SHARED:
            continue
        weights = trace.weights(head, slice(middle, stop), slice(start, stop)).tolist()
        weight_triples = [
            (row[at - start], row[at + 1 - start], row[query - 1 - start])
            for query, at in again.items()
            for row in [weights[query - middle]]
        ]
        shares = tuple(sum(values) / len(weight_triples) for values in zip(*weight_triples, strict=True))
        strength = shares[1] * len(weight_triples) / len(second)
        if strength > max_strength:
            clearest = max(range(len(weight_triples)), key=lambda index: weight_triples[index][1])
            query = list(again)[clearest]
            cells = tuple((at, before + 1) for at, before in again.items())
            best, max_strength = Echo(first, second, query, again[query] + 1, shares, cells), strength
    return best


@torch.inference_mode()
def rest_shares(text: LongText, trace: AttentionTrace, head: int, rows: range) -> tuple[float, float]:
    """Return the average weight on full stops of rows that are new, and of those whose piece the window has before."""
    ids, window = text.ids.tolist(), trace.window or rows.stop
    first = max(rows.start - window, 0)
    weights = trace.weights(head, slice(rows.start, rows.stop), slice(first, rows.stop)).cpu()
    on_stops = weights @ torch.tensor([float(label == ".") for label in text.labels[first : rows.stop]])
    returns = torch.tensor([ids[row] in ids[max(row - window + 1, 0) : row] for row in rows])
    new, again = on_stops[~returns], on_stops[returns]
    return (float(new.mean()), float(again.mean())) if len(new) and len(again) else (0.0, 0.0)

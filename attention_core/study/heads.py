"""Every head over a corpus: its numbers on average, with intervals, what it is called, and its clearest examples.

Texts are streamed: a batch holds texts of one length, so that nothing is padded, and only sums of its heads' numbers
stay in memory. The numbers are those of a HeadSummary of each text. A head's name comes from what it does on random
tokens that are repeated, where only the repetition helps to predict.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attention_core.attention.recording import Recording
from attention_core.attention.trace import spans, upcast_half
from attention_core.explain import heads as head_measures
from attention_core.explain.heads import CLEAR_SHARE, METRICS, is_self_attention, largest_share
from attention_core.hub.model import readable
from attention_core.hub.tracing import run_model, stream_attention
from attention_core.study.attribution import Attribution
from attention_core.study.effects import MAP_COLUMNS, Effects
from attention_core.study.output import Table
from attention_core.study.sites import can_stream

HEAD_NAMES = {
    "previous token": "Olsson et al. 2022, In-context Learning and Induction Heads",
    "induction": "Olsson et al. 2022, In-context Learning and Induction Heads",
    "duplicate token": "Wang et al. 2022, Interpretability in the Wild, section 3",
    "sink": "Xiao et al. 2023, Efficient Streaming Language Models with Attention Sinks",
    "separator": "Clark et al. 2019, What Does BERT Look At?, section 3.2",
    "positional": "Voita et al. 2019, Analyzing Multi-Head Self-Attention, section 5.2",
}
"""What heads are called, and by whom. The largest share names a head if it is at least CLEAR_SHARE; else it may be
positional."""
POSITIONAL_SHARE = 0.9
"""A head is positional if the largest weights of at least this share of its rows lie at the same distance (Voita)."""
N_REPEATS, PERIOD = 16, 20  # sequences of repeated random tokens, and the tokens in each half
CHUNK = 512  # texts that are sorted by length at a time
MAX_TEXTS, MAX_CELLS = 32, 8_000_000  # texts, and weights of an attention, in a batch
PLAIN_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}
"""Models that take only these can be run on random tokens."""
N_EXAMPLES = 3  # of each head
SHUFFLE_EVERY = 10  # one text in so many is read shuffled, too


class Example(NamedTuple):
    """A row of a head with a large weight on one key."""

    tokens: Sequence[str]  # of the text
    query: int  # position
    key: int  # position
    weight: float

    def shows(self, name: str) -> bool:
        """Return whether the row does what heads of a name do, one of the first three of HEAD_NAMES."""
        return shows_pattern(name, self.tokens, self.query, self.key)


def shows_pattern(name: str, tokens: Sequence[str], query: int, key: int) -> bool:
    """Return whether a query that looks at a key does what heads of a name do, one of the first three of HEAD_NAMES."""
    texts = [token.strip() for token in tokens]
    return {
        "previous token": key == query - 1,
        "induction": 0 < key <= query and texts[key - 1] == texts[query],
        "duplicate token": key < query and texts[key] == texts[query],
    }.get(name, False)


@dataclass(eq=False)
class Heads(Table):
    """Every head of a model over a corpus, one row each.

    Attributes:
        layers: names of the attentions.
        means: by column, one tensor (n_heads,) per layer: METRICS over the corpus, HEAD_NAMES over repeated tokens.
        margins: half the 95 % interval of each mean, over texts.
        shuffled: METRICS over shuffled texts of the corpus; empty where nothing can be shuffled.
        examples: by (layer, head), the strongest rows of different texts, the strongest first; their keys are neither
            the query itself, nor the first, nor special.
        n_texts: of the corpus.
    """

    layers: Sequence[str]
    means: Mapping[str, Sequence[Tensor]]
    margins: Mapping[str, Sequence[Tensor]]
    shuffled: Mapping[str, Sequence[Tensor]]
    examples: Mapping[tuple[int, int], Sequence[Example]]
    n_texts: int

    def map(self, column: str) -> Tensor:
        """Return a mean of every head, (n_layers, n_heads); nan where a layer has fewer heads."""
        return torch.nn.utils.rnn.pad_sequence([*self.means[column]], batch_first=True, padding_value=math.nan)

    def name(self, layer: int, head: int) -> str:
        """Return what a head is called, one of HEAD_NAMES; empty where no share is large enough."""
        shares = {name: float(self.means[name][layer][head]) for name in HEAD_NAMES if name in self.means}
        positional = shares.pop("positional", 0.0)
        name, share = largest_share(shares)
        if share >= CLEAR_SHARE:
            return name
        return "positional" if positional >= POSITIONAL_SHARE else ""

    def columns(self) -> Mapping[str, Sequence[Any]]:
        first_column = next(iter(self.means.values()))
        heads = [(layer, head) for layer, numbers in enumerate(first_column) for head in range(len(numbers))]
        names = [self.name(*head) for head in heads]
        columns: dict[str, list[Any]] = {"layer": [layer for layer, _ in heads], "head": [head for _, head in heads]}
        columns |= {"name": names, "source": [HEAD_NAMES.get(name, "") for name in names]}
        for suffix, values in (("", self.means), ("_margin", self.margins), ("_shuffled", self.shuffled)):
            columns |= {f"{column}{suffix}": torch.cat([*layers]).tolist() for column, layers in values.items()}
        strongest = [next(iter(self.examples.get(head, ())), None) for head in heads]
        columns["example"] = ["".join(example.tokens) if example else "" for example in strongest]
        columns["example_query"] = [example.tokens[example.query] if example else "" for example in strongest]
        columns["example_key"] = [example.tokens[example.key] if example else "" for example in strongest]
        return columns


class _Means:
    """Means over texts of the numbers of each head, and their intervals, computed from running sums."""

    def __init__(self) -> None:
        self._sums: dict[int, Tensor] = {}  # by layer (3, n_heads, n_columns): counts, sums, and sums of squares

    def add(self, layer: int, values: Tensor) -> None:
        """Add the numbers (n_texts, n_heads, n_columns) of some texts; nan counts for nothing."""
        values = values.cpu().double()
        finite = values.nan_to_num(0)
        powers = torch.stack([(~values.isnan()).double(), finite, finite**2])
        self._sums[layer] = self._sums.get(layer, 0) + powers.sum(1)

    def of(self, names: Sequence[str]) -> tuple[dict[str, list[Tensor]], dict[str, list[Tensor]]]:
        """Return the means and the margins by name, one tensor (n_heads,) for each layer."""
        means, margins = {}, {}
        for column, name in enumerate(names):
            sums = [self._sums[layer][..., column] for layer in sorted(self._sums)]
            means[name] = [total / n for n, total, _ in sums]
            variances = [(squares / n - (total / n) ** 2).clamp_min(0) * n / (n - 1) for n, total, squares in sums]
            margins[name] = [1.96 * (v / n).sqrt() for v, (n, _, _) in zip(variances, sums, strict=True)]
        return means, margins


def repeat_shares(weights: Tensor, start: int, period: int, special: Tensor) -> Tensor:
    """Return the shares of HEAD_NAMES, (n_texts, n_heads, 6), in the rows of the repetition, from start + period on."""
    rows = torch.arange(start + period, start + 2 * period, device=weights.device)
    repeated = weights[:, :, rows]

    def share_on(keys: Tensor) -> Tensor:
        return repeated.gather(-1, keys.expand(*repeated.shape[:2], -1)[..., None])[..., 0].mean(-1)

    separators = special.clone()
    separators[:, 0] = False
    separator = (repeated * separators[:, None, None]).sum(-1).mean(-1)
    separator = separator.masked_fill(~separators.any(-1, keepdim=True), math.nan)
    offsets = repeated.argmax(-1) - rows
    positional = (offsets == offsets.mode(-1, keepdim=True).values).float().mean(-1)
    previous, induction, duplicate = share_on(rows - 1), share_on(rows - period + 1), share_on(rows - period)
    return torch.stack([previous, induction, duplicate, repeated[..., 0].mean(-1), separator, positional], -1)


@dataclass(eq=False)
class _StrongestRows:
    """The strongest rows of each head so far, of different texts, strongest first: at most N_EXAMPLES each."""

    # by layer: weights (n_examples, n_heads), and text, query and key of each, (n_examples, n_heads, 3)
    best: dict[int, tuple[Tensor, Tensor]] = field(default_factory=dict)

    def add(self, layer: int, weights: Tensor, special: Tensor, text_numbers: Tensor, is_self: bool) -> None:
        """Compare the strongest row of each text and head with the best so far, and keep N_EXAMPLES of them."""
        excluded = special[:, None, None].expand(-1, 1, weights.shape[-2], -1).clone()
        excluded[..., 0] = True
        if is_self:
            excluded.diagonal(0, -2, -1).fill_(True)
        largest, flat_cells = weights.masked_fill(excluded, 0).flatten(2).max(-1)
        query, key = flat_cells // weights.shape[-1], flat_cells % weights.shape[-1]
        cells = torch.stack([text_numbers.to(query.device)[:, None].expand_as(query), query, key], -1).cpu()
        largest = largest.float().cpu()
        if layer in self.best:
            largest = torch.cat([self.best[layer][0], largest])
            cells = torch.cat([self.best[layer][1], cells])
        largest, order = largest.topk(min(N_EXAMPLES, len(largest)), 0)
        self.best[layer] = (largest, cells.gather(0, order[..., None].expand(-1, -1, 3)))

    def texts(self) -> set[int]:
        return {int(text) for _, cells in self.best.values() for text in cells[..., 0].flatten()}

    def examples(self, tokens: Mapping[int, Sequence[str]]) -> dict[tuple[int, int], list[Example]]:
        return {
            (layer, head): [
                Example(tokens[text], query, key, weight)
                for weight, (text, query, key) in zip(largest[:, head].tolist(), cells[:, head].tolist(), strict=True)
                if text in tokens and weight > 0
            ]
            for layer, (largest, cells) in self.best.items()
            for head in range(largest.shape[1])
        }


class CorpusText(NamedTuple):
    """One item of a corpus: its number, what the model is called with, and which of its tokens are special."""

    number: int
    inputs: Mapping[str, Tensor]
    special: Tensor  # bool (1, n)


def heads_over(
    model: Any, tokenizer: Any, texts: Iterable[CorpusText], progress: Callable[[int], Any] | None = None
) -> Heads:
    """Return what every head does on average over texts, see Study.heads; a ValueError says that there are none."""
    stream = (text for text in texts if not text.special.all())  # blank lines have no words
    first = next(stream, None)
    if first is None:
        raise ValueError("the corpus is empty")
    traces = run_model(model, first.inputs)[0].traces
    reader = _Reader(model, [is_self_attention(trace) for trace in traces], can_stream(model, first.inputs))
    corpus_means, shuffled_means, repeat_means, strongest = _Means(), _Means(), _Means(), _StrongestRows()
    texts_by_number: dict[int, CorpusText] = {}
    corpus_ids: set[int] = set()
    n_texts = 0
    for batch in _batches(chain([first], stream), max(trace.n_heads for trace in traces)):
        reader.add_numbers(batch, corpus_means, strongest)
        n_texts += len(batch)
        texts_by_number |= {text.number: text for text in batch}
        # only the texts of examples are needed later
        texts_by_number = {number: texts_by_number[number] for number in strongest.texts() if number in texts_by_number}
        if "input_ids" in first.inputs:
            corpus_ids.update(token for text in batch for token in _plain_ids(text))
            if shuffled_texts := [_shuffled(text) for text in batch if text.number % SHUFFLE_EVERY == 0]:
                reader.add_numbers(shuffled_texts, shuffled_means)
        if progress is not None:
            progress(n_texts)
    period = _period(model, first, len(corpus_ids))
    if period > 1:
        reader.add_repeats(_repeated(first, sorted(corpus_ids), period), period, repeat_means)
    means, margins = corpus_means.of([*METRICS])
    name_means, name_margins = repeat_means.of([*HEAD_NAMES] if period > 1 else [])
    tokens = {
        number: readable(tokenizer, text.inputs["input_ids"][0].tolist())
        for number, text in texts_by_number.items()
        if hasattr(tokenizer, "convert_ids_to_tokens") and "input_ids" in text.inputs
    }
    return Heads(
        layers=[trace.story.name for trace in traces],
        means=means | name_means,
        margins=margins | name_margins,
        shuffled=shuffled_means.of([*METRICS])[0] if corpus_ids else {},
        examples=strongest.examples(tokens),
        n_texts=n_texts,
    )


def name_heads(model: Any, texts: Iterable[CorpusText]) -> Heads:
    """Return the names of heads alone, see Study.names: one run over repeated tokens of these texts, which are not run.

    A ValueError says that there are no texts, or that the model cannot read random words.
    """
    stream = [text for text in texts if not text.special.all()]
    if not stream:
        raise ValueError("the corpus is empty")
    first = stream[0]
    ids = {token for text in stream if "input_ids" in first.inputs for token in _plain_ids(text)}
    period = _period(model, first, len(ids))
    if period < 2:
        raise ValueError("the model cannot read random words, so that its heads have no names")
    traces, means = run_model(model, first.inputs)[0].traces, _Means()
    reader = _Reader(model, [is_self_attention(trace) for trace in traces], can_stream(model, first.inputs))
    reader.add_repeats(_repeated(first, sorted(ids), period), period, means)
    shares, margins = means.of([*HEAD_NAMES])
    return Heads([trace.story.name for trace in traces], shares, margins, {}, {}, 0)


def _plain_ids(text: CorpusText) -> list[int]:
    return text.inputs["input_ids"][~text.special].tolist()


@dataclass(eq=False)
class _Reader:
    """Runs a model on batches of texts and adds up what its heads do."""

    model: Any
    is_self_attention: Sequence[bool]  # of each attention, whether queries and keys are the same positions
    can_stream: bool  # whether the model hands over its weights as it runs; else it is recorded, which takes longer

    def stream(self, texts: Sequence[CorpusText], on_weights: Callable[[int, Tensor, Tensor, int], None]) -> None:
        """Call on_weights with each attention: layer, weights, which keys are special, and n_windows of each text."""
        inputs = {name: torch.cat([text.inputs[name] for text in texts]) for name in texts[0].inputs}
        special = torch.cat([text.special for text in texts])

        def hand_over(layer: int, weights: Tensor, _: Any = None) -> None:
            fits = special.shape == (len(weights), weights.shape[-1])  # not for windows, or keys of another input
            is_special = special if fits else special.new_zeros(len(weights), weights.shape[-1])
            on_weights(layer, upcast_half(weights), is_special, len(weights) // len(texts))

        if self.can_stream:
            stream_attention(self.model, inputs, hand_over)
            return
        traces = run_model(self.model, inputs, item="all")[0].traces
        n_windows = len(traces) // len(self.is_self_attention)
        for layer in range(len(self.is_self_attention)):
            windows = traces[layer * n_windows :][:n_windows]
            hand_over(layer, torch.stack([torch.stack([*map(t.weights, range(t.n_heads))]) for t in windows]))

    def add_numbers(self, texts: Sequence[CorpusText], means: _Means, strongest: _StrongestRows | None = None) -> None:
        """Add the numbers of a HeadSummary of each text and head to means, its strongest rows to strongest."""
        text_numbers = torch.tensor([text.number for text in texts])

        def add(layer: int, weights: Tensor, special: Tensor, n_windows: int) -> None:
            rows = torch.arange(weights.shape[2], device=weights.device)
            values = head_measures.head_numbers(weights, rows, special[:, None], self.is_self_attention[layer])
            means.add(layer, values.unflatten(0, (len(texts), n_windows)).nanmean(1))
            if strongest is not None:
                text_of_window = text_numbers.repeat_interleave(n_windows)
                strongest.add(layer, weights, special, text_of_window, self.is_self_attention[layer])

        self.stream(texts, add)

    def add_repeats(self, texts: Sequence[CorpusText], period: int, means: _Means) -> None:
        """Add the shares of HEAD_NAMES of each text of repeated tokens to means; nan for cross-attention."""
        start = int((~texts[0].special[0]).nonzero()[0])

        def add(layer: int, weights: Tensor, special: Tensor, _: int) -> None:
            if self.is_self_attention[layer]:
                means.add(layer, repeat_shares(weights, start, period, special))
            else:
                means.add(layer, weights.new_full((*weights.shape[:2], len(HEAD_NAMES)), math.nan))

        self.stream(texts, add)


def _batches(texts: Iterable[CorpusText], n_heads: int) -> Iterator[list[CorpusText]]:
    """Yield batches of texts whose inputs have the same shapes, from one chunk of the stream at a time."""
    stream = iter(texts)
    while chunk := list(islice(stream, CHUNK)):
        by_shapes: dict[Any, list[CorpusText]] = {}
        for text in chunk:
            by_shapes.setdefault(tuple(tensor.shape for tensor in text.inputs.values()), []).append(text)
        for alike in by_shapes.values():
            n_cells = n_heads * alike[0].special.shape[-1] ** 2
            for span in spans(0, len(alike), max(1, min(MAX_TEXTS, MAX_CELLS // n_cells))):
                yield alike[span]


def _shuffled(text: CorpusText) -> CorpusText:
    """Return a text with its tokens in random order; special ones stay where they are."""
    ids, is_plain = text.inputs["input_ids"].clone(), ~text.special
    order = torch.randperm(int(is_plain.sum()), generator=torch.Generator().manual_seed(text.number))
    ids[is_plain] = ids[is_plain][order.to(ids.device)]
    return text._replace(inputs={**text.inputs, "input_ids": ids})


def _period(model: Any, first: CorpusText, n_ids: int) -> int:
    """Return how many random tokens are repeated: at most PERIOD, as many as ids and positions allow; 0 = none."""
    max_positions = getattr(model.config, "max_position_embeddings", None) or getattr(model.config, "n_positions", None)
    fitting = (max_positions - int(first.special.sum())) // 2 - 1 if isinstance(max_positions, int) else PERIOD
    return min(PERIOD, fitting, n_ids) if set(first.inputs) <= PLAIN_INPUTS else 0


def _repeated(first: CorpusText, corpus_ids: Sequence[int], period: int) -> list[CorpusText]:
    """Return sequences of random tokens of the corpus, each twice in a row, between the special tokens of a text."""
    ids, special = first.inputs["input_ids"][0], first.special[0]
    plain_positions = (~special).nonzero()[:, 0]
    before, after = ids[: plain_positions[0]], ids[plain_positions[-1] + 1 :]
    generator, pool = torch.Generator().manual_seed(0), torch.tensor(corpus_ids)
    texts = []
    for number in range(N_REPEATS):
        half = pool[torch.randperm(len(pool), generator=generator)[:period]].to(ids)
        ids_twice = torch.cat([before, half, half, after])[None]
        is_special = torch.ones_like(ids_twice, dtype=torch.bool)
        is_special[:, len(before) : len(before) + 2 * period] = False
        masks = {name: torch.ones_like(ids_twice) for name in first.inputs if name == "attention_mask"}
        texts.append(CorpusText(number, {"input_ids": ids_twice} | masks, is_special))
    return texts


@dataclass(eq=False)
class HeadComparison(Table):
    """How far each head changed from one run or map to another; in the table the most changed come first.

    Attributes:
        change: (n_layers, n_heads); between runs the Jensen-Shannon distance of a head's rows, 0 (equal) to 1; between
            maps the second minus the first.
    """

    change: Tensor

    def columns(self) -> Mapping[str, Sequence[Any]]:
        n_heads = self.change.shape[1]
        order = self.change.abs().nan_to_num(-1).flatten().argsort(descending=True)
        columns = {"layer": order // n_heads, "head": order % n_heads, "change": self.change.flatten()[order]}
        return {name: values.tolist() for name, values in columns.items()}


def compare(first: Any, second: Any, *, group: str = "") -> HeadComparison:
    """Return how far each head changed between two runs, of one model or two, or two maps of heads.

    Args:
        first: a Recording, or what ablate, patch or attribute returned, or numbers (n_layers, n_heads).
        second: the run or map to compare with it, of the same type.
        group: which attentions of recordings, see attention_core.explain.heads.groups; empty = the first group.

    Raises:
        ValueError: they have no heads, or no matrices, of the same shapes.
    """
    if isinstance(first, Recording) and isinstance(second, Recording):
        runs = [head_measures.groups(recording) for recording in (first, second)]
        name = group or next(iter(runs[0]), "")
        if any(name not in run for run in runs):
            raise ValueError(f"both runs need the attention {name!r}, they have {[*runs[0]]} and {[*runs[1]]}")
        return HeadComparison(head_measures.distances_head_for_head(*(run[name] for run in runs)))
    before, after = (head_map(result)[1] for result in (first, second))
    if before.shape != after.shape:
        raise ValueError(f"first and second need as many heads, got {tuple(before.shape)} and {tuple(after.shape)}")
    return HeadComparison(after - before)


def head_map(result: Any) -> tuple[str, Tensor]:
    """Return what a result is called, and its numbers (n_layers, n_heads); a ValueError says that it has none."""
    if isinstance(result, Effects) and MAP_COLUMNS.get(result.site) == "head":
        return f"change by {'ablation' if math.isnan(result.goal) else 'patching'}", result.change
    values = result.heads if isinstance(result, Attribution) else result
    if not isinstance(values, Tensor) or values.ndim != 2:
        raise ValueError(f"only numbers of every head can be shown with heads, got {type(result).__name__}")
    return "direct effect" if isinstance(result, Attribution) else "value", values

"""A recording: the traces of all attentions of one run, by name; and its file on disk, without pickle.

Names are such as "encoder.0.self" and "decoder.3.cross", from where the modules are. In a file numbers keep their type:
NumPy has no bfloat16, so its 16 bits are stored as they are and named in a JSON text. A mask or bias that several
traces share is stored once.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from html import escape
from importlib import import_module
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import torch
from torch import Tensor, nn

from attention_core.arrays import Entry, Npz, open_npz, readable_errors
from attention_core.attention.joining import join_steps
from attention_core.attention.scores import Dot, score_from_json
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import ALL, Axis, Rows, Step, Story
from attention_core.attention.view.page import Opening, View, parse_heads, view_of
from attention_core.attention.weights import traces_of_arrays
from attention_core.attention.wording import format_count
from attention_core.bounds.harmless import escape_hidden
from attention_core.bounds.limits import POSITIONS, RECORDING_LETTERS, TENSOR_LABEL_BYTES, TENSOR_LABELS
from attention_core.deprecated import renamed_arguments
from attention_core.files import atomic_write, read_json

if TYPE_CHECKING:
    import pandas as pd

LATEX_ESCAPES = {"\\": r"\textbackslash{}", "^": r"\^{}", "~": r"\~{}"}  # of signs that a backslash does not escape
FORMAT = "attention-recording 1"
TENSOR_NAMES = ("query", "key", "value", "mask", "bias", "sinks", "normaliser")
REQUIRED_NAMES = ("query", "key", "value")
METADATA_NAMES = ("note", "model", "text")  # of all traces together; older files lack some
BYTES_OF_A_WEIGHT = 9  # of an array of weights: itself, its logarithm, and whether it is 0
DTYPES = {str(dtype): dtype for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.bool)}
CROSS_NAMES = ("cross", "encoder_attn", "encdec", "enc_dec", "src_attn", "context_att")
"""What models call the attention of a decoder to its encoder, for recordings that do not know where keys come from."""


def name_traces(
    calls: Sequence[tuple[str, nn.Module, AttentionTrace]], repeats: Collection[int] = ()
) -> list[AttentionTrace]:
    """Return the traces with names, each as short as it can be while all differ.

    Calls are (dotted path in the model, module, trace), in the order of execution. A call whose index is in `repeats`
    belongs to the layer of the call before it, and gets that name with a number, such as "encoder.0.self (2)".
    """
    layer_names = iter(_layer_names([call for index, call in enumerate(calls) if index not in repeats]))
    name_of_call: list[str] = []
    for index in range(len(calls)):
        name_of_call.append(name_of_call[-1] if index in repeats else next(layer_names))
    counts = [name_of_call[: index + 1].count(name) for index, name in enumerate(name_of_call)]
    names = [name if count == 1 else f"{name} ({count})" for name, count in zip(name_of_call, counts, strict=True)]
    return [trace.with_story(name=name) for (_, _, trace), name in zip(calls, names, strict=True)]


def _layer_names(calls: Sequence[tuple[str, nn.Module, AttentionTrace]]) -> list[str]:
    """Return the shortest of these that all differ: "encoder.0.self", all numbers in it, the tower before it, paths."""
    paths = [path for path, _, _ in calls]
    kinds = [_self_or_cross(path, module) for path, module, _ in calls]
    stacks = [
        _stack(path, module, trace, self_or_cross)
        for (path, module, trace), self_or_cross in zip(calls, kinds, strict=True)
    ]
    if len(set(paths)) < len(paths):  # layers that share one module: they are numbered as they run
        layers = list(zip(stacks, kinds, strict=True))
        numbers = [[str(layers[:index].count(layer))] for index, layer in enumerate(layers)]
    else:
        numbers = [[segment for segment in path.split(".") if segment.isdigit()] or ["0"] for path in paths]
    segments = list(zip(stacks, numbers, kinds, strict=True))
    short = [f"{stack}.{layer_numbers[0]}.{self_or_cross}" for stack, layer_numbers, self_or_cross in segments]
    longer = [f"{stack}.{'.'.join(layer_numbers)}.{self_or_cross}" for stack, layer_numbers, self_or_cross in segments]
    choices = []
    for stops_at_stack in (True, False):
        towers = _towers(paths, stops_at_stack)
        if len(set(towers)) > 1 or stops_at_stack:
            choices += [list(map("".join, zip(towers, names, strict=True))) for names in (short, longer)]
    return next((names for names in (*choices, paths) if len(set(names)) == len(names)), choices[-1])


def _self_or_cross(path: str, module: nn.Module) -> str:
    is_cross = getattr(module, "is_cross_attention", None)
    if isinstance(is_cross, bool):
        return "cross" if is_cross else "self"
    text = f"{path} {type(module).__name__}".lower()
    return "cross" if any(name in text for name in CROSS_NAMES) else "self"


def _stack(path: str, module: nn.Module, trace: AttentionTrace, self_or_cross: str) -> str:
    """Return "decoder" where it crosses or is configured as one, else what its path says, else "decoder" if causal."""
    if self_or_cross == "cross" or getattr(getattr(module, "config", None), "is_decoder", False) is True:
        return "decoder"
    for segment in path.lower().split("."):
        if "decoder" in segment:
            return "decoder"
        if "encoder" in segment:
            return "encoder"
    return "decoder" if getattr(module, "is_causal", False) is True or _is_causal(trace) else "encoder"


def _is_causal(trace: AttentionTrace) -> bool:
    """Return whether no query may attend to a later key; queries that may attend to every key are ignored."""
    if trace.is_causal or trace.mask is None:
        return trace.is_causal
    mask = trace.mask[0].expand(trace.n_queries, trace.n_keys)
    return is_causal_mask(mask & ~mask.all(-1, keepdim=True)) or is_causal_mask(mask)


def is_causal_mask(allowed: Tensor) -> bool:
    """Return whether a mask (n_queries, n_keys) lets no query attend to a later key, but some query to some key."""
    return allowed.shape[0] == allowed.shape[1] > 1 and not bool(allowed.triu(1).any()) and bool(allowed.any())


def _towers(paths: Sequence[str], stops_at_stack: bool) -> list[str]:
    """Return what stands before the layers in dotted paths, such as "vision_model.", without what all have in common.

    With stops_at_stack, a segment such as "text_encoder" ends the tower: the name has its stack anyway.
    """
    towers = [_tower(path, stops_at_stack) for path in paths]
    while all(towers) and len({tower[0] for tower in towers}) == 1:
        towers = [tower[1:] for tower in towers]
    return ["".join(f"{segment}." for segment in tower) for tower in towers]


def _tower(path: str, stops_at_stack: bool) -> list[str]:
    tower = []
    for segment in path.split(".")[:-1]:
        is_stack = stops_at_stack and ("encoder" in segment or "decoder" in segment)
        if is_stack or segment.isdigit() or segment in ("encoder", "decoder", "layers", "layer", "blocks", "h"):
            break
        if segment != "model":
            tower.append(segment)
    return tower


class HeadRecord(NamedTuple):
    """One head of one attention."""

    name: str  # such as "L3H1": head 1 of trace 3, both from 0
    trace: AttentionTrace
    head: int  # of the trace, from 0

    def weights(self, rows: Rows = ALL, cols: Rows = ALL) -> Tensor:
        return self.trace.weights(self.head, rows, cols)

    def scores(self, rows: Rows = ALL, cols: Rows = ALL) -> Tensor:
        return self.trace.scores(self.head, rows, cols)

    def __repr__(self) -> str:
        return f"<{self.name} of {self.trace.story.name}: {_size_text(self.trace)}>"


@dataclass(repr=False)
class Recording:
    """Every attention of one run: recording[0], recording["decoder.3.cross"], recording.head("L3H1").

    Attributes:
        traces: one per call, in the order of execution.
        note: what a reader has to know about all of them, such as that the model handed out weights only; empty if
            nothing is unusual.
        model: hub id or folder of the model that made it; empty if nobody knows.
        text: that the model read; empty if nobody knows.
    """

    traces: list[AttentionTrace] = field(default_factory=list)
    note: str = ""
    model: str = ""
    text: str = ""

    @classmethod
    def from_weights(
        cls, weights: Iterable[Any], tokens: Sequence[str] = (), target_tokens: Sequence[str] = ()
    ) -> Recording:
        """Return weights from anywhere as a recording, which every view, file and page reads.

            Recording.from_weights([w0, w1], tokens="the cat sat".split())

        Weights are of each layer (n_heads, n_queries, n_keys), arrays of NumPy, tensors or lists. Tokens label the
        keys, and as many queries; target tokens label queries that are others than the keys. A ValueError where there
        is no layer, an array of another shape, or a number that is not finite.
        """
        recording = cls(traces_of_arrays(weights), text=" ".join(map(str.strip, tokens)))
        if not recording.traces:
            raise ValueError("weights must have a layer, got none")
        if tokens:
            recording.label(tokens, target_tokens)
        return recording

    @property
    def names(self) -> list[str]:
        """The names of the traces, in the order of execution."""
        return [trace.story.name for trace in self.traces]

    @property
    def heads(self) -> list[HeadRecord]:
        """Every head of every trace, "L0H0" first."""
        return [
            HeadRecord(f"L{number}H{head}", trace, head)
            for number, trace in enumerate(self.traces)
            for head in range(trace.n_heads)
        ]

    def __len__(self) -> int:
        return len(self.traces)

    def __iter__(self) -> Iterator[AttentionTrace]:
        return iter(self.traces)

    def __repr__(self) -> str:
        if not self.traces:
            return f"<Recording of no attention{': ' if self.note else ''}{self.note}>"
        names, first = self.names, self.traces[0]
        first_to_last = f"{names[0]} to {names[-1]}" if len(names) > 1 else names[0]
        sizes = {(trace.n_heads, trace.n_queries, trace.n_keys) for trace in self.traces}
        size = f"{format_count(first.n_heads, 'heads')}, {_size_text(first)}{' and others' if len(sizes) > 1 else ''}"
        return f"<Recording of {len(names)}: {first_to_last}; {size}{'; see note' if self.note else ''}>"

    @overload
    def __getitem__(self, index: int | str) -> AttentionTrace: ...
    @overload
    def __getitem__(self, index: slice) -> list[AttentionTrace]: ...

    def __getitem__(self, index: int | slice | str) -> AttentionTrace | list[AttentionTrace]:
        """Return the trace of that number or name, or some traces.

        Raises:
            IndexError: there is no such number.
            KeyError: there is no such name; the message lists those that there are.
        """
        if not isinstance(index, str):
            return self.traces[index]
        if index not in self.names:
            raise KeyError(f"no trace {index!r}, there are {self.names}")
        return self.traces[self.names.index(index)]

    def head(self, name: str) -> HeadRecord:
        """Return the head of that name, such as "L3H1" or "3.1", both from 0; a KeyError says which there are."""
        full_name = re.sub(r"^(\d+)\.(\d+)$", r"L\1H\2", name)
        record = next((head for head in self.heads if head.name == full_name), None)
        if record is None and not self.traces:
            raise KeyError(f"no head {name!r}, there is no attention")
        if record is None:
            raise KeyError(f"no head {name!r}, there are L0H0 to L{len(self) - 1}H{self.traces[-1].n_heads - 1}")
        return record

    def label(self, tokens: Sequence[str] | Axis, target_tokens: Sequence[str] | Axis = ()) -> None:
        """Make tokens the labels of all axes of their length: `tokens` of the model's input, or of the encoder's.

        `target_tokens` are those of the decoder beside that encoder. Where both are equally many, the keys of
        cross-attention get the encoder's tokens.
        """
        source = tokens if isinstance(tokens, Axis) else Axis("source tokens" if target_tokens else "tokens", tokens)
        target = target_tokens if isinstance(target_tokens, Axis) else Axis("target tokens", target_tokens)
        crosses = [_crosses(trace, self.names) for trace in self.traces]
        decoders = {_layer_prefix(trace) for trace in compress(self.traces, crosses)} - {None}
        self.traces[:] = [
            _with_labels(trace, source, target if target_tokens else source, is_cross, decoders)
            for trace, is_cross in zip(self.traces, crosses, strict=True)
        ]
        lengths = {n for trace in self.traces for n in (trace.n_queries, trace.n_keys)}
        if lengths and not lengths & {len(source), len(target)}:
            *shorter, last = sorted(lengths)
            positions = ", ".join([*map(str, shorter), format_count(last, "positions")])
            labels_text = " and ".join(format_count(len(axis), axis.name) for axis in (source, target) if len(axis))
            self.note = f"{self.note} Not labelled: {labels_text} for {positions}.".strip()

    def joined(self, tokens: Sequence[str] = (), target_tokens: Sequence[str] = ()) -> Recording:
        """Return a recording in which the steps of a decoder are one attention for each module, and each beam.

            with capture() as recording:
                ids = model.generate(**inputs, max_new_tokens=20)
            recording.joined([tokenizer.decode(token) for token in ids[0]])

        The steps of a loop over an RNN's decoder are joined as well, and what does not go together stays as it is, with
        a note. Tokens label the axes as in label(); the last ones, which the model said and did not read, may be there.
        """
        traces, note = join_steps(self.traces)
        recording = Recording(traces, f"{self.note} {note}".strip(), self.model, self.text)
        if tokens and traces:
            n_read = max(trace.n_keys for trace in traces)
            recording.label(tokens[:n_read], target_tokens[: traces[-1].n_queries])
        return recording

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas table with one row per head, of averages over its queries.

        Entropy is in bits; `largest` is the mean of each row's largest weight, `received` the largest mean weight of a
        key. Queries that may attend to no key do not count; for `largest`, nor do those that may attend to one key
        only, as the first query of a decoder. explain.heads.HeadSummary counts alike.
        """
        import pandas as pd

        return pd.DataFrame([_head_row(head) for head in self.heads])

    @renamed_arguments(most_bytes="max_bytes")
    def show(
        self,
        layer: int | None = None,
        head: int | str | Sequence[int | str] = 0,
        *,
        tokens: Sequence[str] | Axis = (),
        target_tokens: Sequence[str] | Axis = (),
        query: int | None = None,
        picture: np.ndarray | None = None,
        grid: tuple[int, int] | None = None,
        steps: Sequence[Step] = (),
        max_bytes: int | None = None,
        measures: Mapping[str, Sequence[Sequence[float]]] = {},
        beside: Recording | None = None,
    ) -> View:
        """Return every layer and head as a page, for a notebook's cell or a file: View.save("run.html").

        Weights are computed in the browser, within 0.002 of those here unless max_bytes asks for less.

        Args:
            layer: the trace on which the page opens, by its number as in L3H1.
            head: the head or heads on which it opens, by numbers, or by names such as "L3H1", which have the layer.
            tokens: of the model's or the encoder's input, where the axes are not labelled yet; see label().
            target_tokens: of a decoder beside an encoder.
            query: the one that is chosen at first.
            picture: uint8 (height, width, 3), the input of a vision model.
            grid: rows and columns of its patches, which are the last positions of an axis; None = that of the axes.
            steps: of the first head, to be walked through, such as steps_of(trace).
            max_bytes: of the file; weights of heads that are not open become as coarse as that needs.
            measures: numbers of every head by name, one row for each trace; the first measure colours the small
                pictures, the others stand beside it.
            beside: another recording, drawn at its side; each follows the head and the query chosen in the other.

        Raises:
            ValueError: there is no attention or no such head, or more weights than a page can take.
        """
        labelled = Recording(list(self.traces), self.note)
        if tokens:
            labelled.label(tokens, target_tokens)
        opened = parse_heads(layer, head)
        if beside is not None and max_bytes is not None:
            max_bytes //= 2
        second = [] if beside is None else [beside.show(layer, head, max_bytes=max_bytes)]
        opening = Opening(opened, query, picture, grid, steps, max_bytes, measures, second)
        return view_of(labelled.traces, repr(labelled)[1:-1], labelled.note, opening)

    def figure(self, heads: Sequence[str], *, words: bool = True, size: int = 240) -> Any:
        """Return heads side by side as a chart with one scale of colours, for papers.

            recording.figure(["16.0", "17.5"]).save("fig.pdf", width=85)  # millimetres; .svg and .png, too

        Args:
            heads: such as "16.0" or "L16H0", layer and head from 0, as in head().
            words: whether the axes have the labels of tokens, or numbers.
            size: of a longer side, in pixels on the screen; the smaller, the larger are the letters in print.
        """
        # charts stand on recordings, so they are found when somebody asks for one
        return import_module("attention_core.charts.sheet").head_sheet([*map(self.head, heads)], heads, words, size)

    def to_html(self, path: str | Path, **options: Any) -> None:
        """Write all heads to one file that opens without a network; for the options see show()."""
        self.show(**options).save(path)

    def to_bibtex(self) -> str:
        """Return the run as an entry of BibTeX: model and text, its heads, the versions, a hash of its numbers.

        The hash is that of the bytes of q, k, v, mask and bias, in which weights that alone are known are, too; so the
        same run on the same machine has the same key.

        Raises:
            ValueError: there is no attention.
        """
        if not self.traces:
            raise ValueError("a recording must have an attention to be cited, got none")
        version = sys.modules["attention_core"].__version__
        digest = hashlib.sha256()
        for trace in self.traces:
            digest.update(repr((trace.is_causal, trace.window, trace.score.to_json_value())).encode())
            for name in TENSOR_NAMES[:-1]:
                if (tensor := getattr(trace, name)) is not None:
                    digest.update(f"{name} {tuple(tensor.shape)}".encode() + _bits(tensor).tobytes())
        text = " ".join((self.text or "".join(self.traces[-1].story.key_axis.labels)).split())
        title = f"Attention of {self.model or 'a model'} on: {text if len(text) < 200 else text[:199] + '…'}"
        n_heads = sum(trace.n_heads for trace in self.traces)
        size = f"{format_count(len(self), 'attentions')}, {format_count(n_heads, 'heads')}"
        fields = {
            "title": re.sub(r"[\\{}$&#^_%~]", lambda sign: LATEX_ESCAPES.get(sign[0], "\\" + sign[0]), title),
            "author": "{Attention Explorer}",
            "year": str(date.today().year),
            "howpublished": f"Attention Explorer {version}, PyTorch {torch.__version__}",
            "note": f"{size}, SHA-256 of q, k, v, mask, bias: {digest.hexdigest()[:16]}",
        }
        rows = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
        return f"@misc{{attention-{digest.hexdigest()[:8]},\n{rows}}}\n"

    def _repr_html_(self) -> str:
        try:
            return self.show()._repr_html_()
        except ValueError as reason:
            return f"<p>{escape(f'{self!r}: {reason}')}</p>"

    def save(self, path: str | Path) -> None:
        """Write all traces to a .npz file, which load_recording reads again and which appears only when it is whole.

        A ValueError where the scores are no (capped) scaled dot products, or a trace has edits.
        """
        arrays: dict[str, np.ndarray] = {}
        names_by_location: dict[tuple[Any, ...], str] = {}
        entries = []
        for trace in self.traces:
            entry = _trace_entry(trace)
            for name in TENSOR_NAMES:
                tensor = getattr(trace, name)
                if tensor is not None:
                    location = (tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tensor.stride())
                    if location not in names_by_location or tensor.numel() == 0:
                        names_by_location[location] = f"{name}.{len(arrays)}"
                        arrays[names_by_location[location]] = _bits(tensor)
                    entry["arrays"][name] = {"name": names_by_location[location], "type": str(tensor.dtype)}
            entries.append(entry)
        metadata = {name: getattr(self, name) for name in METADATA_NAMES}
        arrays["about"] = np.array(json.dumps({"format": FORMAT, **metadata, "traces": entries}))
        with atomic_write(Path(path)) as unfinished, unfinished.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]


@renamed_arguments(most_bytes="max_bytes")
def load_recording(path: str | Path | bytes, *, max_bytes: int | None = None) -> Recording:
    """Read what Recording.save wrote, by its path or its bytes, unless it takes more than max_bytes in memory.

    A file of np.savez with weights of your own is read, too: each array (n_heads, n_queries, n_keys) is a layer, in
    their order, or one array (n_layers, n_heads, n_queries, n_keys) is all of them. The texts in `tokens` and
    `target_tokens` are as in Recording.from_weights.

    Raises:
        FileNotFoundError: no such file.
        ValueError: a file that is damaged, too large or no recording, with the reason.
    """
    name = "The file" if isinstance(path, bytes) else Path(path).name
    with readable_errors(f"{name} is damaged or no recording"), open_npz(path) as file:
        file.check_size(max_bytes, name)
        if "about" not in file.entries:
            return _read_weights(file, max_bytes)
        if max_bytes is not None and file.entries["about"].n_bytes > 4 * RECORDING_LETTERS.maximum:  # 4 bytes a letter
            raise ValueError("its description is too long")
        description = read_json(str(file["about"]), sys.maxsize)
        if not isinstance(description, dict) or description.get("format") != FORMAT:
            raise ValueError(f"its format is not {FORMAT!r}")
        outlines = [_outline(entry, file.entries) for entry in description["traces"]]  # checked before a number is read
        tensors: dict[tuple[str, str], Tensor] = {}
        traces = [
            _filled(outline, entry["arrays"], file, tensors)
            for outline, entry in zip(outlines, description["traces"], strict=True)
        ]
        return Recording(traces, **{name: str(description.get(name, "")) for name in METADATA_NAMES})


def _read_weights(file: Npz, max_bytes: int | None) -> Recording:
    """Return the recording of a file that holds weights and perhaps their tokens."""
    layers = [name for name, entry in file.entries.items() if len(entry.shape) > 2]
    if not layers or {name.partition(".")[0] for name in layers} & {*REQUIRED_NAMES}:
        raise ValueError("about is missing, and its arrays are no weights, (n_heads, n_queries, n_keys)")
    n_bytes = BYTES_OF_A_WEIGHT * sum(math.prod(file.entries[name].shape) for name in layers)
    if max_bytes is not None and n_bytes > max_bytes:
        raise ValueError(f"its weights take {n_bytes / 1e6:,.0f} MB, more than the {max_bytes / 1e6:,.0f} MB allowed")
    label_names = [name for name in ("tokens", "target_tokens") if name in file.entries]
    entries = [file.entries[name] for name in label_names]
    if any(
        math.prod(entry.shape) > TENSOR_LABELS.maximum or entry.n_bytes > TENSOR_LABEL_BYTES.maximum
        for entry in entries
    ):
        raise ValueError(f"at most {TENSOR_LABELS} labels are read")
    arrays = (file[name] for name in layers)
    is_stacked = len(layers) == 1 and len(file.entries[layers[0]].shape) == 4  # (n_layers, n_heads, n_queries, n_keys)
    recording = Recording.from_weights(next(arrays) if is_stacked else arrays)
    labels = {name: [escape_hidden(str(text)) for text in file[name].astype(str).ravel()] for name in label_names}
    if tokens := labels.get("tokens"):
        recording.text = " ".join(map(str.strip, tokens))
        recording.label(tokens, labels.get("target_tokens", ()))
    return recording


def tensors_of(recording: Recording) -> list[Tensor]:
    """Return all tensors of a recording; several traces may hold the same."""
    tensors = (getattr(trace, name) for trace in recording.traces for name in TENSOR_NAMES)
    return [tensor for tensor in tensors if tensor is not None]


def _size_text(trace: AttentionTrace) -> str:
    return f"{format_count(trace.n_queries, 'queries')} x {format_count(trace.n_keys, 'keys')}"


def _base_name(trace: AttentionTrace) -> str:
    """Return the name of a trace without the number of a repeated call, or which item of the batch it is of."""
    return trace.story.name.partition(" ")[0]


def _crosses(trace: AttentionTrace, names: Collection[str]) -> bool:
    """Return whether queries and keys come from two tensors; where the story does not know it, as the names say."""
    if trace.story.crosses is not None:
        return trace.story.crosses
    prefix, torch_name, _ = _base_name(trace).rpartition("multihead_attn")  # of torch's decoder
    return any(name in trace.story.name for name in CROSS_NAMES) or (bool(torch_name) and f"{prefix}self_attn" in names)


def _layer_prefix(trace: AttentionTrace) -> str | None:
    """Return what stands before the layer's number in a name, such as "decoder.layers."; None without a number."""
    match = re.match(r"(.*?)\b\d+\.", _base_name(trace))
    return match and match[1]


def _with_labels(
    trace: AttentionTrace, source: Axis, target: Axis, is_cross: bool, decoders: Collection[str | None]
) -> AttentionTrace:
    is_of_decoder = is_cross or "decoder" in _base_name(trace).split(".") or _layer_prefix(trace) in decoders
    of_queries = target if is_of_decoder else source
    of_keys = source if is_cross else of_queries

    def axis_of_length(first_choice: Axis, n: int, old: Axis) -> Axis:
        return next((axis for axis in (first_choice, source, target) if len(axis) == n), old)

    return trace.with_story(
        query_axis=axis_of_length(of_queries, trace.n_queries, trace.story.query_axis),
        key_axis=axis_of_length(of_keys, trace.n_keys, trace.story.key_axis),
    )


def _head_row(head: HeadRecord) -> dict[str, Any]:
    summary, trace = head.trace.summary(head.head), head.trace
    top_key, has_keys, has_choice = int(summary.received.argmax()), summary.n_visible > 0, summary.n_visible > 1
    return {
        "head": head.name,
        "name": trace.story.name,
        "layer": int(head.name[1 : head.name.index("H")]),
        "number": head.head,
        "entropy": float(summary.entropy[has_keys].mean()),
        "largest": float(summary.largest[has_choice].mean()),
        "score": float(summary.score_row_mean[has_keys].mean()),
        "most_received": trace.story.key_axis.labels[top_key],
        "received": float(summary.received[top_key]),
    }


def _trace_entry(trace: AttentionTrace) -> dict[str, Any]:
    score, story = trace.score.to_json_value(), trace.story
    if score.keys() != {"score", "scale", "softcap"} or score["score"] != Dot.name:
        raise ValueError(f"trace {story.name!r}: a recording holds scaled dot products, got {trace.score.name} scores")
    if trace.edits:
        raise ValueError(f"trace {story.name!r} was edited: a recording holds traces as the model made them")
    return {
        **{name: getattr(story, name) for name in ("name", "mechanism", "note", "crosses", "are_rotated")},
        **{name: getattr(trace, name) for name in ("dropout", "is_causal", "window", "has_softmax")},
        **{name: score[name] for name in ("scale", "softcap")},
        **{name: _axis_entry(getattr(story, name)) for name in ("query_axis", "key_axis")},
        "arrays": {},
    }


def _axis_entry(axis: Axis) -> dict[str, Any]:
    is_numbered = list(axis.labels) == list(Axis.numbered(axis.name, len(axis)).labels)
    return {"name": axis.name, "labels": len(axis) if is_numbered else list(axis.labels), "grid": axis.grid}


def _read_axis(entry: dict[str, Any], n: int) -> Axis:
    name, labels, grid = str(entry["name"]), entry["labels"], entry["grid"]
    numbered = Axis.numbered(name, n)
    texts = numbered.labels if isinstance(labels, int) else [escape_hidden(str(label)) for label in labels]
    return Axis(name, texts, (int(grid[0]), int(grid[1])) if grid else None)


def _bits(tensor: Tensor) -> np.ndarray:
    """Return the numbers of a tensor as an array; those of bfloat16, which NumPy lacks, as int16 of the same bits."""
    tensor = tensor.detach().cpu().contiguous()
    return (tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor).numpy()


def _as_dtype(stored: Tensor, dtype: str) -> Tensor:
    """Return the tensor of which _bits() made these numbers."""
    if dtype not in DTYPES:
        raise ValueError(f"numbers must be one of {', '.join(DTYPES)}, got {dtype}")
    if DTYPES[dtype] == torch.bfloat16 and stored.dtype == torch.int16:
        stored = stored.view(torch.bfloat16)
    if stored.dtype != DTYPES[dtype]:
        raise ValueError(f"an array should be {dtype}, got {stored.dtype}")
    return stored


def _filled(
    outline: AttentionTrace, described: dict[str, Any], file: Npz, tensors: dict[tuple[str, str], Tensor]
) -> AttentionTrace:
    """Return a trace with its numbers; tensors are those read so far, by array and type, and get what it adds."""
    fields: dict[str, Any] = {}
    for tensor_name in TENSOR_NAMES:
        if tensor_name in described:
            name, dtype = str(described[tensor_name]["name"]), str(described[tensor_name]["type"])
            if (name, dtype) not in tensors:
                tensors[name, dtype] = _as_dtype(torch.from_numpy(file[name]), dtype)
            fields[tensor_name] = tensors[name, dtype]
    return replace(outline, **fields)


def _outline(entry: dict[str, Any], stored: Mapping[str, Entry]) -> AttentionTrace:
    """Return the trace of a description, checked, whose tensors have shapes and types, but no numbers yet."""
    fields: dict[str, Any] = {}
    for tensor_name in TENSOR_NAMES:
        if tensor_name in entry["arrays"] or tensor_name in REQUIRED_NAMES:
            described = entry["arrays"][tensor_name]
            array = stored[str(described["name"])]
            if not isinstance(dtype := getattr(torch, array.dtype, None), torch.dtype):
                raise ValueError(f"{array.name} must hold numbers, got {array.dtype}")
            if max(array.shape, default=0) > POSITIONS.maximum:
                raise ValueError(f"{array.name} has {max(array.shape):,} positions, at most {POSITIONS} are read")
            outline = torch.empty(array.shape, dtype=dtype, device="meta")
            fields[tensor_name] = _as_dtype(outline, str(described["type"]))
            if (tensor_name == "mask") != (fields[tensor_name].dtype == torch.bool):
                expected = "bool" if tensor_name == "mask" else "float"
                raise ValueError(f"{tensor_name} of {entry['name']!r} must be {expected}")
    texts: dict[str, Any] = {name: escape_hidden(str(entry[name])) for name in ("name", "mechanism", "note")}
    trace = AttentionTrace(
        score=score_from_json({"score": Dot.name, "scale": entry["scale"], "softcap": entry["softcap"]}),
        is_causal=bool(entry["is_causal"]),
        window=None if entry.get("window") is None else int(entry["window"]),
        dropout=float(entry["dropout"]),
        has_softmax=bool(entry.get("has_softmax", True)),
        **fields,
        story=Story(
            **texts,
            query_axis=_read_axis(entry["query_axis"], fields["query"].shape[-2]),
            key_axis=_read_axis(entry["key_axis"], fields["key"].shape[-2]),
            shows_vectors=fields["key"].shape[-1] > 0,
            crosses=None if entry.get("crosses") is None else bool(entry["crosses"]),
            are_rotated=bool(entry.get("are_rotated")),
        ),
    )
    pairs = (trace.n_heads, trace.n_queries, trace.n_keys)
    for tensor_name, shape in (("mask", pairs), ("bias", pairs), ("sinks", pairs[:2]), ("normaliser", pairs[:2])):
        if tensor_name in fields:
            fields[tensor_name].expand(shape)  # raises where the shapes do not fit
    trace.score.dot_factor(trace.key.shape[-1])  # raises where a scale is missing
    if trace.query.shape[-1] != trace.key.shape[-1]:
        raise ValueError(f"query and key need the same d_k, got {trace.query.shape[-1]} and {trace.key.shape[-1]}")
    return trace

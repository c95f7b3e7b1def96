"""A recording becomes a page that needs no network and no server: in a notebook's cell, or a file of its own."""

import html
import json
import math
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np
from torch import Tensor

from attention_core.attention.trace import AttentionTrace, check_pairs
from attention_core.attention.types import Axis, Step
from attention_core.attention.view.assets import VIEW_FOLDER, bundle, modules_of, rules_of
from attention_core.attention.view.pack import pack_head, share_parts, step_data, text_of
from attention_core.device import single_thread, to_array
from attention_core.files import atomic_write

TILE = re.compile(r" row (\d{1,4}), column (\d{1,4})")
"""What the tokens of a picture beside a text are called, see attention_core.hub.pictures.picture_text_inputs."""
SIGN = re.compile(r"[<\[].*[>\]]")
SEPARATORS = ("[SEP]", "</s>", "<sep>")


SIGNS_OF_SPACE = str.maketrans({"Ġ": " ", "▁": " ", "Ċ": "↵"})


def pieces(labels: Sequence[str]) -> list[tuple[str, bool]]:
    """Return each token's text, and whether it goes on with the word before.

    A word begins with a space (or the signs Ġ and ▁ that stand for one) where any token of the text has one; else
    "##" goes on with a word; else every token stands alone.
    """
    has_spaces = any(label[:1] in (" ", "Ġ", "▁") and len(label) > 1 for label in labels)
    result = []
    for index, label in enumerate(labels):
        if has_spaces:
            begins = label[:1] in (" ", "Ġ", "▁")
            is_named = label.startswith(("<", "[")) and label.endswith((">", "]"))
            after_named = index > 0 and labels[index - 1].endswith((">", "]"))
            result.append((label[1:] if begins and len(label) > 1 else label, not (begins or is_named or after_named)))
        else:
            glued = label.startswith("##") and len(label) > 2
            result.append((label[2:] if glued else label, glued))
    return [(text.translate(SIGNS_OF_SPACE).strip() or "·", glued) for text, glued in result]


def parts_of(labels: Sequence[str]) -> list[int]:
    """Return where each of several texts begins; one text alone begins at 0."""
    last = len(labels) - 1
    after = (index + 1 for index, label in enumerate(labels) if label in SEPARATORS and index < last)
    return [0, *(index for index in after if labels[index] not in SEPARATORS)]


MAX_WEIGHTS = 120_000_000  # in one page; a page of more leaves attentions out, and says so
LARGEST_PICTURE = 448  # pixels of a side
LARGEST_STEP = 256
"""Rows and columns of a step with more numbers than a square of that: the strongest of each block are kept."""
BYTES_OF_STEPS = 1 / 6  # numbers of all steps for each byte of a file: half of it
ENTRY_BYTES = 90  # bytes of a head's entry besides its numbers
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
SCRIPT = f"{VIEW_FOLDER}/recording_view.js"
WIDGET = """export default { render({ model, el }) {
const host = el.appendChild(document.createElement("div"));
const tell = (chosen) => { model.set("chosen", chosen); model.save_changes(); };
modules.at(-1).showRecording(host, RULES, model.get("data"), tell);
} };"""
HEAD_NAME = re.compile(r"L(\d+)H(\d+)")


@dataclass(frozen=True)
class Opening:
    """Where a view opens, and what it shows besides the weights; see Recording.show."""

    heads: Sequence[tuple[int, int]] = ((0, 0),)  # (number of the trace, head), those that are open at first
    query: int | None = None
    picture: np.ndarray | None = None
    grid: tuple[int, int] | None = None  # of the last positions of long axes, or the first where they are named so
    steps: Sequence[Step] = ()
    max_bytes: int | None = None  # None = as large as pack_head makes it
    measures: Mapping[str, Sequence[Sequence[float]]] = field(default_factory=dict)  # of heads; nan = none
    beside: Sequence["View"] = ()  # each follows what is chosen in the others


@dataclass(frozen=True, repr=False)
class View:
    """What a notebook's cell shows, and a file keeps."""

    title: str  # what it shows, in a line
    data: dict[str, Any]  # what the script reads
    script: str = SCRIPT  # which draws it

    def _repr_html_(self) -> str:
        name = secrets.token_hex(8)  # several views in one page find themselves
        return (
            f'<div data-attention="{name}">{html.escape(self.title)}</div>'
            f"<script>(() => {{\n{_script(self.script)}\n"
            f'modules.at(-1).showRecordings("{name}", {_rules(self.script)}, {_json(self.data)});\n}})();</script>'
        )

    def __repr__(self) -> str:
        return f"<View of {self.title}>"

    def widget(self) -> Any:
        """Return it as a widget of Jupyter and marimo, in which what is chosen comes back: widget.chosen.

        That is {"layer", "head", "query", "key", "weight"}, key and weight None where a token was chosen, not a cell;
        {} before. `observe` tells of every choice.

        Raises:
            ImportError: anywidget is missing.
        """
        try:
            import anywidget
            from traitlets import Dict
        except ImportError as error:
            raise ImportError('a widget needs anywidget: pip install "attention-explorer[study]" brings it') from error

        class RecordingWidget(anywidget.AnyWidget):
            _esm = f"{_script()}\nconst RULES = {_rules()};\n{WIDGET}"
            data, chosen = Dict().tag(sync=True), Dict().tag(sync=True)

        return RecordingWidget(data=self.data)

    def save(self, path: str | Path) -> None:
        with atomic_write(Path(path)) as file:
            file.write_text(self.page(), encoding="utf-8")

    def page(self) -> str:
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
            '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" '
            f'content="light dark"><title>{html.escape(self.title)}</title></head>'
            f'<body style="margin:0">{self._repr_html_()}</body></html>\n'
        )


def view_of(traces: Sequence[AttentionTrace], title: str, note: str, opening: Opening) -> View:
    """Return a view of traces; a ValueError says what is not there, or that the open one is too large."""
    _check(traces, opening)
    numbers = _fitting(traces, opening.heads[0][0])
    if len(numbers) < len(traces):
        note = f"{note} {len(numbers)} of {len(traces)} attentions are here: a page of all would be too large.".strip()
    axes: dict[str, int] = {}
    masks: dict[str, int] = {}
    entries = [_entry(number, traces[number], opening, axes, masks) for number in numbers]
    first, side = opening.heads[0], LARGEST_STEP
    if opening.max_bytes is not None and opening.steps:
        side = min(side, math.isqrt(round(opening.max_bytes * BYTES_OF_STEPS / len(opening.steps))))
    steps = [
        {"code": step.code, "explanation": step.explanation} | step_data(traces[first[0]], step, first[1], side=side)
        for step in opening.steps
    ]
    data = {
        "title": title,
        "note": note,
        "axes": [*map(json.loads, axes)],
        "masks": [*map(json.loads, masks)],
        "open": [[numbers.index(number), head] for number, head in opening.heads if number in numbers],
        "query": opening.query,
        "beside": [view.data for view in opening.beside],
        "picture": None if opening.picture is None else _picture(opening.picture),
        "measures": [_measure(*measure) for measure in opening.measures.items()],
        "steps": steps,
        "parts": share_parts(steps),
    }
    room = None
    if opening.max_bytes is not None:
        n_heads = sum(traces[number].n_heads for number in numbers)
        room = max(0, opening.max_bytes - len(_script() + _rules() + _json([data, entries]))) * 3 // 4 // (n_heads + 2)
        room = max(room - ENTRY_BYTES, 0)
    errors = [0.0]
    with single_thread():  # matrices are small: several threads would spend their time on waiting for each other
        for number, entry in zip(numbers, entries, strict=True):
            entry["heads"] = []
            for head in range(traces[number].n_heads):
                packed = pack_head(traces[number], head, None if (number, head) == first else room)
                of_first = {"error": packed.error} if (number, head) == first else {}  # finer than the others
                entry["heads"].append(packed.entry | of_first)
                errors.append(packed.error)
    return View(title, data | {"traces": entries, "error": max(errors)})


def parse_heads(layer: int | None, head: int | str | Sequence[int | str]) -> list[tuple[int, int]]:
    """Return (number of the trace, head) of what a person names: 3, "L3H1", or several; a ValueError if it is none."""
    heads = []
    for name in [head] if isinstance(head, int | str) else head:
        match = HEAD_NAME.fullmatch(name) if isinstance(name, str) else None
        if isinstance(name, str) and not match:
            raise ValueError(f"a head is a number or a name such as 'L3H1', got {name!r}")
        heads.append((int(match[1]), int(match[2])) if match else (layer or 0, int(name)))
    return heads


def _check(traces: Sequence[AttentionTrace], opening: Opening) -> None:
    check_pairs(*traces)
    for number, head in opening.heads:
        if not (0 <= number < len(traces) and 0 <= head < traces[number].n_heads):
            raise ValueError(f"there is no head L{number}H{head}")
    first = traces[opening.heads[0][0]]
    if opening.query is not None and not 0 <= opening.query < first.n_queries:
        raise ValueError(f"query must be one of 0 to {first.n_queries - 1}, got {opening.query}")


def _fitting(traces: Sequence[AttentionTrace], first: int) -> list[int]:
    sizes = [trace.n_heads * trace.n_queries * trace.n_keys for trace in traces]
    if sizes[first] > MAX_WEIGHTS:
        raise ValueError(f"{sizes[first]:,} weights of {traces[first].story.name!r} are too many for a page")
    numbers, total = [], 0
    for number in sorted(range(len(traces)), key=lambda number: abs(number - first)):
        if total + sizes[number] <= MAX_WEIGHTS:
            numbers.append(number)
            total += sizes[number]
    return sorted(numbers)


@lru_cache
def _script(path: str = SCRIPT) -> str:
    return bundle(modules_of(path))


@lru_cache
def _rules(path: str = SCRIPT) -> str:
    return json.dumps(rules_of(modules_of(path)))


def _index_of(entry: Any, indices: dict[str, int]) -> int:
    """Return the index of an entry, as JSON, among those that several traces share."""
    return indices.setdefault(json.dumps(entry), len(indices))


def _entry(
    number: int, trace: AttentionTrace, opening: Opening, axes: dict[str, int], masks: dict[str, int]
) -> dict[str, Any]:
    story, mask = trace.story, None
    if trace.has_mask:
        heads = [to_array(cast(Tensor, trace.full_mask(head))) for head in trace.heads_of_mask]
        mask = _index_of([text_of(np.packbits(head, bitorder="little").tobytes()) for head in heads], masks)
    return {
        "name": story.name or story.mechanism,
        "layer": number,
        "mechanism": story.mechanism,
        "note": story.note,
        "queries": _index_of(_axis(story.query_axis, opening.grid), axes),
        "keys": _index_of(_axis(story.key_axis, opening.grid), axes),
        "causal": trace.is_causal,
        "softmax": trace.has_softmax,
        "mask": mask,
    }


def _axis(axis: Axis, grid: tuple[int, int] | None) -> dict[str, Any]:
    grid, labels = axis.grid or grid, list(map(str, axis.labels))
    n_patches = math.prod(grid) if grid else len(axis)
    is_picture = grid is not None and labels[:n_patches] == list(Axis.picture(axis.name, *grid).labels)
    before = 0 if is_picture else len(axis) - n_patches  # what is no patch comes first, but where patches have names
    if before < 0 or before > 16:
        grid = None
    return {
        "name": axis.name,
        "pieces": [[*piece, bool(SIGN.fullmatch(label))] for piece, label in zip(pieces(labels), labels, strict=True)],
        "parts": parts_of(labels),
        "grid": None if grid is None else [*map(int, grid)],
        "before": before if grid else 0,
        "tiles": tiles_of(labels),
    }


def tiles_of(labels: Sequence[str]) -> dict[str, int] | None:
    """Return where a picture's tokens lie among words: the first, rows, columns; None = not all are there."""
    tiles = [(index, *map(int, tile.groups())) for index, tile in enumerate(map(TILE.fullmatch, labels)) if tile]
    last, rows, columns = tiles[-1] if tiles else (0, 1, 1)
    is_complete = tiles and len(tiles) == rows * columns == last - tiles[0][0] + 1
    return {"first": tiles[0][0], "rows": rows, "columns": columns} if is_complete else None


def _picture(picture: np.ndarray) -> dict[str, Any]:
    every = -(-max(picture.shape[:2]) // LARGEST_PICTURE)
    small = np.ascontiguousarray(picture[::every, ::every, :3], dtype=np.uint8)
    return {"height": small.shape[0], "width": small.shape[1], "data": text_of(small.transpose(2, 0, 1).tobytes())}


def _measure(name: str, values: Sequence[Sequence[float]]) -> dict[str, Any]:
    sizes = [abs(value) for row in values for value in row if math.isfinite(value)]
    rows = [[value if math.isfinite(value) else None for value in row] for row in values]
    return {"name": name, "values": rows, "largest": max(sizes, default=0) or 1}


def _json(data: Any) -> str:
    """Return data as JSON that may stand in a script: nothing in it ends the script or begins a comment."""
    return json.dumps(data, ensure_ascii=True).replace("<", "\\u003c")

"""A trace leaves the app: as numbers in a file, as a table, and as code that computes a step line by line."""

from __future__ import annotations

import ast
import base64
import inspect
import io
import json
import zlib
from collections.abc import Callable
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from attention_core.attention.steps import step_of, steps_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import ALL, Rows, Step
from attention_core.bounds.harmless import as_markdown
from attention_core.device import to_array

if TYPE_CHECKING:
    import pandas as pd


def trace_to_npz(trace: AttentionTrace) -> bytes:
    """Return query, key, value, mask, normaliser and context as the bytes of a compressed .npz file.

    Its `scores` are empty for (scaled) dot products, which the file's query and key give again. A trace with edits has
    its `weights` too, since some stand beside the softmax.
    """
    is_plain = not trace.edits and trace.bias is None and trace.score.dot_factor(trace.key.shape[-1]) is not None
    of_head = {"key": trace.key_of, "value": trace.value_of, "context": trace.context}
    of_head |= {} if is_plain else {"scores": trace.scores}
    of_head |= {"weights": trace.weights} if trace.edits else {}
    tensors = {"query": trace.query, "log_normaliser": trace.log_normaliser, "scores": torch.zeros(0)}
    tensors |= {name: torch.stack([*map(compute, range(trace.n_heads))]) for name, compute in of_head.items()}
    if masks := [mask for mask in map(trace.full_mask, trace.heads_of_mask) if mask is not None]:
        tensors["mask"] = torch.stack(masks)
    return _npz_bytes(tensors, np.savez_compressed)


def _npz_bytes(tensors: dict[str, Tensor], save: Callable[..., None]) -> bytes:
    buffer = io.BytesIO()
    save(buffer, **{name: to_array(tensor) for name, tensor in tensors.items()})
    return buffer.getvalue()


def trace_to_frame(
    trace: AttentionTrace, head: int = 0, rows: Rows = ALL, cols: Rows = ALL, *, only_visible: bool = False
) -> pd.DataFrame:
    """Return one table row per cell of a tile: query, key, query_label, key_label, score, weight; labels in full.

    With only_visible, cells that the mask bars are left out: of attention over a graph its edges remain.
    """
    import pandas as pd

    story = trace.story
    queries, keys = map(to_array, trace.positions(rows, cols))
    query_texts, key_texts = (axis.full_labels or axis.labels for axis in (story.query_axis, story.key_axis))
    query_of_cell, key_of_cell = np.repeat(queries, len(keys)), np.tile(keys, len(queries))
    frame = pd.DataFrame(
        {
            "query": query_of_cell,
            "key": key_of_cell,
            "query_label": [query_texts[query] for query in query_of_cell],
            "key_label": [key_texts[key] for key in key_of_cell],
            "score": to_array(trace.scores(head, rows, cols).flatten()),
            "weight": to_array(trace.weights(head, rows, cols).flatten()),
        }
    )
    allowed = trace.allowed(head, rows, cols) if only_visible else None
    return frame if allowed is None else frame[to_array(allowed.flatten())].reset_index(drop=True)


MAX_NUMBERS = 1_000_000
"""Numbers in the inputs of a step's code; of a step that needs more the result is an input."""
NOT_COMPUTED = "computed by the app: what it takes is not in here"
HEADER = """import base64
import io
import zlib

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.functional import normalize

INPUTS = \"\"\"
{inputs}
\"\"\"
arrays = np.load(io.BytesIO(zlib.decompress(base64.b64decode(INPUTS))))
given = {{name: torch.from_numpy(array) for name, array in arrays.items()}}


def network(name, made):
    \"\"\"Return a network with its learned parameters.\"\"\"
    its = {{key.removeprefix(name + "."): one for key, one in given.items() if key.startswith(name + ".")}}
    made.load_state_dict(its)
    return made.eval().requires_grad_(False)


head = {head}  # counted from 0"""
FOOTER = """row = {row}  # counted from 0
print({title!r}, list({name}.shape), "of which row", row + 1, {label!r})
print({name}[row])
print("same as in the app:", torch.allclose({name}[row], given["shown"], atol=1e-4))"""


class Section(NamedTuple):
    markdown: str  # what it says in a notebook, with LaTeX
    plain: str  # what it says in a script
    code: str = ""  # what it runs; empty if nothing


def trace_to_code(trace: AttentionTrace, step: str = "context", head: int = 0, query: int = 0) -> str:
    """Return a stand-alone script that computes a step of one head and prints the row of one query."""
    title, *sections = sections_of(trace, step, head, query)
    comments = [fill(section.plain, 100, initial_indent="# ", subsequent_indent="# ") for section in sections]
    blocks = [f"{comment}\n{section.code}" for comment, section in zip(comments, sections, strict=True)]
    return "\n\n".join([f'"""{title.plain}"""', *blocks]) + "\n"


def trace_to_notebook(trace: AttentionTrace, step: str = "context", head: int = 0, query: int = 0) -> str:
    """Return the script as a Jupyter notebook, nbformat 4, that shows each step's formula above its line."""
    cells: list[dict[str, Any]] = []
    for number, section in enumerate(sections_of(trace, step, head, query)):
        cells.append({"cell_type": "markdown", "id": f"text-{number}", "metadata": {}, "source": section.markdown})
        if section.code:
            cell = {"cell_type": "code", "id": f"code-{number}", "metadata": {}, "source": section.code}
            cells.append(cell | {"execution_count": None, "outputs": []})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def sections_of(trace: AttentionTrace, step: str, head: int, query: int) -> list[Section]:
    """Return what a script says and runs: its inputs, every step up to the chosen one, the numbers on screen.

    Networks of PyTorch's own modules are built and get their parameters; of other networks the output is an input. The
    printed row is that of the query, or the first one of a step whose rows are not queries. A KeyError where there is
    no such step.
    """
    chosen, inputs, step_sections = step_of(trace, step), _ScriptInputs(), []
    for each_step in steps_of(trace):
        markdown = f"## {each_step.title}\n$${each_step.formula}$$\n\n{each_step.explanation}"
        plain = f"{each_step.title}: {each_step.explanation}"
        step_sections.append(Section(markdown, plain, inputs.code_for(each_step, head)))
        if each_step.name == step:
            break
    row = query if chosen.row_axis is trace.story.query_axis else 0
    inputs.tensors["shown"] = chosen.value(head, [row])[0]
    subject = f"{trace.story.mechanism[:1].upper()}{trace.story.mechanism[1:]}: {chosen.title.lower()}"
    of_head = f", head {head + 1} of {trace.n_heads}" if trace.n_heads > 1 else ""
    title = f"{subject}{of_head}. Needs numpy and torch; all else is in here."
    header = HEADER.format(inputs=inputs.packed(), head=head)
    line = f"trace = trace.replace([{', '.join(map(repr, trace.edits))}])"  # to read: the code of the steps does it
    plain = f"What was changed, as a line of attention_core: {line}"
    footer = FOOTER.format(name=chosen.assigns, row=row, title=chosen.title, label=chosen.row_axis.labels[row])
    return [
        Section(f"# {as_markdown(title)}", title.replace('"', "'").replace("\\", "/")),
        Section("## The inputs", "The inputs: learned parameters, and what the layer was given.", header),
        *([Section(f"## What was changed\n\n`{line}`", plain)] if trace.edits else []),
        *step_sections,
        Section("## The numbers on screen", "The numbers on screen.", footer),
    ]


class _ScriptInputs:
    """Gathers the values that the code of steps names: tensors for the script's file, everything else as code."""

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}
        self._code_of: dict[str, str] = {}  # of the value that a name has so far
        self._assigned = {"head"}  # names to which the script has assigned a value
        self._unassigned: set[str] = set()  # names to which only lines would have, that have become comments

    def code_for(self, step: Step, head: int) -> str:
        """Return the step's code behind its inputs, or its result as an input where that code cannot be run."""
        named = {name: value for name, value in step.names(head).items() if name not in self._assigned}
        texts = {name: _as_code(name, value) for name, value in named.items()}
        n_numbers = sum(value.numel() for value in named.values() if isinstance(value, Tensor))
        used, stored = _names_in(step.code, ast.Load), _names_in(step.code, ast.Store)
        is_missing_names = used & self._unassigned - {*named}
        if None in texts.values() or n_numbers > MAX_NUMBERS or is_missing_names:
            lines = step.code.splitlines()
            targets = _names_in(lines[-1], ast.Store) or {step.assigns}
            self.tensors[step.assigns] = step.value(head)
            self._assigned |= targets
            self._unassigned |= stored - targets
            assignment = f'{" = ".join(sorted(targets))} = given["{step.assigns}"]  # {NOT_COMPUTED}'
            return "\n".join([*(f"# {line}" for line in lines), assignment])
        fresh = {name: str(text) for name, text in texts.items() if self._code_of.get(name) != text}
        lines = []
        for name, text in fresh.items():
            self.tensors |= {f"{name}{suffix}": tensor for suffix, tensor in _tensors_by_suffix(named[name]).items()}
            lines.append(f"\n{text}\n\n" if inspect.isfunction(named[name]) else f"{name} = {text}")
        self._code_of |= fresh
        self._assigned |= stored
        self._unassigned -= stored
        return "\n".join([*lines, step.code])

    def packed(self) -> str:
        """Return the tensors as the text of a compressed .npz file."""
        # ten times as fast as savez_compressed, 6 % larger
        return base64.encodebytes(zlib.compress(_npz_bytes(self.tensors, np.savez), 1)).decode().strip()


def _as_code(name: str, value: Any) -> str | None:
    """Return the code of a value; None where it cannot be written as code."""
    if isinstance(value, Tensor):
        return f'given["{name}"]{".bfloat16()" if value.dtype == torch.bfloat16 else ""}'
    if isinstance(value, list) and any(isinstance(item, Tensor) for item in value):
        return f"[{', '.join(str(_as_code(f'{name}.{index}', item)) for index, item in enumerate(value))}]"
    if inspect.isfunction(value):
        is_self_contained = not {*value.__code__.co_names} & {*value.__globals__} - {"torch", "Tensor"}
        return inspect.getsource(value) if is_self_contained else None
    if isinstance(value, nn.Module):
        constructor = _constructor(value)
        return None if constructor is None else f'network("{name}", {constructor})'
    return repr(value) if isinstance(value, int | float | list | tuple | None) else None


def _tensors_by_suffix(value: Any) -> dict[str, Tensor]:
    """Return the tensors of a value, by the ends of their names in the script's file."""
    if isinstance(value, nn.Module):
        return {f".{name}": tensor for name, tensor in value.state_dict().items()}
    if isinstance(value, list):
        return {f".{index}": tensor for index, tensor in enumerate(value) if isinstance(tensor, Tensor)}
    return {"": value} if isinstance(value, Tensor) else {}


def _names_in(code: str, use: type[ast.expr_context]) -> set[str]:
    nodes = ast.walk(ast.parse(code))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, use)}


def _constructor(module: nn.Module) -> str | None:
    """Return the code that makes a network, without its parameters; None where it is not one of PyTorch's own."""
    if sum(parameter.numel() for parameter in module.parameters()) > MAX_NUMBERS:
        return None
    if isinstance(module, nn.Sequential) and type(module).forward is nn.Sequential.forward:
        children = [_constructor(child) for child in module]
        return None if None in children else f"torch.nn.Sequential({', '.join(map(str, children))})"
    is_of_torch = type(module).__module__.startswith("torch.nn.modules") and not list(module.children())
    return f"torch.nn.{module}" if is_of_torch else None

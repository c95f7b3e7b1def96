"""Scripts that are exported, run as a stranger would run them."""

import ast
import contextlib
import io
import json

from torch.testing import assert_close

from attention_core import AttentionTrace, steps_of
from attention_core.attention.export import trace_to_code, trace_to_notebook

SAME = "same as in the app: True"


GIVEN = "computed by the app"


def run(*parts: str) -> tuple[dict, str]:
    """Run code as a fresh session would; returns what it assigned and what it printed."""
    space: dict = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        for part in parts:
            exec(compile(part, "script", "exec"), space)
    return space, printed.getvalue()


def code_of(notebook: str) -> list[str]:
    """Return the code of a notebook's cells, which has the form that nbformat 4.5 asks for."""
    book = json.loads(notebook)
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    assert book["metadata"]["kernelspec"]["name"] == "python3"
    assert len({cell["id"] for cell in book["cells"]}) == len(book["cells"])
    for cell in book["cells"]:
        wanted = {"cell_type", "id", "metadata", "source"}
        assert set(cell) == (wanted | {"execution_count", "outputs"} if cell["cell_type"] == "code" else wanted)
    return [cell["source"] for cell in book["cells"] if cell["cell_type"] == "code"]


def check(trace: AttentionTrace) -> list[str]:
    """Run the script of every step, the last the same as its notebook; returns the steps whose own line is not run."""
    head, query, steps = trace.n_heads - 1, trace.n_queries - 1, steps_of(trace)
    for step in steps:
        script = trace_to_code(trace, step.name, head, query)
        row = query if step.row_axis is trace.story.query_axis else 0
        space, printed = run(script)
        assert SAME in printed, f"{trace.story.mechanism}, {step.name}:\n{printed}"
        assert f"row {row + 1} " in printed
        assert_close(space[step.assigns][row], step.value(head, [row])[0], atol=1e-4, rtol=1e-4)
    notebook = ast.parse("\n".join(code_of(trace_to_notebook(trace, step.name, head, query))))
    assert ast.dump(notebook) == ast.dump(ast.Module(ast.parse(script).body[1:], []))
    return [step.name for step in steps if f' = given["{step.assigns}"]  # {GIVEN}' in script]

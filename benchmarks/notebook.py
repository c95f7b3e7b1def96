"""A recording in a notebook and as a file, here and elsewhere: python -m benchmarks.notebook [MAX_RIVAL_TOKENS].

Each library runs the lines that a notebook needs, from the model and its input to the first picture of every head; what
the cell would show is opened as a file in a Chromium without a network. Seconds: of the last of these lines, and from
opening the file to every head painted (ours) or to any picture at all (the others), at most PATIENCE.

BertViz, circuitsvis and inspectus are no part of this project: pip install them, and IPython, in an environment of its
own with --system-site-packages; those that cannot be imported are left out.
"""

import importlib
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
import transformers as hf
from playwright.sync_api import Error

from attention_core import trace_model
from benchmarks.browser import visitor
from benchmarks.report import publish

LENGTHS = (16, 128, 512)
PATIENCE = 20
OURS = ("recording = trace_model(model, tokens=tokens, **inputs)", "recording")
RUN = "found = model(**inputs, output_attentions=True)"
OTHERS = {
    "bertviz": (RUN, "model_view(found.attentions, tokens, html_action='return')"),
    "circuitsvis": (RUN, "heads = torch.cat([one[0] for one in found.attentions])", "attention_heads(heads, tokens)"),
    "inspectus": (RUN, "attention(found.attentions, tokens)"),
}
HOMES = {"bertviz": "bertviz", "circuitsvis": "circuitsvis.attention", "inspectus": "inspectus"}
ALL_HEADS = "document.querySelector('[data-attention]')?.shadowRoot?.querySelector('.glance[data-painted]')"
ANY_PICTURE = "[...document.querySelectorAll('svg *, canvas, img')].some((one) => one.getBoundingClientRect().width)"


def bert(n_layers: int, width: int, sharpness: float) -> Any:
    """Return a BERT of twelve heads with random weights; sharper ones choose among all their directions."""
    torch.manual_seed(0)
    sizes = {"hidden_size": width, "num_hidden_layers": n_layers, "intermediate_size": width}
    model = hf.BertModel(hf.BertConfig(vocab_size=1000, attn_implementation="eager", **sizes)).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if ".query.weight" in name or ".key.weight" in name:
                parameter.mul_(sharpness)
    return model


def inputs_of(model: Any, n: int) -> dict[str, Any]:
    """Return what the lines of a cell name: a model and n random words for it, a token each."""
    ids = torch.randint(5, 1000, (1, n), generator=torch.Generator().manual_seed(n))
    tokens = [f"w{number}" for number in ids[0].tolist()]
    return {"model": model, "tokens": tokens, "inputs": {"input_ids": ids}, "torch": torch}


def run(lines: tuple[str, ...], names: dict[str, Any]) -> tuple[str, float, float]:
    """Return what a cell of these lines shows, as HTML, and the seconds of its last line, of which of processor."""
    exec("\n".join(lines[:-1]), names)
    began, began_of_processor = time.perf_counter(), time.process_time()
    shown = eval(lines[-1], names)
    html = shown._repr_html_() if shown is not None else ""
    return html, time.perf_counter() - began, time.process_time() - began_of_processor


def run_rival(name: str, lines: tuple[str, ...], names: dict[str, Any]) -> tuple[str, float, float]:
    """Return the same of a library that may display by itself."""
    displayed: list[Any] = []
    with patch("IPython.display.display", displayed.append), torch.no_grad():
        html, made, of_processor = run(lines, vars(importlib.import_module(HOMES[name])) | names)
    return "".join(one.data for one in displayed) + html, made, of_processor


def painted(html: str, folder: Path, is_there: str) -> tuple[int, float | None]:
    """Return the bytes of a file and the seconds to painted in a browser of its own, None where that never comes."""
    path = folder / "page.html"
    path.write_text(f'<!doctype html><meta charset="utf-8">{html}', encoding="utf-8")
    with visitor() as page:
        page.context.set_offline(True)
        began = time.perf_counter()
        try:
            page.goto(path.as_uri(), timeout=1000 * PATIENCE, wait_until="commit")
            page.wait_for_function(is_there, timeout=1000 * PATIENCE, polling="raf")
            return path.stat().st_size, time.perf_counter() - began
        except Error:
            return path.stat().st_size, None


def main() -> None:
    most = int(sys.argv[1]) if len(sys.argv) > 1 else LENGTHS[-1]
    missing = {}
    for name, home in HOMES.items():
        try:
            importlib.import_module(home)
        except ImportError as error:
            missing[name] = str(error)
            print(f"{name} is not measured: {error}.")
    small = bert(6, 384, 2)
    rows = [("library", "heads", "tokens", "lines", "MB", "s to make", "s of processor", "s to painted")]
    figures: dict[str, Any] = {"not_importable": missing, "patience_s": PATIENCE}

    def add(
        name: str, heads: str, n: int, lines: tuple[str, ...], made: list[float], file: tuple[int, float | None]
    ) -> None:
        size, seconds = file
        print(name, heads, n, file, flush=True)
        told = "never" if seconds is None else f"{seconds:.2f}"
        rows.append((name, heads, str(n), str(len(lines)), f"{size / 1e6:.2f}", *(f"{one:.2f}" for one in made), told))
        figures[f"{name}, {heads}, {n} tokens"] = {
            "lines": len(lines), "bytes": size, "seconds_to_make": round(made[0], 3),
            "seconds_of_processor": round(made[1], 3), "seconds_to_painted": seconds,
        }  # fmt: skip

    with tempfile.TemporaryDirectory() as folder:
        large = {f"12 x 12{words}": bert(12, 768, by) for words, by in (("", 1), (", sharp", 2), (", sharper", 4))}
        for heads, model in {"6 x 12": small, **large}.items():
            for n in LENGTHS:
                names = inputs_of(model, n)
                html, *made = run(OURS, names | {"trace_model": trace_model})
                add("ours", heads, n, OURS, made, painted(html, Path(folder), ALL_HEADS))
                for name, lines in OTHERS.items():
                    if name not in missing and model is small and n <= most:
                        html, *made = run_rival(name, lines, names)
                        add(name, heads, n, lines, made, painted(html, Path(folder), ANY_PICTURE))
    publish("notebook", rows, figures)


if __name__ == "__main__":
    main()

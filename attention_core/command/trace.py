"""`attention-explorer trace MODEL "text" -o FILE`: one run of a model, with every attention in it, becomes a file."""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from attention_core.attention.recording import Recording
from attention_core.command.needs import CommandError, need
from attention_core.explain.heads import describe_head, groups, summaries
from attention_core.hub.catalogue import OWN, fetch, find_model
from attention_core.hub.load import load_pretrained
from attention_core.hub.model import ModelError, Pretrained, in_megabytes
from attention_core.hub.run import ModelRun, run, text_inputs
from attention_core.topics.model import own_model

PICTURES = ("svg", "pdf", "png")
ENDINGS = ("npz", "html", *PICTURES)


def trace(given: Sequence[str]) -> None:
    """Record every attention of a model that reads a text, and write it into a file; progress goes to stderr."""
    parser = argparse.ArgumentParser("attention-explorer trace", description=trace.__doc__)
    parser.add_argument("model", metavar="MODEL", help="a hub id, a folder, or the name of a model on this machine")
    parser.add_argument("text", help="what it reads; an encoder-decoder writes its own target")
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="FILE", help=_endings())
    asked = parser.parse_args(given)
    path = _writable(asked.output)
    if path.suffix[1:] in PICTURES:
        need("charts")
    try:
        pretrained = _loaded(asked.model)
        _print_progress(f"Running {pretrained.name}")
        done = run(pretrained, text_inputs(pretrained, asked.text))
    except ModelError as error:
        raise CommandError(error) from error
    for note in done.notes:
        _print_progress(note)
    try:
        _write(done, asked.text, path)
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror or error}") from error
    _print_progress(f"{path}: {len(done.recording):,} attentions over {len(done.tokens):,} tokens")


def _endings() -> str:
    return "its ending says what it becomes: " + ", ".join(f".{ending}" for ending in ENDINGS)


def _writable(path: Path) -> Path:
    """Return the path if a file can be written there, before any time is spent on the model."""
    if path.suffix[1:] not in ENDINGS:
        raise CommandError(f"{path} cannot be written: {_endings()}")
    if path.is_dir() or not path.parent.is_dir():
        reason = "it is a folder" if path.is_dir() else f"there is no folder {path.parent}"
        raise CommandError(f"{path} cannot be written: {reason}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise CommandError(f"{path} cannot be written: permission denied")
    return path


def _loaded(name: str) -> Pretrained:
    """Return a model by its name or folder, fetched if it is not on this machine; a ModelError if it cannot be had."""
    _print_progress(f"Looking for {name}")
    candidate = find_model(name)
    if candidate.name in OWN:
        return own_model(candidate.name)
    folder = fetch(candidate, _Progress())
    _print_progress(f"Loading {candidate.name}")
    return load_pretrained(folder, name=candidate.name)


def _write(done: ModelRun, text: str, path: Path) -> None:
    recording = replace(done.recording, note=" ".join(done.notes), model=done.model, text=text)
    if path.suffix == ".npz":
        recording.save(path)
    elif path.suffix == ".html":
        recording.to_html(path)
    else:
        _draw(recording, path)


def _draw(recording: Recording, path: Path) -> None:
    from attention_core.charts.heads import heads_chart, mosaic

    found = groups(recording)
    group, layers = next(iter(found.items()))
    if len(found) > 1:
        _print_progress(
            f"{path} shows the attention of the {group}; an .npz file has that of the {', '.join([*found][1:])} too"
        )
    notes = [[describe_head(head) for head in layer] for layer in summaries(layers)]
    chart = heads_chart(mosaic(layers), notes)
    chart.save(path, title=f"Every head of {recording.model}, {group}")


class _Progress:
    """Tells of a download: every percent on a terminal, every tenth in a file."""

    def __init__(self) -> None:
        self._told = -1

    def __call__(self, done: int, total: int) -> None:
        share = 100 * done // max(total, 1)
        if share > self._told and (sys.stderr.isatty() or share >= self._told + 10 or share == 100):
            self._told = share
            _print_progress(f"Fetching: {in_megabytes(done)} of {in_megabytes(total)}", stays=share == 100)


def _print_progress(words: str, *, stays: bool = True) -> None:
    """Write a line of progress, over the last one if it does not stay and this is a terminal."""
    end = "\n" if stays or not sys.stderr.isatty() else "\r"
    print(words, end=end, file=sys.stderr, flush=True)

"""The lines of PyTorch that steps show, run with the tensors that they name."""

import ast
import re

import torch
import torch.nn.functional as F
from torch.nn.functional import normalize
from torch.testing import assert_close

from attention_core import AttentionTrace, DropHead, capture
from attention_core.attention.capture.trace_builder import TraceBuilder
from attention_core.attention.steps import steps_of
from attention_core.attention.types import Origin
from attention_core.data.next_words import read_line
from attention_core.data.pieces import END, load_vocabulary
from attention_core.data.questions import question_words
from attention_core.inference.next_word import foresee
from attention_core.inference.sentiment import read_sentence
from attention_core.inference.soft_lookup import soft_lookup
from attention_core.inference.translation import explain, explain_layers, read_source, translation_of
from attention_core.live_training.score_comparison import compare
from attention_core.models.next_word import CONFIGS
from attention_core.models.scene_question import SCORINGS as QUESTION_SCORINGS
from attention_core.models.transformer import KINDS

NAME = re.compile(r"[A-Za-z_]\w*")
TOOLS = {"torch": torch, "F": F, "normalize": normalize}


MAX_LINES, LONGEST = 3, 110


def stored(code: str) -> set[str]:
    nodes = ast.walk(ast.parse(code))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def check(trace: AttentionTrace) -> None:
    """Run every line of every step of every head."""
    for head in range(trace.n_heads):
        assigned: dict[str, object] = {}
        for step in steps_of(trace):
            where = f"{trace.story.mechanism}: {step.name}, head {head}\n{step.code}\n"
            check_looks(step.code, where)
            named = step.names(head)
            for name in named.keys() & assigned.keys():  # one name, one thing
                assert_close(named[name], assigned[name], atol=1e-5, rtol=1e-5, msg=lambda why, at=where: at + why)
            space = {**TOOLS, **named, **assigned}
            origin, before = step.origin(head), [space[name] for name in NAME.findall(step.code) if name in space]
            exec(step.code, space)
            value = step.value(head)
            digits = 1e-5 * max(1.0, float(value.abs().max()))  # float32 knows the largest number to so much
            assert_close(space[step.assigns], value, atol=digits, rtol=1e-5, msg=lambda why, at=where: at + why)
            check_change(origin, value, before, where)
            if not trace.edits:
                check_numbers(origin, value, 10 * digits, where)
            assigned |= {name: space[name] for name in space.keys() & stored(step.code)}


def check_change(origin: Origin, value: torch.Tensor, named: list[object], where: str) -> None:
    """What a step says that it changes is something that its line names, of the same shape."""
    if origin.kind in ("softmax", "mask", "change"):
        (before,) = origin.matrices
        assert before.numbers.shape == value.shape, where
        tensors = [one for one in named if isinstance(one, torch.Tensor) and one.shape == value.shape]
        assert any(torch.allclose(one.to(before.numbers), before.numbers, atol=1e-4) for one in tensors), where


def check_numbers(origin: Origin, value: torch.Tensor, digits: float, where: str) -> None:
    """A product, a softmax and a mask are the numbers of their step, but for a bias, a sink and what sees nothing."""
    if origin.kind == "product":
        left, right = (matrix.numbers.to(value) for matrix in origin.matrices)
        rest = value - left @ right
        assert_close(rest, rest[:1].expand_as(rest), atol=digits, rtol=1e-5, msg=lambda why: where + why)
    elif origin.kind == "pairs":
        queries, keys = origin.matrices
        assert (len(queries.numbers), keys.numbers.shape[1]) == value.shape, where
        assert queries.numbers.shape[1] == len(keys.numbers), where
    elif origin.kind == "softmax":
        shares = origin.matrices[0].numbers.softmax(-1).nan_to_num() * value.sum(-1, keepdim=True)
        assert_close(value, shares.to(value), atol=digits, rtol=1e-5, msg=lambda why: where + why)
    elif origin.kind == "mask":
        seen = value > -torch.inf
        assert_close(value[seen], origin.matrices[0].numbers[seen], atol=digits, rtol=1e-5, msg=lambda why: where + why)


def check_looks(code: str, where: str) -> None:
    """A step is one to three short lines, and computes: its last line does not hand over a finished matrix."""
    lines = code.splitlines()
    assert 1 <= len(lines) <= MAX_LINES, where
    assert max(map(len, lines)) <= LONGEST, where
    last = ast.parse(code).body[-1]
    assert isinstance(last, ast.Assign), where
    if isinstance(last.targets[0], ast.Name):
        assert not isinstance(last.value, ast.Name | ast.Constant), where


def rand(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def drawing(height: int, width: int) -> torch.Tensor:
    """An upright stroke with a roof, on paper."""
    picture = torch.zeros(height, width)
    picture[height // 5 : height // 4, width // 3 : 2 * width // 3] = 1
    picture[height // 5 : 4 * height // 5, width // 2 : width // 2 + 3] = 1
    return picture


SOURCE = "The red car is in front of the house."


SAID = [*load_vocabulary().cut(["▁la", "▁voiture", "▁rouge."]).ids, END]


SENTENCE = "Not bad at all , unwatchable though it is ."


QUESTION = "which digit is left of the blue one?"


def translated(name, model, edits):
    return [explain(model, read_source(SOURCE), translation_of(SAID), edits)]


def transformed(name, model, edits):
    by_place = {(kind, layer): edits for kind in KINDS for layer in range(model.config.n_layers)}
    return explain_layers(model, read_source(SOURCE), translation_of(SAID), by_place).values()


def judged(name, model, edits):
    sentence = read_sentence(SENTENCE)
    return [model.trace(sentence.pieces, sentence.words, edits)]


def asked(name, model, edits):
    words, picture = question_words(QUESTION), drawing(64, 64).expand(4, -1, -1)
    for scoring in QUESTION_SCORINGS:
        answered = model.explain(picture, words, scoring, edits)
        yield from (*answered.looks, *answered.words)


def classified(name, model, edits):
    yield model.trace(drawing(28, 28), edits)
    yield model.trace(drawing(28, 28)[::2, ::2], edits)


def patched(name, model, edits):
    return model.traces(drawing(28, 28), edits)


def traced(*given):
    """Return what gives the one trace of a model that is fed these."""
    return lambda name, model, edits: [model.trace(*given, edits)]


def read(name, model, edits):
    yield model.trace(drawing(48, 192), edits)
    yield model.read(drawing(48, 192), edits=(*edits, DropHead(0, query=1))).trace


def compared(name, model, edits):
    for d in model.config.dimensions:
        for trace in compare(model.scores(d), rand(3, d), rand(6, d, seed=1)).values():
            yield trace.replace(edits)


def grouped(name, model, edits):
    return model(torch.tensor([[1, 5, 25, 7]]), edits=edits, trace=True).traces


def foreseen(name, model, edits):
    edits = () if name == "next-word-over-queries" else edits  # whose own weights are edits already
    return foresee(model, read_line("Tom helped Mary."), edits=edits).traces


def continued(name, model, edits):
    with capture() as recording, torch.inference_mode():
        model(torch.arange(1, 12)[None])
    return [trace.replace(edits) for trace in recording.traces]


TRACES = {
    "pixel-classifier": classified,
    "pixel-notes": traced(drawing(28, 28)),
    "pixel-notes-ink": traced(drawing(28, 28)),
    "digit-vit": patched,
    "match3-pairwise": traced([1, 5, 25, 7]),
    "match3-simplicial": traced([1, 5, 25, 7]),
    **dict.fromkeys(("match3-one-layer", "match3-two-layers"), grouped),
    **{f"next-word-{variant}": foreseen for variant in CONFIGS},
    "scoring-functions": compared,
    **{
        f"translator-{scoring}": translated for scoring in ("none", "mean", "dot", "additive", "plain", "input-feeding")
    },
    "translator-transformer": transformed,
    "sentence-attention": judged,
    "sentence-mean": judged,
    "sentence-two-phase": judged,
    "feature-mask": traced(drawing(60, 60)),
    "feature-mean": traced(drawing(60, 60)),
    "digit-reader": read,
    "scene-question": asked,
    **dict.fromkeys(("scene-caption", "scene-caption-together"), traced(drawing(64, 64).expand(4, -1, -1))),
    "tatoeba-llama": continued,
    "language-recurrent": traced(range(1, 12), [str(number) for number in range(1, 12)]),
}


WITHOUT_TRACE = {
    "ffn-classifier",
    "language-recurrent-alone",
    "photo-classifier",
    *(f"pixel-notes-{variant}" for variant in ("product", "self", "uniform", "alone")),
}


def look_up(preset):
    """The trace of a look-up as its page opens it."""
    return soft_lookup(preset.records, preset.queries, preset.temperature)


def recorded(**more) -> AttentionTrace:
    """Four query heads that share two key heads, five queries, seven keys."""
    dtype = more.pop("dtype", torch.float32)
    query, key, value = (rand(1, *shape, dtype=dtype) for shape in ((4, 5, 3), (2, 7, 3), (2, 7, 6)))
    return TraceBuilder().trace(query, key, value, **more)


MASK = rand(5, 7, seed=3) > -0.5


MASK[3] = False


RECORDED = {
    "plain": {},
    "a scale": {"scale": 0.3},
    "causal": {"is_causal": True},
    "a mask with a blind query": {"mask": MASK},
    "a mask for each head": {"mask": rand(1, 4, 5, 7, seed=4) > -0.5},
    "a bias": {"mask": rand(4, 5, 7, seed=5)},
    "a bias that forbids": {"mask": torch.where(MASK, rand(5, 7, seed=6), -torch.inf)},
    "a softcap": {"softcap": 0.5, "bias": rand(1, 1, 7, seed=7)},
    "sinks": {"sinks": rand(4, seed=8), "is_causal": True},
    "sinks and a mask": {"sinks": rand(4, seed=8), "mask": MASK},
    "short floats": {"dtype": torch.bfloat16, "softcap": 0.7, "sinks": rand(4, seed=8)},
    "long floats": {"dtype": torch.float64, "mask": MASK},
}

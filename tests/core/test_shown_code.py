"""Every line of PyTorch that a step shows is run, head by head, and gives the step's own numbers.

A trace is walked from its first step to its last. A line may use what the lines before it assigned, and the tensors,
modules and numbers that the step says its code names; nothing else but torch itself.
"""

import ast
import itertools

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch.nn.functional import normalize
from torch.testing import assert_close

from attention_core import UNIFORM, AttentionTrace, BlockKeys, DropHead, SetScore, Temperature, capture, load
from attention_core.attention.capture.trace_builder import TraceBuilder
from attention_core.attention.recording import load_recording
from attention_core.attention.scores import SCORES
from attention_core.attention.steps import steps_of
from attention_core.data.pieces import END, load_vocabulary
from attention_core.data.questions import question_words
from attention_core.models import MODELS, attention_at_snapshot, build
from attention_core.models.scene_question import SCORINGS as QUESTION_SCORINGS
from attention_core.models.transformer import KINDS
from attention_core.models.translator import SCORINGS as TRANSLATOR_SCORINGS
from attention_core.models.translator import Translator, TranslatorConfig
from attention_core.topics.lookup.records import PRESETS as LOOKUP_PRESETS
from attention_core.topics.lookup.soft_lookup import soft_lookup
from attention_core.topics.matter.sentences import read_sentence
from attention_core.topics.scoring.compare import compare
from attention_core.topics.translate.translation import explain, explain_layers, read_source, translation_of
from attention_core.topics.vectors import PRESETS, Problem, Settings, trace_of
from attention_core.topics.vectors.problem import table_dimensions
from tests.traces import of_weights
from tests.traces import trace_of as attention_trace

TOOLS = {"torch": torch, "F": F, "normalize": normalize}
MAX_LINES, LONGEST = 3, 110
EVERYTHING = (Temperature(2.0), BlockKeys((1,)), DropHead(0), SetScore(0, 2, 1.5, head=0), SetScore(1, 0, -2.0, head=0))
EDITS = {
    "as it is": (),
    "uniform": UNIFORM,
    "another scale": (Temperature(0.5),),
    "a blocked key": (BlockKeys((1,)),),
    "an ablated head": (DropHead(0),),
    "edited scores": (SetScore(0, 2, 1.5, head=0), SetScore(1, 0, -2.0, head=0), SetScore(0, 2, 3.0, head=0)),
    "everything": EVERYTHING,
}
edited = pytest.mark.parametrize("edits", EDITS.values(), ids=EDITS)


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
            exec(step.code, space)
            value = step.value(head)
            digits = 1e-5 * max(1.0, float(value.abs().max()))  # float32 knows the largest number to so much
            assert_close(space[step.assigns], value, atol=digits, rtol=1e-5, msg=lambda why, at=where: at + why)
            assigned |= {name: space[name] for name in space.keys() & stored(step.code)}


def check_looks(code: str, where: str) -> None:
    """A step is one to three short lines, and computes: its last line does not hand over a finished matrix."""
    lines = code.splitlines()
    assert 1 <= len(lines) <= MAX_LINES, where
    assert max(map(len, lines)) <= LONGEST, where
    last = ast.parse(code).body[-1]
    assert isinstance(last, ast.Assign), where
    if isinstance(last.targets[0], ast.Name):
        assert not isinstance(last.value, ast.Name | ast.Constant), where


def with_edits(trace: AttentionTrace) -> None:
    for edits in EDITS.values():
        check(trace.replace(edits))


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
    "scoring-functions": compared,
    **{
        f"translator-{scoring}": translated
        for scoring in ("none", "none-256", "mean", "dot", "general", "additive", "plain")
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
ONE_KEY = {"translator-none", "translator-none-256", "translator-plain"}


WITHOUT_TRACE = {
    "ffn-classifier",
    "language-recurrent-alone",
    *(f"pixel-notes-{variant}" for variant in ("product", "self", "uniform", "alone")),
}


def test_every_model_that_has_a_trace_is_run():
    assert set(MODELS) == set(TRACES) | WITHOUT_TRACE


@pytest.mark.parametrize("name", TRACES)
def test_lines_of_a_trained_model(name):
    model = load(name, "cpu")
    for trace in TRACES[name](name, model, ()):
        check(trace)
        if trace.n_keys > 1:
            check(trace.replace((Temperature(2.0), BlockKeys((1,)), SetScore(0, 0, 1.5, head=0))))


@pytest.mark.parametrize("name", TRACES)
def test_lines_of_a_trained_model_whose_attention_was_edited(name):
    model = load(name, "cpu")
    several = [UNIFORM, (Temperature(0.5), *([] if name in ONE_KEY else [BlockKeys((1,))]), DropHead(0))]
    several.append((SetScore(0, 0, 1.5, head=0),))
    for edits in several:
        for trace in TRACES[name](name, model, edits):
            check(trace)


@pytest.mark.parametrize("scoring", TRANSLATOR_SCORINGS)
@pytest.mark.parametrize("cell", ["gru", "rnn"])
def test_lines_of_every_kind_of_recurrent_translator(scoring, cell):
    torch.manual_seed(0)
    model = Translator(TranslatorConfig(scoring, cell, d_embedding=20, d_state=24, d_additive=10)).eval()
    if scoring == "location":
        torch.nn.init.normal_(model.score_weight)
    for trace in translated("", model.requires_grad_(False), ()):
        check(trace)


def test_lines_name_the_parameters_of_the_moment_that_a_snapshot_shows():
    model = build("pixel-classifier").eval().requires_grad_(False)
    then = {f"0.{name}": one + 0.05 * rand(*one.shape) for name, one in model.named_parameters()}
    for trace in attention_at_snapshot(model, then, 0, drawing(28, 28)):
        check(trace)


@pytest.mark.parametrize("scoring", SCORES)
@pytest.mark.parametrize("letters", ["X", "XY", "Q"])
def test_lines_of_the_workbench_in_every_setting(letters, scoring):
    random, sizes = np.random.default_rng(5), {"n_queries": 5, "n_keys": 4, "d_model": 7, "d_memory": 3}
    sizes |= {"d_k": 2, "d_v": 6}
    counted = table_dimensions(letters).items()
    tables = {name: random.normal(size=(sizes[rows], sizes[columns])) for name, (rows, columns) in counted}
    for scaled, causal, heat, softmax in itertools.product((False, True), (False, True), (1.0, 0.7), (False, True)):
        trace = trace_of(Problem(tables, settings=Settings(scoring, scaled, heat, causal, softmax)))
        check(trace)
        if softmax and heat != 1:
            with_edits(trace)


@pytest.mark.parametrize("name", PRESETS)
def test_lines_of_every_preset_of_the_workbench(name):
    check(trace_of(PRESETS[name].problem()))


def look_up(preset):
    """The trace of a look-up as its page opens it."""
    return soft_lookup(preset.records, preset.queries, preset.temperature)


@pytest.mark.parametrize("name", LOOKUP_PRESETS)
def test_lines_of_a_look_up(name):
    trace = look_up(LOOKUP_PRESETS[name])
    check(trace)
    check(trace.replace((Temperature(2.0), BlockKeys((1,)))))


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


@pytest.mark.parametrize("more", RECORDED.values(), ids=RECORDED)
def test_lines_of_a_recorded_trace_and_of_its_edits(more):
    trace = recorded(**more)
    assert [step.name for step in steps_of(trace)][:3] == ["query", "key", "value"]
    check(trace)
    with_edits(trace)


@edited
def test_lines_of_captured_modules(edits, tmp_path):
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(12, 3, 16, batch_first=True).eval()
    with capture() as recording:
        layer(torch.randn(2, 6, 12), src_mask=torch.nn.Transformer.generate_square_subsequent_mask(6))
        F.scaled_dot_product_attention(rand(1, 4, 5, 8), rand(1, 2, 5, 8), rand(1, 2, 5, 8), enable_gqa=True)
    recording.save(tmp_path / "recording.npz")
    again = load_recording(tmp_path / "recording.npz")
    assert len(recording) == len(again) == 2
    for trace in (*recording.traces, *again.traces):
        check(trace.replace(edits))


@edited
def test_lines_of_a_trace_that_knows_nothing_but_weights(edits):
    weights = rand(2, 4, 5).softmax(-1)
    weights[0, 1, 2] = weights[1, 3] = 0
    short = 0.6 * weights  # something without a value took the rest
    for known in (weights, short):
        check(of_weights(known).replace(edits))
        check(of_weights(known))


def test_a_line_that_is_wrong_is_found():
    """The test itself: a scale that the line does not mention, and a name that nobody gives."""
    trace = attention_trace(rand(1, 3, 2), rand(1, 3, 2, seed=1), rand(1, 3, 2, seed=2))
    check(trace)
    for code, fault in (("scores = query @ key.T", AssertionError), ("scores = query @ nobody", NameError)):
        wrong = steps_of(trace)[1].__class__(**{**vars(steps_of(trace)[1]), "code": code})
        with pytest.raises(fault):
            check(trace.with_story(steps_before=(wrong,)))

"""Names of heads in a text: of heads that do one thing and nothing else, and what is too rare to give a name."""

import pytest
import torch

from attention_core import Axis
from attention_core.explain.head_names import clearest_heads, name_heads
from tests.support.traces import trace_of

TOKENS = ["[CLS]", "a", "b", "c", "a", "b", ".", "[SEP]"]
LOOKS = {
    "previous token": lambda at: max(at - 1, 0),
    "next token": lambda at: min(at + 1, 7),
    "itself": lambda at: at,
    "first token": lambda at: 0,
    "punctuation": lambda at: 6,
    "separator": lambda at: 7,
    "duplicate token": lambda at: {4: 1, 5: 2}.get(at, 3),
    "induction": lambda at: {4: 2, 5: 3}.get(at, 4),
}


def sharp_trace(*heads, tokens=TOKENS, **more):
    """Return a trace of heads each of whose queries gives all its weight to one key."""
    axis, keys = Axis("tokens", tokens), torch.eye(len(tokens)).expand(len(heads), -1, -1)
    looks = torch.tensor([[look(at) for at in range(len(tokens))] for look in heads])
    return trace_of(100 * torch.eye(len(tokens))[looks], keys, queries=axis, keys=axis, name="encoder.0.self", **more)


@pytest.mark.parametrize("name", LOOKS)
def test_a_head_that_does_one_thing_is_called_by_it(name):
    (named,) = name_heads([sharp_trace(LOOKS[name])], special={0, 7})
    assert (named.name, named.share) == (name, pytest.approx(1, abs=1e-6))


def test_even_weights_are_called_so_and_one_row_gives_no_name():
    trace = sharp_trace(LOOKS["itself"])
    (even,) = name_heads(
        [trace_of(0 * trace.query, trace.key, queries=trace.story.query_axis, keys=trace.story.query_axis)]
    )
    assert even.name == "everywhere"
    single = ["a", "b", "c", "d", "a", "e"]
    (named,) = name_heads([sharp_trace(lambda at: 1 if at == 4 else (at + 3) % 6, tokens=single)])
    assert named.name == "", "only one token was said before"


def test_the_clearest_of_each_name_comes_before_the_second_of_any():
    traces = [sharp_trace(LOOKS["itself"], LOOKS["itself"], LOOKS["first token"]) for _ in range(2)]
    ranked = clearest_heads(name_heads(traces, special={0, 7}))
    assert {head.name for head in ranked[:2]} == {"itself", "first token"}
    assert len(ranked) == 6

"""Attention over the edges of a graph is named as missed; other sums by index are left alone."""

import pytest
import torch
from torch import nn

from attention_core import capture
from tests.support.edge_sums import (
    WAYS,
    WIDTH,
    ByLogarithms,
    DividedLater,
    GATConv,
    N,
    Net,
    experts,
    histogram,
    mean_of_gated_messages,
    mean_pooling,
    softplus_sums,
)


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("add", WAYS)
@pytest.mark.parametrize("kind", [GATConv, DividedLater, ByLogarithms])
def test_attention_over_edges_is_named_as_missed(kind, add, beside):
    net, x = Net(kind(add), beside), torch.randn(N, WIDTH)
    plain = net(x)
    with capture() as recording:
        assert torch.equal(net(x), plain)
    assert recording.note.startswith(f"Not seen: conv ({kind.__name__}), a softmax over the edges of a graph")
    assert recording.note.count("Not seen") == 1
    assert recording.names == (["beside"] if beside else [])


@pytest.mark.parametrize("program", [histogram, mean_pooling, mean_of_gated_messages, experts, softplus_sums])
def test_other_sums_by_index_are_no_attention(program):
    attention, x = nn.MultiheadAttention(WIDTH, 2), torch.randn(N, WIDTH)
    with capture() as recording:
        program(attention(x, x, x)[0])
    assert len(recording) == 1
    assert "edges" not in recording.note
    assert ("whose softmax met no values" in recording.note) == (program is experts)

"""Attention over the edges of a graph is a map of nodes by nodes; other sums by index are left alone."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from attention_core import capture, trace_to_frame
from attention_core.attention.capture import edges
from tests.support.edge_sums import (
    SOURCE,
    TARGET,
    WAYS,
    WIDTH,
    ByLogarithms,
    DividedLater,
    GATConv,
    N,
    Net,
    by_loop,
    experts,
    histogram,
    mean_of_gated_messages,
    mean_pooling,
    softplus_sums,
)


@pytest.mark.parametrize("add", WAYS)
@pytest.mark.parametrize("kind", [GATConv, DividedLater, ByLogarithms])
def test_attention_over_edges_is_a_map_and_a_list_of_edges(kind, add):
    net, x = Net(kind(add), True), torch.randn(N, WIDTH)
    plain = net(x)
    with capture() as recording:
        assert torch.equal(net(x), plain)
    if add is by_loop:  # which shows no index
        assert recording.names == ["beside"]
        assert recording.note.startswith(f"Not seen: conv ({kind.__name__}), a softmax over the edges of a graph")
        return
    assert (recording.names, recording.note) == (["conv", "beside"], "")
    trace, is_edge = recording[0], torch.zeros(N, N, dtype=torch.bool)
    is_edge[TARGET, SOURCE] = True
    assert torch.equal(trace.weights() > 0, is_edge)
    assert_close(trace.context(), net.conv(x).detach())
    assert "the 12 edges of a graph" in trace.story.note
    assert len(trace_to_frame(trace, only_visible=True)) == is_edge.sum()


class ManyHeads(nn.Module):
    """As the layers of a library: nodes (n, heads, d), and shares that are dropped before they meet values."""

    def forward(self, x, source, target, n_targets=N):
        scores = (x[source] * x.flip(0)[target]).sum(-1)
        largest = torch.zeros(n_targets, 2).scatter_reduce(0, target[:, None].expand(-1, 2), scores, "amax")
        parts = (scores - largest.index_select(0, target)).exp()
        sums = parts.new_zeros(n_targets, 2).scatter_add_(0, target[:, None].expand(-1, 2), parts) + 1e-16
        weights = nn.functional.dropout(parts / sums.index_select(0, target), 0.5, False).unsqueeze(-1)
        messages = weights * x.index_select(0, source)
        return x.new_zeros(n_targets, *x.shape[1:]).scatter_add_(0, target.view(-1, 1, 1).expand_as(messages), messages)


def test_heads_of_edges_are_told_apart_and_of_large_graphs_the_first_rows_are_kept(monkeypatch):
    x = torch.randn(7, 2, 3)
    with capture() as recording:
        out = ManyHeads()(x, SOURCE, TARGET)
    for head in (0, 1):
        assert_close(recording[0].context(head), out[:, head])
    monkeypatch.setattr(edges, "MAX_CELLS", 3 * 2 * 7)
    with capture() as recording:
        ManyHeads()(x, SOURCE, TARGET)
    assert (recording[0].n_heads, recording[0].n_queries, recording[0].n_keys) == (2, 3, 7)
    assert_close(recording[0].context(1), out[:3, 1])
    assert "Of 5 queries the first 3 are kept" in recording[0].story.note


@pytest.mark.parametrize("program", [histogram, mean_pooling, mean_of_gated_messages, experts, softplus_sums])
def test_other_sums_by_index_are_no_attention(program):
    attention, x = nn.MultiheadAttention(WIDTH, 2), torch.randn(N, WIDTH)
    with capture() as recording:
        program(attention(x, x, x)[0])
    assert len(recording) == 1
    assert "edges" not in recording.note
    assert ("whose softmax met no values" in recording.note) == (program is experts)

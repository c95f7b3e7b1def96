"""Heads, items and chunks of one call are told by what is done to the output, or it is said that they are not."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.testing import assert_close

from attention_core import capture

BATCH, N, HEADS, D = 4, 6, 4, 3  # as many items as heads: no size tells them apart
WIDTH = HEADS * D


class Folded(nn.Module):
    """Attention over x (B, n, WIDTH); `attend` is given q, k, v (B, n, HEADS, D) and returns (B, n, WIDTH)."""

    num_heads = HEADS

    def __init__(self, attend):
        super().__init__()
        self.qkv, self.proj, self.attend = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH), attend

    def vectors(self, x):
        return [part.unflatten(-1, (HEADS, D)) for part in self.qkv(x).chunk(3, -1)]

    def forward(self, x):
        return self.proj(self.attend(*self.vectors(x)))


def scores(q, k):
    return torch.bmm(q, k.mT) / D**0.5


def written(q, k, v):
    return torch.bmm(scores(q, k).softmax(-1), v)


def heads_first(q, k, v, attention=written):
    """As in jadore801120/attention-is-all-you-need-pytorch."""
    batch, n = q.shape[:2]
    q, k, v = (t.permute(2, 0, 1, 3).contiguous().view(-1, t.shape[1], D) for t in (q, k, v))
    out = attention(q, k, v).view(HEADS, batch, n, D)
    return out.permute(1, 2, 0, 3).contiguous().view(batch, n, -1)


def items_first(q, k, v, attention=written):
    """As in BART of 2020."""
    batch, n = q.shape[:2]
    q, k, v = (t.transpose(1, 2).reshape(batch * HEADS, t.shape[1], D) for t in (q, k, v))
    return attention(q, k, v).view(batch, HEADS, n, D).transpose(1, 2).reshape(batch, n, WIDTH)


def split_and_put_together(q, k, v, attention=written):
    """As in Kyubyong/transformer: cat(split(...)) on both sides."""
    q, k, v = (torch.cat(t.flatten(2).split(D, 2), 0) for t in (q, k, v))
    return torch.cat(attention(q, k, v).chunk(HEADS, 0), 2)


def sequence_first(q, k, v, attention=written):
    """As in fairseq: (n, B, C) inside."""
    batch, n = q.shape[:2]
    q, k, v = (t.transpose(0, 1).reshape(t.shape[1], batch * HEADS, D).transpose(0, 1) for t in (q, k, v))
    out = attention(q, k, v).transpose(0, 1).contiguous().view(n, batch, WIDTH)
    return out.transpose(0, 1)


def head_axis_first(q, k, v, attention=None):
    """As in the examples of einops: "head b n d"."""
    q, k, v = (t.permute(2, 0, 1, 3) for t in (q, k, v))
    if attention is not None and attention is not written:
        out = attention(q, k, v)
    else:
        out = torch.einsum("hblt,hbtv->hblv", (torch.einsum("hblk,hbtk->hblt", q, k) / D**0.5).softmax(-1), v)
    return out.permute(1, 2, 0, 3).flatten(2)


def by_einsum(q, k, v, attention=written):
    """The output projection takes heads apart itself."""
    batch, n = q.shape[:2]
    q, k, v = (t.permute(2, 0, 1, 3).reshape(-1, t.shape[1], D) for t in (q, k, v))
    out = attention(q, k, v).view(HEADS, batch, n, D) * 1.5
    return torch.einsum("hbnd,hde->bne", out, torch.ones(HEADS, D, WIDTH))


FOLDED = [heads_first, items_first, split_and_put_together, sequence_first, head_axis_first, by_einsum]


def model_of(attend):
    torch.manual_seed(0)
    model = Folded(attend)
    with torch.no_grad():
        model.qkv.weight.mul_(3)
    return model, torch.randn(BATCH, N, WIDTH)


def expected(model, x):
    """(B, HEADS, n, n)."""
    q, k, _ = model.vectors(x)
    return (torch.einsum("bnhd,bmhd->bhnm", q, k) / D**0.5).softmax(-1).detach()


def check(trace, weights):
    assert trace.n_heads == len(weights)
    for head, own in enumerate(weights):
        assert_close(trace.weights(head), own, atol=1e-5, rtol=0)


@pytest.mark.parametrize("grad", [torch.enable_grad, torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize("item", [0, 1])
@pytest.mark.parametrize("attention", [written, F.scaled_dot_product_attention])
@pytest.mark.parametrize("attend", FOLDED)
def test_heads_and_items_in_one_axis_are_read_from_the_output(attend, attention, item, grad):
    model, x = model_of(lambda q, k, v: attend(q, k, v, attention))
    with grad(), capture(item=item) as recording:
        model(x)
    (trace,) = recording
    check(trace, expected(model, x)[item])
    assert_close(trace.value, model.vectors(x)[2][item].transpose(0, 1).detach())
    assert trace.story.note == (
        "Item 1 of 4 of the batch, counted from 0." if item else "The first of 4 items of the batch."
    )


@pytest.mark.parametrize("attention", [written, F.scaled_dot_product_attention])
def test_an_order_that_nothing_tells_is_not_assumed(attention):
    q, k, v = torch.randn(3, BATCH * HEADS, N, D)
    with capture(item=1) as recording:
        attention(q, k, v).sum()
    (trace,) = recording
    check(trace, scores(q, k).softmax(-1))
    assert "no dimension for heads" in trace.story.note


@pytest.mark.parametrize("attend", FOLDED)
def test_all_items_are_kept_by_name(attend):
    model, x = model_of(attend)
    with capture(item="all") as recording:
        nn.Sequential(model)(x)
    assert recording.names == [f"0 (item {item})" for item in range(BATCH)]
    for trace, weights in zip(recording, expected(model, x), strict=True):
        check(trace, weights)


def one_head_without_a_name(q, k, v):
    return written(*(t.flatten(2) for t in (q, k, v)))


@pytest.mark.parametrize("item", [0, 2])
def test_one_head_of_several_items(item):
    model, x = model_of(one_head_without_a_name)
    with capture(item=item) as recording:
        model(x)
    q, k, _ = (t.flatten(2) for t in model.vectors(x))
    check(recording[0], scores(q, k).softmax(-1)[item, None].detach())


def in_chunks_of_queries(q, k, v, attention=None):
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    chunks = [F.scaled_dot_product_attention(some, k, v) for some in q.split(4, 2)]
    return torch.cat(chunks, 2).transpose(1, 2).flatten(2)


def written_into_a_buffer(q, k, v, attention=None):
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    out = torch.zeros_like(q)
    for start in range(0, N, 4):
        some = slice(start, start + 4)
        out[:, :, some] = (q[:, :, some] @ k.mT / D**0.5).softmax(-1) @ v
    return out.transpose(1, 2).flatten(2)


def folded_in_chunks(q, k, v, attention=None):
    return heads_first(q, k, v, lambda q, k, v: torch.cat([written(some, k, v) for some in q.split(2, 1)], 1))


def head_by_head(q, k, v, attention=None):
    return torch.cat([written(q[:, :, head], k[:, :, head], v[:, :, head]) for head in range(HEADS)], -1)


def item_by_item(q, k, v, attention=None):
    outs = []
    for own in zip(q, k, v, strict=True):
        outs.append(F.scaled_dot_product_attention(*(t.transpose(0, 1) for t in own)).transpose(0, 1).reshape(N, WIDTH))
    return torch.stack(outs)


LOOPS = [in_chunks_of_queries, written_into_a_buffer, folded_in_chunks, head_by_head, item_by_item]


@pytest.mark.parametrize("item", [0, 1, "all"])
@pytest.mark.parametrize("attend", LOOPS)
def test_parts_of_one_call_are_one_trace_and_a_loop_over_items_obeys_item(attend, item):
    model, x = model_of(attend)
    with capture(item=item) as recording:
        nn.Sequential(model)(x)
    kept = range(BATCH) if item == "all" else [item]
    assert recording.names == ([f"0 (item {one})" for one in kept] if item == "all" else ["0"])
    for trace, one in zip(recording, kept, strict=True):
        check(trace, expected(model, x)[one])
        assert f"Item {one} of 4" in trace.story.note or one == 0


def test_calls_that_only_look_alike_stay_apart():
    class Two(nn.Module):
        def forward(self, q, k, v):
            return torch.cat(
                [F.scaled_dot_product_attention(q, k, v), F.scaled_dot_product_attention(q, v, k)], 2
            ).sin()

    with capture() as recording:
        Two()(*torch.randn(3, BATCH, HEADS, N, D))
    assert len(recording) == 2


class Windows(Folded):
    """Swin: windows of two positions, cut out of each item."""

    def forward(self, x):
        return super().forward(x.reshape(-1, 2, WIDTH)).view_as(x)


@pytest.mark.parametrize("item", [0, 2, "all"])
@pytest.mark.parametrize("attend", [items_first, heads_first, in_chunks_of_queries])
def test_windows_are_those_of_the_item_and_named(attend, item):
    torch.manual_seed(0)
    model, x = Windows(attend), torch.randn(BATCH, N, WIDTH)
    with capture(item=item) as recording:
        nn.Sequential(model)(x)
    weights = expected(model, x.reshape(-1, 2, WIDTH)).unflatten(0, (BATCH, 3))
    if item == "all":
        assert recording.names[4] == "0 (item 1, window 1)"
        assert len(recording) == BATCH * 3
        check(recording[4], weights[1, 1])
    else:
        check(recording[0], weights[item, 0])
        assert recording[0].story.note.startswith("Part 6 of 12" if item else "The first of 12 parts")

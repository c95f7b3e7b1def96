"""Attention as people write it: heads and items in one axis, in any order, or in loops and chunks."""

import torch
import torch.nn.functional as F
from torch import nn

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


def one_head_without_a_name(q, k, v):
    return written(*(t.flatten(2) for t in (q, k, v)))


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


class Windows(Folded):
    """Swin: windows of two positions, cut out of each item."""

    def forward(self, x):
        return super().forward(x.reshape(-1, 2, WIDTH)).view_as(x)

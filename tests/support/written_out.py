"""Attention written out in the ways of public code; every module keeps its weights of the last call, (B, H, n, m)."""

import math

import torch
import torch.nn.functional as F
from torch import einsum, nn

WIDTH, HEADS = 12, 3
D = WIDTH // HEADS


class Written(nn.Module):
    """Projects x (B, n, WIDTH); `weigh` makes the weights of q, k, v (B, HEADS, n, D).

    Or `attend` makes both the weights and the context.
    """

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.proj = nn.Linear(WIDTH, WIDTH)
        self.drop = nn.Dropout(0.25)
        self.extra = nn.Parameter(torch.randn(HEADS, 7, 7))

    def forward(self, x):
        batch, n, _ = x.shape
        q, k, v = self.qkv(x).reshape(batch, n, 3, HEADS, D).permute(2, 0, 3, 1, 4)
        self.weights, context = self.attend(q, k, v)
        return self.proj(context.transpose(1, 2).reshape(batch, n, -1))

    def attend(self, q, k, v):
        weights = self.weigh(q, k, v)
        return weights, weights @ v


class MinGPT(Written):
    """Masked with -inf, scaled after the product."""

    def attend(self, q, k, v):
        n = q.shape[2]
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(torch.ones(n, n).tril().view(1, 1, n, n) == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        return att, self.drop(att) @ v


class Annotated(Written):
    """Divided by the root, masked with -1e9."""

    def attend(self, q, k, v):
        mask = torch.ones(1, 1, 1, k.shape[2])
        mask[..., -2:] = 0
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
        p_attn = scores.masked_fill(mask == 0, -1e9).softmax(dim=-1)
        return p_attn, torch.matmul(self.drop(p_attn), v)


class ViTPytorch(Written):
    """Softmax is a module of its own."""

    def __init__(self):
        super().__init__()
        self.attend_by = nn.Softmax(dim=-1)

    def attend(self, q, k, v):
        dots = torch.matmul(q, k.transpose(-1, -2)) * D**-0.5
        attn = self.drop(self.attend_by(dots))
        return self.attend_by(dots), torch.matmul(attn, v)


class Timm(Written):
    """Scaled before the product."""

    def attend(self, q, k, v):
        q = q * D**-0.5
        attn = (q @ k.transpose(-2, -1)).softmax(dim=-1)
        return attn, self.drop(attn) @ v


class Swin(Written):
    """A bias for relative positions, and a mask of windows added in another shape."""

    def weigh(self, q, k, v):
        windows, n = q.shape[0], q.shape[2]
        mask = torch.zeros(windows, n, n)
        mask[0, :2, 2:] = -100.0
        attn = (q * D**-0.5) @ k.transpose(-2, -1)
        attn = attn + self.extra[:, :n, :n].unsqueeze(0)
        attn = attn.view(1, windows, HEADS, n, n) + mask.unsqueeze(1).unsqueeze(0)
        return attn.view(-1, HEADS, n, n).softmax(-1)


class SwinCosine(Written):
    """Cosines, with a learned scale per head."""

    def weigh(self, q, k, v):
        attn = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)
        attn = attn * torch.linspace(3, 9, HEADS).view(HEADS, 1, 1)
        return (attn + self.extra[:, : q.shape[2], : q.shape[2]]).softmax(-1)


class XTransformers(Written):
    """einsum, a mask of the smallest number, softmax in float32."""

    def attend(self, q, k, v):
        n = q.shape[2]
        sim = einsum("b h i d, b h j d -> b h i j", q, k) * D**-0.5
        causal = torch.ones((n, n), dtype=torch.bool).triu(1)
        sim = sim.masked_fill(causal, -torch.finfo(sim.dtype).max)
        attn = F.softmax(sim, dim=-1, dtype=torch.float32).type(sim.dtype)
        return attn, einsum("b h i j, b h j d -> b h i d", self.drop(attn), v)


class MultiQuery(Written):
    """All heads share one key and one value."""

    def attend(self, q, k, v):
        k, v = k[:, 0], v[:, 0]
        sim = einsum("b h i d, b j d -> b h i j", q * D**-0.5, k)
        attn = (sim - sim.amax(dim=-1, keepdim=True).detach()).softmax(dim=-1)
        return attn, einsum("b h i j, b j d -> b h i d", attn, v)


class Merged(Written):
    """Items and heads in one dimension, bmm; the module says how many heads there are."""

    num_heads = HEADS

    def attend(self, q, k, v):
        batch, n = len(q), q.shape[2]
        q, k, v = (t.reshape(batch * HEADS, n, D) for t in (q * D**-0.5, k, v))
        weights = torch.bmm(q, k.transpose(1, 2)).view(batch, HEADS, n, n) + torch.ones(n, n).triu(1) * -1e4
        weights = F.softmax(weights.view(batch * HEADS, n, n), dim=-1)
        return weights.view(batch, HEADS, n, n), torch.bmm(F.dropout(weights, 0.3, self.training), v).view(
            batch, HEADS, n, D
        )


class Baddbmm(Written):
    """A bias goes into the product."""

    def attend(self, q, k, v):
        batch, n = len(q), q.shape[2]
        q, k = (t.reshape(batch * HEADS, n, D) for t in (q, k))
        alibi = torch.linspace(0, 1, HEADS)[:, None, None] * torch.arange(n)
        scores = alibi.repeat(batch, 1, 1).baddbmm(q, k.mT, beta=0.7, alpha=D**-0.5)
        attn = scores.view(batch, HEADS, n, n).softmax(-1)
        return attn, (attn.view(-1, n, n) @ v.reshape(-1, n, D)).view(batch, HEADS, n, D)


class GPTJ(Written):
    """torch.where with the smallest number, scores in float32, scale by a tensor."""

    def attend(self, q, k, v):
        n = q.shape[2]
        scores = torch.matmul(q.to(torch.float32), k.to(torch.float32).transpose(-1, -2))
        allowed = torch.ones(n, n, dtype=torch.bool).tril()
        least = torch.tensor(torch.finfo(scores.dtype).min)
        scores = torch.where(allowed, scores, least) / torch.tensor(D).sqrt()
        weights = nn.functional.softmax(scores, dim=-1).to(v.dtype)
        return weights, torch.matmul(self.drop(weights), v)


class Softcapped(Written):
    """Bent towards 2 before the mask."""

    def attend(self, q, k, v):
        n = q.shape[2]
        scores = torch.tanh(q @ k.mT * D**-0.5 / 2.0) * 2.0
        scores += torch.full((n, n), -torch.inf).triu(1)
        return scores.softmax(-1), scores.softmax(-1) @ v


class ClassAttention(Written):
    """One query asks all positions."""

    def attend(self, q, k, v):
        attn = ((q[:, :, :1] * D**-0.5) @ k.transpose(-2, -1)).softmax(dim=-1)
        return attn, self.drop(attn) @ v

    def forward(self, x):
        batch = len(x)
        q, k, v = (t.unflatten(-1, (HEADS, D)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        self.weights, context = self.attend(q, k, v)
        return self.proj(context.transpose(1, 2).reshape(batch, 1, -1))


class HeadsLast(Written):
    """Scores are (batch, query, key, head), the softmax over their third dimension."""

    def attend(self, q, k, v):
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        attn = einsum("blhe,bshe->blsh", q, k).div(math.sqrt(D)).softmax(dim=2)
        return attn.permute(0, 3, 1, 2), einsum("blsh,bshd->bhld", attn, v)


class KeysFirst(Written):
    """The product is the other way round, k q^T, turned before the softmax."""

    def attend(self, q, k, v):
        attn = ((k @ q.mT).mT * D**-0.5).softmax(-1)
        return attn, (v.mT @ attn.mT).mT


class DecomposedPositions(Written):
    """Biases for rows and columns of a grid of 2 x 3, added in a shape of five dimensions."""

    def weigh(self, q, k, v):
        n = q.shape[2]
        attn = (q * D**-0.5) @ k.mT
        down = einsum("bhnd,rd->bhnr", q, self.extra[0, :2, :D])
        right = einsum("bhnd,cd->bhnc", q, self.extra[1, :3, :D])
        attn = attn.view(len(q), HEADS, n, 2, 3) + down[..., :, None] + right[..., None, :]
        return attn.view(len(q), HEADS, n, n).softmax(-1)


class InPlace(Written):
    """Everything is written over what was there."""

    def weigh(self, q, k, v):
        n = q.shape[2]
        scores = torch.matmul(q, k.mT)
        scores *= D**-0.5
        scores.add_(self.extra[:, :n, :n])
        scores.masked_fill_(torch.ones(n, n, dtype=torch.bool).triu(1), -torch.inf)
        return scores.softmax(-1)


class Bahdanau(Written):
    """Scores of a small network: no queries and keys."""

    def weigh(self, q, k, v):
        scores = (q.unsqueeze(3) + k.unsqueeze(2)).tanh().sum(-1)
        return scores.softmax(-1)


class TalkingBefore(Written):
    """Scores are mixed between the heads before the softmax."""

    def weigh(self, q, k, v):
        return einsum("b h i j, h g -> b g i j", q @ k.mT, self.extra[0, :HEADS, :HEADS]).softmax(-1)


class TalkingAfter(Written):
    """Weights are mixed between the heads after the softmax, by a linear layer over heads."""

    def __init__(self):
        super().__init__()
        self.talk = nn.Linear(HEADS, HEADS)

    def attend(self, q, k, v):
        attn = (q @ k.mT * D**-0.5).softmax(-1)
        return attn, self.talk(attn.permute(0, 2, 3, 1)).permute(0, 3, 1, 2) @ v


class TalkingByConvolution(Written):
    """Weights are mixed between the heads by a convolution."""

    def __init__(self):
        super().__init__()
        self.talk = nn.Conv2d(HEADS, HEADS, 1)

    def attend(self, q, k, v):
        attn = (q @ k.mT * D**-0.5).softmax(-1)
        return attn, self.talk(attn) @ v


class Renormalised(Written):
    """Weights are masked after the softmax and divided by their sum."""

    def weigh(self, q, k, v):
        attn = (q @ k.mT).softmax(-1) * (torch.arange(k.shape[2]) < 4)
        return attn / attn.sum(-1, keepdim=True)


class Sink(Written):
    """A score that belongs to no key takes its share."""

    def weigh(self, q, k, v):
        sinks = self.extra[:, 0, 0].view(1, -1, 1, 1).expand(len(q), -1, q.shape[2], 1)
        return torch.cat([q @ k.mT, sinks], -1).softmax(-1)[..., :-1]


class GroupedQueries(Written):
    """Two heads in two groups share keys, in five dimensions; the module says how many there are in all."""

    num_heads = 4

    def forward(self, x):
        batch, n, _ = x.shape
        q, k, v = (t.view(batch, n, 2, 2, 3) for t in self.qkv(x).chunk(3, -1))
        k, v = k[:, :, :, 0], v[:, :, :, 0]
        attn = einsum("bnghd,bmgd->bghnm", q, k).div(math.sqrt(3)).softmax(-1)
        self.weights = attn.flatten(1, 2)
        return self.proj(einsum("bghnm,bmgd->bnghd", attn, v).reshape(batch, n, -1))


class OneHead(Written):
    """Weights (batch, n, n) of a module that says nothing of heads: the first dimension is the batch's."""

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        attn = F.softmax(torch.bmm(q, k.transpose(1, 2)) / math.sqrt(WIDTH), dim=2)
        self.weights = attn[:, None]
        return self.proj(torch.bmm(attn, v))


class PooledByOneQuery(OneHead):
    """Weights (batch, n) of the last position alone."""

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        attn = einsum("bd,bnd->bn", q[:, -1], k).softmax(-1)
        self.weights = attn[:, None, None]
        return self.proj(einsum("bn,bnd->bd", attn, v))


class ImageBlock(OneHead):
    """As in networks for pictures, (batch, channels, n): weights are turned before they meet the values."""

    def forward(self, x):
        q, k, v = self.qkv(x).mT.chunk(3, 1)
        attn = F.softmax(torch.bmm(q.mT, k) * WIDTH**-0.5, dim=2)
        self.weights = attn[:, None]
        return self.proj(torch.bmm(v, attn.mT).mT)


class Multiplied(Written):
    """Masked by a product with 0 and a number far below, as the first GPT."""

    def weigh(self, q, k, v):
        allowed = torch.ones(q.shape[2], q.shape[2]).tril()
        scores = q @ k.mT / math.sqrt(D)
        return (scores * allowed + -1e4 * (1 - allowed)).softmax(-1)


class WhereFull(Written):
    """torch.where with a whole tensor of -inf."""

    def weigh(self, q, k, v):
        scores = q @ k.mT * D**-0.5
        allowed = torch.ones(q.shape[2], q.shape[2], dtype=torch.bool).tril()
        return torch.where(allowed, scores, torch.full_like(scores, -torch.inf)).softmax(-1)


class Clamped(Written):
    """Kept within bounds that are not reached."""

    def weigh(self, q, k, v):
        return (q @ k.mT * D**-0.5).clamp(-5e4, 5e4).softmax(-1)


class ClampedHard(Written):
    """Kept within bounds that are reached."""

    def weigh(self, q, k, v):
        return (q @ k.mT * D**-0.5).clamp(-0.1, 0.1).softmax(-1)


class MultipliedOnly(Written):
    """Scores of the later positions are 0, and may be looked at."""

    def weigh(self, q, k, v):
        return (q @ k.mT * torch.ones(q.shape[2], q.shape[2]).tril()).softmax(-1)


class TalkingByEinsum(Written):
    """Weights are mixed between the heads by a matrix, then normed over the heads."""

    def attend(self, q, k, v):
        attn = (q @ k.mT * D**-0.5).softmax(-1)
        mixed = einsum("b h i j, h g -> b g i j", attn, self.extra[0, :HEADS, :HEADS])
        return attn, F.layer_norm(mixed.permute(0, 2, 3, 1), (HEADS,)).permute(0, 3, 1, 2) @ v


RECOVERED = (
    *(MinGPT, Annotated, ViTPytorch, Timm, Swin, SwinCosine, XTransformers, MultiQuery, Merged, Baddbmm, GPTJ),
    *(Softcapped, ClassAttention, HeadsLast, KeysFirst, DecomposedPositions, InPlace),
    *(Multiplied, WhereFull, Clamped),
)
"""Queries, keys and scale are found."""
WEIGHTS_ALONE = (Bahdanau, TalkingBefore, Renormalised, Sink, ClampedHard, MultipliedOnly)
"""Weights and values are found."""
MIXED = (TalkingAfter, TalkingByConvolution, TalkingByEinsum)
"""The weights that met the values are no longer those of a softmax."""
OTHER_HEADS = (GroupedQueries, OneHead, PooledByOneQuery, ImageBlock)
"""Their heads are not those of the others, and stand elsewhere."""

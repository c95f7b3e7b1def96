"""Layers with attention of any name, computed and turned by positions in any way."""

import torch
import torch.nn.functional as F
from torch import nn


class Looks(torch.nn.Module):
    """Attention of one tensor to another, fused or written out."""

    def __init__(self, is_fused):
        super().__init__()
        self.q, self.k, self.v, self.o = (torch.nn.Linear(8, 8) for _ in range(4))
        self.is_fused = is_fused

    def forward(self, x, memory, _):
        made = self.q(x), self.k(memory), self.v(memory)
        query, key, value = (one.unflatten(-1, (2, 4)).transpose(1, 2) for one in made)
        if self.is_fused:
            mixed = torch.nn.functional.scaled_dot_product_attention(query, key, value)
        else:
            mixed = (query @ key.mT / 2).softmax(-1) @ value
        return (self.o(mixed.transpose(1, 2).flatten(2)),)


class WithNames(torch.nn.Module):
    """A decoder layer whose attention to the encoder has any name, computed in one of three ways."""

    def __init__(self, name, way):
        super().__init__()
        kinds = {one: self.attention(way) for one in ("own", name)}
        self.name, self.layers = name, torch.nn.ModuleList([torch.nn.ModuleDict(kinds)])
        self.norm = torch.nn.LayerNorm(8)

    def attention(self, way):
        return torch.nn.MultiheadAttention(8, 2, batch_first=True) if way == "module" else Looks(way == "fused")

    def forward(self, x, memory):
        (layer,) = self.layers
        x = x + layer["own"](self.norm(x), *[self.norm(x)] * 2)[0]
        return x + layer[self.name](self.norm(x), memory, memory)[0]


class Rotates(torch.nn.Module):
    """Turns queries and keys by their positions in one of the usual ways, or not at all."""

    def __init__(self, way):
        super().__init__()
        self.qkv, self.way = torch.nn.Linear(8, 24), way

    def turned(self, x):
        angles = torch.arange(x.shape[-2])[:, None] * torch.tensor([1.0, 0.1])
        if self.way == "halves":
            cos, sin = (torch.cat([part, part], -1) for part in (angles.cos(), angles.sin()))
            first, second = x.chunk(2, -1)
            return x * cos + torch.cat([-second, first], -1) * sin
        if self.way == "complex":
            pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
            return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)
        if self.way == "pairs":
            even, odd = x[..., ::2], x[..., 1::2]
            both = even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()
            return torch.stack(both, -1).flatten(-2)
        return x * 0.5

    def forward(self, x):
        query, key, value = self.qkv(x).unflatten(-1, (3, 2, 4)).permute(2, 0, 3, 1, 4)
        return torch.nn.functional.scaled_dot_product_attention(self.turned(query), self.turned(key), value)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(12, 36)

    def forward(self, x):
        query, key, value = self.qkv(x).unflatten(-1, (3, 3, 4)).permute(2, 0, 3, 1, 4)
        return x + F.scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(2)


class Alone(nn.Module):
    """One attention without heads, which is called by keywords alone."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(12)

    def forward(self, *, x):
        x = self.norm(x)
        return F.scaled_dot_product_attention(x, x, x)


class Meeting(nn.Module):
    """Waits for another thread in the middle of its forward."""

    def __init__(self, meet):
        super().__init__()
        self.block, self.meet = Block(), meet

    def forward(self, x):
        self.meet()
        x = self.block(x)
        self.meet()
        return x

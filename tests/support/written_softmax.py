"""Softmaxes that are written out, and shares that are no attention."""

import torch
import torch.nn.functional as F
from torch import nn

B, H, N, D = 2, 3, 6, 4
CAUSAL = torch.ones(N, N, dtype=torch.bool).tril()


def vectors():
    return torch.randn(3, B, H, N, D, generator=torch.Generator().manual_seed(0)).mul(1.5).unbind()


def log_softmax(s, v):
    return s.log_softmax(-1).exp() @ v


def exp_over_sum(s, v):
    powers = (s - s.amax(-1, keepdim=True)).exp()
    return (powers / powers.sum(-1, keepdim=True)) @ v


def exp_in_place(s, v):
    powers = s.sub(s.max(-1, keepdim=True)[0]).exp_()
    powers /= powers.sum(-1, keepdim=True) + 1e-9
    return powers @ v


def minus_logsumexp(s, v):
    return torch.exp(s - s.logsumexp(-1, keepdim=True)) @ v


def normalised_by_l1(s, v):
    return F.normalize(s.exp(), p=1, dim=-1) @ v


def normalised_after_the_product(s, v):
    powers = s.exp()
    return powers @ v / powers.sum(-1, keepdim=True)


def normalised_after_in_another_shape(s, v):
    powers = torch.exp(s - s.amax(-1, keepdim=True))
    return (powers @ v).transpose(1, 2) / powers.sum(-1).transpose(1, 2)[..., None]


BY_HAND = [
    *(log_softmax, exp_over_sum, exp_in_place, minus_logsumexp, normalised_by_l1),
    *(normalised_after_the_product, normalised_after_in_another_shape),
]


class Experts(nn.Module):
    """All experts answer, and each position mixes them."""

    def __init__(self):
        super().__init__()
        self.gate, self.experts = nn.Linear(D, 5), nn.ModuleList(nn.Linear(D, D) for _ in range(5))

    def forward(self, x):
        answers = torch.stack([expert(x) for expert in self.experts], 2)
        return torch.einsum("bne,bned->bnd", (self.gate(x) / 2).softmax(-1), answers)


class DynamicConvolution(nn.Module):
    """As in ConvBERT: each position has a kernel of its own."""

    def __init__(self):
        super().__init__()
        self.kernel = nn.Linear(D, 3)

    def forward(self, x):
        around = F.pad(x, (0, 0, 1, 1)).unfold(1, 3, 1)  # (batch, n, D, 3)
        kernels = self.kernel(x).reshape(-1, 3, 1).softmax(1)
        return (around.reshape(-1, D, 3) @ kernels).view_as(x)


class SoftClasses(nn.Module):
    """The likely words, looked up softly in a table."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(9, D)

    def forward(self, x):
        return (x @ self.table.weight.T).softmax(-1) @ self.table.weight

"""Attention over the edges of a graph as people write it, and sums by index that are none."""

import torch
from torch import nn

N, EDGES, WIDTH = 5, 12, 4
SOURCE = torch.randint(N, (EDGES,), generator=torch.Generator().manual_seed(0))
TARGET = torch.randint(N, (EDGES,), generator=torch.Generator().manual_seed(1))


def by_index_add(values, rows):
    return values.new_zeros(N, *values.shape[1:]).index_add(0, rows, values)


def by_scatter_add(values, rows):
    places = rows.view(-1, *(1,) * (values.ndim - 1)).expand_as(values)
    return torch.zeros(N, *values.shape[1:]).scatter_add_(0, places, values)


def by_scatter_reduce(values, rows):
    places = rows.view(-1, *(1,) * (values.ndim - 1)).expand_as(values)
    return torch.zeros(N, *values.shape[1:]).scatter_reduce(0, places, values, "sum")


def by_index_put(values, rows):
    return torch.zeros(N, *values.shape[1:]).index_put_((rows,), values, accumulate=True)


def by_loop(values, rows):
    result = torch.zeros(N, *values.shape[1:])
    for row in range(N):
        result[row] = values[rows == row].sum(0)
    return result


WAYS = [by_index_add, by_scatter_add, by_scatter_reduce, by_index_put, by_loop]


def shares(scores, add):
    largest = torch.full((N,), -torch.inf).scatter_reduce(0, TARGET, scores, "amax")
    return (scores - largest[TARGET]).exp()


class GATConv(nn.Module):
    def __init__(self, add):
        super().__init__()
        self.lin, self.att, self.add = nn.Linear(WIDTH, WIDTH), nn.Linear(2 * WIDTH, 1), add

    def forward(self, x):
        values = self.lin(x)
        scores = self.att(torch.cat([values[SOURCE], values[TARGET]], -1)).squeeze(-1)
        parts = shares(nn.functional.leaky_relu(scores, 0.2), self.add)
        weights = parts / (self.add(parts, TARGET) + 1e-16)[TARGET]
        return self.add(weights[:, None] * values[SOURCE], TARGET)


class DividedLater(GATConv):
    def forward(self, x):
        values = self.lin(x)
        parts = shares((values[SOURCE] * values[TARGET]).sum(-1), self.add)
        return self.add(parts[:, None] * values[SOURCE], TARGET) / self.add(parts, TARGET)[:, None]


class ByLogarithms(GATConv):
    def forward(self, x):
        values = self.lin(x)
        scores = (values[SOURCE] * values[TARGET]).sum(-1)
        totals = self.add(scores.exp(), TARGET).log()
        weights = (scores - totals.index_select(0, TARGET)).exp()
        return self.add(values[SOURCE] * weights.unsqueeze(-1), TARGET)


class Net(nn.Module):
    def __init__(self, conv, beside):
        super().__init__()
        self.conv = conv
        self.beside = nn.MultiheadAttention(WIDTH, 2, batch_first=True) if beside else None

    def forward(self, x):
        x = self.conv(x)
        return x if self.beside is None else self.beside(x[None], x[None], x[None])[0]


def histogram(x):
    return torch.zeros(9).scatter_add(0, x.flatten().mul(2).long().clamp(0, 8), torch.ones(x.numel()))


def mean_pooling(x):
    counts = torch.zeros(N).index_add(0, TARGET, torch.ones(EDGES)).clamp_min(1)
    return torch.zeros(N, WIDTH).index_add(0, TARGET, x[SOURCE]) / counts[:, None]


def mean_of_gated_messages(x):
    messages = x[SOURCE] * torch.sigmoid(x[TARGET])
    places = TARGET[:, None].expand(EDGES, WIDTH)
    return torch.zeros(N, WIDTH).scatter_reduce(0, places, messages, "mean", include_self=False)


def experts(x):
    gates, chosen = x.softmax(-1).topk(2)
    return torch.zeros(N, WIDTH).index_add(0, chosen.flatten() % N, (x.exp()[:, None] * gates[..., None]).flatten(0, 1))


def softplus_sums(x):
    return torch.zeros(N, WIDTH).index_add(0, TARGET, x.exp()[SOURCE]).log()

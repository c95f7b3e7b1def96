"""Attention in modules of all kinds, and what PyTorch runs modules in."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils.flop_counter import FlopCounterMode

from attention_core import capture


def vectors(n_queries=5, n_keys=7):
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(2, 3, n, 4, generator=generator) for n in (n_queries, n_keys, n_keys)]


def fused(query, key, value):
    return F.scaled_dot_product_attention(query, key, value)


def expected(query, key):
    return (query @ key.mT / 2).softmax(-1)


def plain(query, key, value):
    return expected(query, key) @ value


class Attention(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, query, key, value):
        return self.function(query, key, value)


def attentions(query, key, value):
    """Return modules of all kinds that take the same three arguments."""

    class Multi(nn.Module):
        def __init__(self, need_weights):
            super().__init__()
            self.inner = nn.MultiheadAttention(4, 2, dropout=0.0, batch_first=True)
            self.need_weights = need_weights

        def forward(self, query, key, value):
            return self.inner(query[:, 0], key[:, 0], value[:, 0], need_weights=self.need_weights)[0]

    torch.manual_seed(0)
    return {"fused": Attention(fused), "plain": Attention(plain), "multi": Multi(False), "weights": Multi(True)}


def traced(module, inputs, **how):
    script = torch.jit.trace(module, inputs, **how)
    return [node.kind() for node in script.inlined_graph.nodes()], script(*inputs)


def exported(module, inputs):
    program = torch.export.export(module, inputs)
    return str(program.graph), program.module()(*inputs)


def written_down(module, inputs):
    graph = make_fx(module)(*inputs)
    return graph.code, graph(*inputs)


def gradient(module, inputs):
    return torch.func.grad(lambda query: module(query, *inputs[1:]).square().sum())(inputs[0])


def checkpointed(module, inputs):
    query = inputs[0].clone().requires_grad_()
    torch.utils.checkpoint.checkpoint(module, query, *inputs[1:], use_reentrant=False).square().sum().backward()
    return query.grad


def nested(module, inputs):
    with capture():
        return module(*inputs)


def with_flops_counted(module, inputs):
    with FlopCounterMode(display=False) as counter:
        result = module(*inputs)
    return result, counter.get_total_flops()


def inferred(module, inputs):
    with torch.inference_mode():
        return module(*inputs).clone()


WAYS = {
    "export": (exported, 1),
    "jit": (traced, None),
    "jit, not strict": (partial(traced, strict=False), None),
    "jit, not checked": (partial(traced, check_trace=False), 1),
    "make_fx": (written_down, 2),
    "grad": (gradient, 1),
    "functionalize": (lambda module, inputs: torch.func.functionalize(module)(*inputs), 1),
    "checkpoint": (checkpointed, 1),
    "nested": (nested, 1),
    "counted": (with_flops_counted, 1),
    "inferred": (inferred, 1),
}
"""Name -> (what is done with a module, how many calls of its attention have numbers, None where that may change)."""

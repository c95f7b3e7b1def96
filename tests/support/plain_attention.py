"""Attention recomputed plainly in float64, edits and all, to compare models with."""

import sys

import torch

from attention_core.attention import attend as attention
from attention_core.attention.edits import DropHead, NoScale, OutputFrom, PermuteKeys
from attention_core.attention.scores import ScaledDot
from attention_core.attention.trace import AttentionScores
from attention_core.attention.types import AttentionOutput
from tests.support.edited_weights import weights_of
from tests.support.own_edits import OwnEdit


def scores_of(score, query, key, edits):
    if NoScale() in edits:
        score = score.base if score.cap is None else ScaledDot(1.0, score.cap)
    return score.to(torch.float64)(query.double(), key.double())


def plain_attend(query, key, value, *, score=None, mask=None, edits=(), has_softmax=True, with_weights=False, **_):
    """Attend as attend() does, one head of one item after the other, in float64."""
    score, shape = score or ScaledDot(), (*query.shape[:3], key.shape[2])
    seen = torch.ones(shape, dtype=torch.bool) if mask is None else mask.expand(shape)
    weights, context = torch.zeros(shape, dtype=torch.float64), torch.zeros(*shape[:3], value.shape[-1]).double()
    for item in range(shape[0]):
        own = None if mask is None else seen[item]
        of_item = AttentionScores(
            query=query[item], key=key[item], score=score, mask=own, has_softmax=has_softmax, edits=edits
        )
        for head in range(shape[1]):
            orders = [edit.key_order(of_item, head) for edit in edits if isinstance(edit, PermuteKeys)]
            scores = scores_of(score, query[item, head], key[item, head], edits)
            weights[item, head] = weights_of(head, scores, seen[item, head], edits, has_softmax, *(orders or [None]))
            context[item, head] = weights[item, head] @ value[item, head].double()
            for edit in edits:
                if isinstance(edit, DropHead) and edit.head == head:
                    context[item, head, slice(None) if edit.query is None else edit.query] = 0
                if isinstance(edit, OutputFrom) and edit.head == head:
                    context[item, head] = edit.output.double()
                if isinstance(edit, OwnEdit) and edit.head in (None, head):
                    edit.plain_context(context[item, head])
    return AttentionOutput(context.to(value.dtype), weights=weights.to(value.dtype) if with_weights else None)


class Plainly:
    """Lets models attend plainly inside the block."""

    def __init__(self, monkeypatch):
        self._context = monkeypatch.context()

    def __enter__(self):
        patch = self._context.__enter__()
        for name, module in list(sys.modules.items()):
            if name.startswith("attention_core.") and getattr(module, "attend", None) is REAL:
                patch.setattr(module, "attend", plain_attend)

    def __exit__(self, *reason):
        self._context.__exit__(*reason)


REAL = attention.attend


def by_hand(plans):
    """Return an attention function for the library that attends plainly, with edits by the number of its call."""
    calls = []

    def attend_by_hand(module, query, key, value, mask, scaling=None, **_):
        shared = query.shape[1] // key.shape[1]
        key, value = (one.repeat_interleave(shared, 1) for one in (key, value))
        if getattr(module, "is_causal", False) and query.shape[2] > 1:
            mask = torch.ones(query.shape[2], key.shape[2], dtype=torch.bool).tril()[None, None]
        given = {"score": ScaledDot(scaling), "mask": mask, "edits": plans.get(len(calls), ())}
        calls.append(module)
        return plain_attend(query, key, value, **given).context.transpose(1, 2).contiguous(), None

    return attend_by_hand

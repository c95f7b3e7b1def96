"""The trace of one input, for models of one attention."""

from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from attention_core.attention.attend import Attended
from attention_core.attention.edits import Edits
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Story
from attention_core.device import device_of


class TracedModel(nn.Module):
    """A model whose forward(inputs, edits=, trace=True) gives a trace of the first input."""

    takes: ClassVar[torch.dtype] = torch.float32

    def trace(self, one: Any, edits: Edits = ()) -> AttentionTrace:
        """Return the attention trace of one input, a tensor or an array of the shape that forward takes many of."""
        one = torch.as_tensor(one, dtype=self.takes, device=device_of(self))
        with torch.inference_mode():
            return self(one[None], edits=edits, trace=True).traces[0]


def first_trace(
    query: Tensor, key: Tensor, value: Tensor, attended: Attended, story: Story, **more: Any
) -> AttentionTrace:
    """Return the trace of a batch's first item: query, key and value (batch, n_heads, n, d), and what it collected."""
    return AttentionTrace(
        query=query[0],
        key=key[0],
        value=value[0],
        normaliser=None if attended.log_normaliser is None else attended.log_normaliser[0],
        fused_context=attended.context[0],
        story=story,
        **more,
    )

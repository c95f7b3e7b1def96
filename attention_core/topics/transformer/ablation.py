"""What a transformer makes of a sentence with heads switched off or without positions."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attention_core.attention.edits import DropHead, drop_heads
from attention_core.data.pieces import START
from attention_core.device import device_of
from attention_core.models.transformer import KINDS, EditsByAttention, Transformer
from attention_core.models.translator import DecoderState
from attention_core.topics.translate.translation import SourceSentence, Translation


class TransformerHead(NamedTuple):
    """One head of the transformer."""

    kind: str  # "encoder", "decoder" or "cross"
    layer: int  # from 0
    head: int  # from 0

    @property
    def label(self) -> str:
        return f"{self.kind}, layer {self.layer + 1}, head {self.head + 1}"


def switched_off(heads: Iterable[TransformerHead]) -> EditsByAttention:
    """Return the edits that set the contexts of these heads to 0."""
    return drop_heads(((kind, layer), head) for kind, layer, head in heads)


@dataclass(frozen=True, eq=False)
class EditedTransformer:
    """A transformer with edits, for beam search and for everything else that a translator is asked."""

    model: Transformer  # the transformer; it is not changed
    edits: EditsByAttention = field(default_factory=dict)  # by (kind, layer)
    with_positions: bool = True  # False leaves the positions out of encoder and decoder

    @property
    def network(self) -> Transformer:
        """The transformer, or the same without positions."""
        return self.model if self.with_positions else self.model.without_positions()

    def parameters(self) -> Iterator[nn.Parameter]:
        return self.model.parameters()

    def begin(self, source: Tensor) -> DecoderState:
        """Read source sentences, int64 (batch, n_source)."""
        return self.network.begin(source, self.edits)

    def step(self, state: DecoderState, target: Tensor) -> tuple[Tensor, DecoderState]:
        """Return logits (n_rows, n, VOCABULARY_SIZE) after each of target pieces (n_rows, n), and the state then."""
        return self.network.step(state, target, self.edits)


@torch.inference_mode()
def head_importance(model: Transformer, source: SourceSentence, translation: Translation) -> dict[str, Tensor]:
    """Return what the translation by the unedited model loses in log-probability when one head alone is switched off.

    Returns:
        for each kind (n_layers, n_heads), in nats; positive = the translation becomes less probable without the head.

    Source: Michel et al. 2019, "Are sixteen heads really better than one?"; Voita et al. 2019.
    """
    n_layers, n_heads, device = model.config.n_layers, model.config.n_heads, device_of(model)
    n = n_layers * n_heads + 1  # a row for each head, and one with all of them
    fed, wanted = (
        torch.tensor(ids, device=device).expand(n, -1) for ids in ([START, *translation.ids[:-1]], translation.ids)
    )
    worth = {}
    for kind in KINDS:
        edits = {
            (kind, layer): [DropHead(head, item=n_heads * layer + head) for head in range(n_heads)]
            for layer in range(n_layers)
        }
        asked = source.ids.to(device).expand(1 if kind == "decoder" else n, -1)  # its own heads read nothing of this
        features = model.decode(model.encode(asked, edits), fed, edits)[0]
        logs = model.logits(features).log_softmax(-1).gather(2, wanted[..., None]).cpu().double().sum((1, 2))
        worth[kind] = (logs[-1] - logs[:-1]).view(n_layers, n_heads).float()
    return worth

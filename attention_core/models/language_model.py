"""Small language models of English sentences: one in the manner of Llama, and recurrent ones."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from attention_core.attention.attend import attend
from attention_core.attention.edits import Edits, refuse_edits
from attention_core.attention.trace import AttentionTrace, Prediction, item_trace
from attention_core.attention.types import AttentionOutput, Axis, Role, Story, change, product, read_texts
from attention_core.data.language_pieces import NAME, VOCABULARY_SIZE, WINDOW
from attention_core.models.registry import register

TEXTS = read_texts(__file__)


def language_model() -> nn.Module:
    """Return the model, untrained, whose vectors that read a piece also write it, stored once (Press and Wolf 2017)."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=VOCABULARY_SIZE,
        hidden_size=192,
        intermediate_size=512,
        num_hidden_layers=4,
        num_attention_heads=6,
        num_key_value_heads=2,
        max_position_embeddings=WINDOW,
        tie_word_embeddings=True,
        bos_token_id=0,
        eos_token_id=None,
        pad_token_id=None,
    )
    config.name_or_path = NAME
    model = LlamaForCausalLM(config)
    model.register_state_dict_post_hook(_without_copy)
    model.register_load_state_dict_pre_hook(_with_copy)
    return model


def _without_copy(module: nn.Module, state: dict[str, Any], prefix: str, metadata: Any) -> None:
    state.pop(f"{prefix}lm_head.weight", None)


def _with_copy(module: nn.Module, state: dict[str, Any], prefix: str, *_: Any) -> None:
    if f"{prefix}model.embed_tokens.weight" in state:
        state.setdefault(f"{prefix}lm_head.weight", state[f"{prefix}model.embed_tokens.weight"])


register("tatoeba-llama", "language:evaluate_language", language_model)


@dataclass(frozen=True)
class RecurrentConfig:
    attends: bool = True  # whether it looks back at its own earlier states
    d_state: int = 192  # width of the states and of the pieces' vectors
    d_k: int = 64  # width of queries and keys
    hidden: int = 128  # units between state, context and the next piece


class RecurrentLanguage(nn.Module):
    """A GRU whose context averages its own earlier states; the vectors that read a piece also write it.

    Source: Cheng et al. 2016, "Long short-term memory-networks for machine reading", section 3.1, here beside the
    recurrence instead of in it; tied vectors, Press and Wolf 2017.
    """

    def __init__(self, config: RecurrentConfig = RecurrentConfig()) -> None:
        super().__init__()
        self.config = config
        d, n_inputs = config.d_state, config.d_state * (1 + config.attends)
        self.embedding = nn.Embedding(VOCABULARY_SIZE, d)
        nn.init.normal_(self.embedding.weight, std=d**-0.5)
        self.gru = nn.GRU(d, d, batch_first=True)
        if config.attends:
            self.query = nn.Linear(d, config.d_k, bias=False)
            self.key = nn.Linear(d, config.d_k, bias=False)
        self.merge = nn.Sequential(nn.Linear(n_inputs, config.hidden), nn.Tanh(), nn.Linear(config.hidden, d))
        self.bias = nn.Parameter(torch.zeros(VOCABULARY_SIZE))

    def forward(self, input_ids: Tensor, use_cache: bool = False, *, edits: Edits = ()) -> Prediction:
        """Return logits (batch, n, n_pieces) of the piece after each one, int64 (batch, n); states see those before.

        There is no cache: the argument is that of the transformers library's language models.
        """
        states, _ = self.gru(self.embedding(input_ids))
        merged = self.merge(torch.cat((states, *self._contexts(states, edits)), -1))
        return Prediction(merged @ self.embedding.weight.T + self.bias)

    def _contexts(self, states: Tensor, edits: Edits) -> tuple[Tensor, ...]:
        if not self.config.attends:
            refuse_edits(edits)
            return ()
        query, key, value = (tensor[:, None] for tensor in (self.query(states), self.key(states), states))
        return (attend(query, key, value, mask=earlier(states), edits=edits).context[:, 0],)

    @torch.inference_mode()
    def trace(self, ids: Sequence[int], labels: Sequence[str], edits: Edits = ()) -> AttentionTrace:
        """Return where it looked back after each piece; ids and labels of the pieces are as many."""
        if not self.config.attends:
            raise ValueError("a network without attention has no trace")
        embedded = self.embedding(torch.tensor(list(ids), device=self.bias.device))
        states, _ = self.gru(embedded)
        query, key = self.query(states), self.key(states)
        context = self._contexts(states[None], edits)[0][0]
        merged = self.merge(torch.cat((states, context), -1))
        W_Q, W_K, x = self.query.weight.T, self.key.weight.T, (states, Role.VALUE, "V")
        at, units = Axis("pieces", list(labels)), Axis.numbered("units", states.shape[-1])
        story = Story(
            mechanism="attention of a recurrent network over its own earlier states",
            query_axis=at,
            key_axis=at,
            value_axis=units,
            steps_before=(
                TEXTS["value"].step(states, at, units, gru=self.gru, embedding=embedded),
                TEXTS["query"].step(query, at, W_Q=W_Q).with_origin(product(x, (W_Q, Role.QUERY, "W_Q"))),
                TEXTS["key"].step(key, at, W_K=W_K).with_origin(product(x, (W_K, Role.KEY, "W_K"))),
            ),
            steps_after=(
                TEXTS["merged"].step(merged, at, units, merge=self.merge).with_origin(change(context, Role.CONTEXT)),
                TEXTS["next"].step(
                    (merged @ self.embedding.weight.T + self.bias).softmax(-1),
                    at,
                    Axis.numbered("pieces of the vocabulary", VOCABULARY_SIZE),
                    pieces=self.embedding.weight,
                    bias=self.bias,
                ),
            ),
        )
        query, key, value, context = (tensor[None, None] for tensor in (query, key, states, context))
        return item_trace(query, key, value, AttentionOutput(context), story, mask=earlier(states), edits=edits)


def earlier(states: Tensor) -> Tensor:
    """Return the mask (1, n, n) that lets each of n states, (..., n, d), see those before it."""
    n = states.shape[-2]
    return torch.ones(1, n, n, dtype=torch.bool, device=states.device).tril(-1)


ATTENTIVE = RecurrentConfig()
register("language-recurrent", "language:evaluate_language", RecurrentLanguage, ATTENTIVE)
WITHOUT_ATTENTION = replace(ATTENTIVE, attends=False, hidden=256)
"""As many parameters, but for 0.1 %: what attention has is spent on more hidden units."""
register("language-recurrent-alone", "language:evaluate_language", RecurrentLanguage, WITHOUT_ATTENTION)

"""A small language model in the manner of Llama: rotary positions, grouped keys, next pieces of English sentences.

Built by the transformers library, so that it goes the way that every model from outside goes.
"""

from typing import Any

from torch import nn

from attention_core.models.registry import register


def language_model() -> nn.Module:
    """Return the model, untrained, whose vectors that read a piece also write it, stored once (Press and Wolf 2017)."""
    from transformers import LlamaConfig, LlamaForCausalLM

    from attention_core.data.language_pieces import NAME, VOCABULARY_SIZE, WINDOW

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


def _with_copy(module: nn.Module, state: dict[str, Any], prefix: str, *rest: Any) -> None:
    if f"{prefix}model.embed_tokens.weight" in state:
        state.setdefault(f"{prefix}lm_head.weight", state[f"{prefix}model.embed_tokens.weight"])


register("tatoeba-llama", "language:evaluate_language", language_model)

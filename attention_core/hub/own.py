"""The project's own language model as one of the models that anybody may look into."""

from __future__ import annotations

from attention_core.data.language_pieces import NAME, WINDOW, tokenizer
from attention_core.hub.model import Kind, ModelError, Pretrained
from attention_core.models import load
from attention_core.weights import WeightsError, weights_folder


def own_language_model(device: str = "auto") -> Pretrained:
    """Return the language model trained on Tatoeba sentences.

    Raises:
        ModelError: its weights or its vocabulary are missing or damaged.
    """
    try:
        model, vocabulary = load(NAME, device), tokenizer()
    except WeightsError as error:
        raise ModelError(str(error)) from None
    n_bytes = (weights_folder() / f"{NAME}.safetensors").stat().st_size
    return Pretrained(NAME, Kind.DECODER, model, vocabulary, most_tokens=WINDOW, n_bytes=n_bytes)

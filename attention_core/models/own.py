"""The project's own transformers as models that anybody may look into."""

from attention_core.data.language_pieces import NAME, WINDOW, tokenizer
from attention_core.hub.model import ModelError, ModelKind, Pretrained
from attention_core.models import load
from attention_core.weights import WeightsError, weights_folder


def own_model(name: str, device: str = "auto") -> Pretrained:
    """Return one of OWN, a language model or digits read as patches; ModelError where files are missing or damaged."""
    try:
        model = load(name, device)
        vocabulary = tokenizer() if name == NAME else None
    except WeightsError as error:
        raise ModelError(str(error)) from None
    n_bytes = (weights_folder() / f"{name}.safetensors").stat().st_size
    if vocabulary is None:
        return Pretrained(name, ModelKind.VISION, model.vit, n_bytes=n_bytes)
    return Pretrained(name, ModelKind.DECODER, model, vocabulary, most_tokens=WINDOW, n_bytes=n_bytes)

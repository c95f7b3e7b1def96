"""What a model keeps of the text that it writes, its KV cache, in words."""

from attention_core.hub.cache import cache_of
from attention_core.hub.generation import Generation
from attention_core.hub.model import in_units


def kept_in_words(made: Generation) -> str:
    """Return how large the keys and values are that the model keeps so as not to compute them again."""
    cache = cache_of(made)
    if cache is None:
        return made.note
    layer, n_heads = cache.layers[0], sum(layer.n_key_heads for layer in cache.layers)
    sentences = [
        f"The KV cache: **{in_units(cache.bytes_at(cache.n_tokens))}** of keys and values for {cache.n_tokens:,} "
        f"token{'s' * (cache.n_tokens != 1)}, in {n_heads:,} key heads of {len(cache.layers)} layers."
    ]
    if cache.most_tokens:
        most = in_units(cache.bytes_at(cache.most_tokens))
        sentences.append(f"At the {cache.most_tokens:,} tokens that the model knows: **{most}**.")
    if cache.saving > 1:
        sentences.append(
            f"{layer.n_query_heads} query heads share {layer.n_key_heads} key heads: **{cache.saving:.3g} times less**."
        )
    if cache.window is not None:
        some = sum(layer.window is not None for layer in cache.layers)
        which = "Each layer keeps" if some == len(cache.layers) else f"{some} of {len(cache.layers)} layers keep"
        sentences.append(f"{which} the last **{cache.window:,}** tokens only.")
    if cache.source_layers:
        sentences.append(f"Besides, {in_units(cache.bytes_of_source)} for what the encoder read.")
    return " ".join(sentences)

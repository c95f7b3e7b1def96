"""What a model keeps of the text that it writes, its KV cache, in words."""

from attention_core.hub.generation import Generation, cache_of, most_positions
from attention_core.hub.model import in_units


def kept_in_words(made: Generation) -> str:
    """Return how large the keys and values are that the model keeps so as not to compute them again."""
    cache = cache_of(made)
    if cache is None:
        return made.note
    n_tokens, most = len(made.ids), most_positions(made.pretrained)
    sentences = [
        f"The KV cache: **{in_units(cache.n_bytes)}** of keys and values for {n_tokens:,} "
        f"token{'s' * (n_tokens != 1)}, in {cache.n_layers * cache.n_key_heads:,} key heads of {cache.n_layers} layers."
    ]
    if most and not cache.windows:
        whole = in_units(cache.n_bytes * most / n_tokens)
        sentences.append(f"At the {most:,} tokens that the model knows: **{whole}**.")
    if (saving := cache.n_query_heads / cache.n_key_heads) > 1:
        sentences.append(
            f"{cache.n_query_heads} query heads share {cache.n_key_heads} key heads: **{saving:.3g} times less**."
        )
    if cache.windows:
        some = len(cache.windows)
        which = "Each layer keeps" if some == cache.n_layers else f"{some} of {cache.n_layers} layers keep"
        sentences.append(f"{which} the last **{min(cache.windows):,}** tokens only.")
    return " ".join(sentences)

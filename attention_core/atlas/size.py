"""What a matrix would take in memory, and what is kept instead."""

from attention_core.atlas.matrix import Atlas


def matrix_bytes(atlas: Atlas) -> int:
    """Return the bytes of all weights of the head as float32."""
    return 4 * atlas.n_queries * atlas.n_keys


def kept_bytes(atlas: Atlas) -> int:
    """Return the bytes of the head's queries and keys and of one float64 number per row, its normaliser."""
    trace = atlas.trace
    query, key = trace.query[atlas.head], trace.key_of(atlas.head)
    return query.numel() * query.element_size() + key.numel() * key.element_size() + 8 * atlas.n_queries

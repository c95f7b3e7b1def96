"""Does the order of letters count? The query is turned round, and compared again."""

from pages.nearest import parts

from attention_core import AttentionTrace


def draw_input() -> tuple[AttentionTrace, AttentionTrace]:
    """Draw the fields; return what the query takes from each word, and what it takes when it is turned round."""
    query, keys = parts.query_and_keys()
    return parts.compare(query, keys), parts.compare(query[::-1], keys)


def answer(traces: tuple[AttentionTrace, AttentionTrace]) -> str:
    """Say how much the nearest word gives both times."""
    forwards, backwards = (float(trace.weights()[0].max()) for trace in traces)
    return f"Yes: the nearest word gives {forwards:.0%}, and {backwards:.0%} once the query is turned round."


def draw(traces: tuple[AttentionTrace, AttentionTrace]) -> None:
    """Draw both rows of weights."""
    for trace in traces:
        parts.draw_weights(trace)

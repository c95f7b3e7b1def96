"""Why keep keys and values, and not queries? What the newest token needs, with a cache and without one."""

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.wording import percent
from attention_core.explain.heads import kind_of
from attention_core.hub.generation import Generation, multiplications_per_token
from attention_core.hub.model import ModelError, in_units
from pages.model.runs import Need, Runs, draw_model
from pages.model.writing import describe_cache, growing_cache, written
from ui.labels import note
from ui.layout import figures_table


class Written(NamedTuple):
    """A text so far, the newest token its last, and the model's attention over it."""

    generation: Generation

    @property
    def layers(self) -> Sequence[AttentionTrace]:
        """The layers whose keys grow with the text and are known."""
        traces = self.generation.recording.traces
        return [trace for trace in traces if kind_of(trace.story.name).endswith("decoder self") and trace.value.numel()]

    @property
    def n_tokens(self) -> int:
        """Of the text."""
        return len(self.generation.ids)

    def pairs(self, n_queries: int) -> int:
        """Return the multiplications of so many queries with all keys, and of their weights with all values."""
        widths = sum(trace.n_heads * (trace.key.shape[-1] + trace.value.shape[-1]) for trace in self.layers)
        return n_queries * self.n_tokens * widths

    def multiplications(self, n_new: int) -> int | None:
        """Return the multiplications of a pass that computes so many tokens; None = not known."""
        per_token = multiplications_per_token(self.generation.pretrained)
        return per_token and per_token * n_new + self.pairs(n_new)


def draw_input() -> Runs:
    """Draw the choice of a model and its text."""
    return draw_model(Need.WRITING, Need.NO_PICTURE)


def answer(runs: Runs) -> str:
    """Say what is asked again of the tokens before, and what keeping it saves."""
    reason = "Only the newest token asks: no earlier query is needed again, but every earlier key and value."
    with suppress(ModelError):  # the drawing tells it
        text = Written(written(runs.model_request))
        cached, uncached = text.multiplications(1), text.multiplications(text.n_tokens)
        if cached and uncached:
            saved = percent(1 - cached / uncached)
            return f"{reason} For token {text.n_tokens}, that saves {saved} of the multiplications."
    return reason


def draw(runs: Runs) -> None:
    """Draw the text so far, how a head's weights grow with it, and what its newest token needs."""
    growing_cache(runs.run, runs.model_request)
    with suppress(ModelError):
        text = Written(written(runs.model_request))
        if text.layers:
            _draw_needs(text)
        note(describe_cache(text.generation))


def _draw_needs(text: Written) -> None:
    n, layers = text.n_tokens, text.layers
    n_bytes = {"key": 0, "value": 0, "query": 0}
    for trace in layers:
        for name in n_bytes:
            tensor = getattr(trace, name)
            n_bytes[name] += tensor.nbytes // tensor.shape[-2]
    n_heads, n_key_heads = sum(trace.n_heads for trace in layers), sum(trace.key.shape[0] for trace in layers)
    of_token = n_bytes["key"] + n_bytes["value"]
    rows = [
        ("queries computed", f"{n_heads:,}", f"{n * n_heads:,}", "heads × new tokens"),
        ("keys and values computed", f"{2 * n_key_heads:,}", f"{2 * n * n_key_heads:,}", "2 × key heads × new tokens"),
        ("keys and values read", in_units((n - 1) * of_token), "none", "(n − 1) × 2 dₖ × key heads × bytes"),
    ]
    cached, uncached = text.multiplications(1), text.multiplications(n)
    if cached and uncached:
        formula = "new tokens × (weights + n × 2 dₖ × heads)"
        rows.append(("multiplications", f"{cached:,}", f"{uncached:,}", formula))
    rows.append(("if queries were kept", in_units((n - 1) * n_bytes["query"]), "", "read by nobody"))
    figures_table((f"token {n}", "with the cache", "without", ""), *rows)

"""A text that a model writes on with its cache, every attention of it recorded."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from attention_core.attention.edits import Edits
from attention_core.attention.edits.edit import restrict_queries
from attention_core.attention.joining import join_steps
from attention_core.attention.recording import Recording
from attention_core.hub.model import readable
from attention_core.hub.tracing import UnsupportedError, run_model


@dataclass(frozen=True, eq=False)
class Written:
    """A text, and what a model wrote after it, the likeliest token each time.

    Attributes:
        ids: of all tokens; the last was written, and not read any more.
        tokens: the same for people.
        n_prompt: how many of them were there before.
        steps: the run over the prompt, and over each written token but the last, which looks at all before it.
        edits: by layer, which all steps had.
    """

    ids: Sequence[int]
    tokens: Sequence[str]
    n_prompt: int
    steps: Sequence[Recording]
    edits: Mapping[int, Edits]

    @property
    def text(self) -> str:
        """What was written."""
        return "".join(self.tokens[self.n_prompt :])

    def joined(self) -> Recording:
        """Return one n x n map per layer and head, of all tokens that were read, labelled.

        UnsupportedError where a cache forgets early tokens, so that the last step no longer has their keys.
        """
        numbered = [
            trace.replace(()).with_story(name=f"{trace.story.name} ({number})")
            for number, step in enumerate(self.steps, 1)
            for trace in step.traces
        ]
        traces, note = join_steps(numbered)
        if note:
            raise UnsupportedError(note)
        edited = [trace.replace(self.edits.get(layer, ())) for layer, trace in enumerate(traces)]
        recording = Recording(edited, model=self.steps[0].model, text="".join(self.tokens[:-1]))
        recording.label(self.tokens[:-1])
        return recording


def write_on(
    model: Any,
    inputs: Mapping[str, Any],
    n: int,
    tokenizer: Any,
    edits: Mapping[int, Edits],
    progress: Callable[[float], Any] | None = None,
) -> Written:
    """Return n tokens written after a text by a decoder, see Study.generate."""
    ids, cache, steps = inputs["input_ids"], None, list[Recording]()
    stops = getattr(model.generation_config, "eos_token_id", None)
    stops = {stops} if isinstance(stops, int) else {*(stops or ())}
    n_prompt, n_read = ids.shape[1], 0
    while ids.shape[1] < n_prompt + n:
        n_new = ids.shape[1] - n_read
        of_step = {layer: restrict_queries(all_, n_read, n_new, is_causal=True) for layer, all_ in edits.items()}
        call = {"input_ids": ids[:, n_read:], "attention_mask": torch.ones_like(ids), "use_cache": True}
        recording, output = run_model(model, call | {"past_key_values": cache}, edits=of_step)
        cache, n_read = output.get("past_key_values"), ids.shape[1]
        if cache is None:
            raise UnsupportedError(f"{type(model).__name__} keeps no cache to write on with")
        steps.append(recording)
        token = output.logits[:, -1:].argmax(-1)
        ids = torch.cat([ids, token], 1)
        if progress is not None:
            progress((ids.shape[1] - n_prompt) / n)
        if int(token) in stops:
            break
    numbers = ids[0].tolist()
    has_tokens = hasattr(tokenizer, "convert_ids_to_tokens")
    return Written(
        numbers, readable(tokenizer, numbers) if has_tokens else [*map(str, numbers)], n_prompt, steps, edits
    )

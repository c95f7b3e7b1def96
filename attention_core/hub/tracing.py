"""The attention of any transformers model: `p = trace_model(model, **inputs)`, then `p.traces`.

The model runs once, with an attention function of ours that the library calls with query, key, value, mask and scale
after positions are applied. It computes the context with torch's fused kernel and saves what a trace needs; no matrix
over all pairs is built. Each layer is checked against the model's own written-out attention on two of its queries.
`run_model` also returns the model's own output, and can edit the attention inside the run.

Traces are numbered by the calls of attention that a model makes, in order. Layers without attention (convolutions,
state spaces and other parts of hybrid models) make no call and have no number. The numbers differ from run to run where
the input decides which layers run, or where a cache replaces a call.
Source: https://huggingface.co/docs/transformers/attention_interface
"""

import re
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from inspect import ismethod
from itertools import pairwise, zip_longest
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from attention_core.attention.capture import capture_into
from attention_core.attention.capture.layout import usual_order
from attention_core.attention.capture.recorder import N_HEADS_NAMES, is_attention, name_of
from attention_core.attention.capture.trace_builder import BatchSlice, Items, TraceBuilder, drop_unwritten, from_weights
from attention_core.attention.edits import Edits
from attention_core.attention.recording import Recording, is_causal_mask, name_traces
from attention_core.attention.trace import AttentionTrace
from attention_core.concurrency import Lock
from attention_core.hub.attention import (
    WEIGHTS_ONLY,
    RefusedEditError,
    Run,
    UnknownAttentionError,
    UnsupportedError,
    attention,
    current_run,
    mask,
    running,
)
from attention_core.hub.inside_transformers import attn_implementation, has_attention_interface, knows_fused_attention
from attention_core.hub.model import readable
from attention_core.hub.positions import is_rotated, rotary_holders
from attention_core.log import log

SCORES_ONLY = "The model handed out its scores, of which these weights are the softmax; query, key, value are unknown."
SAME_HEADS = "All heads that the model handed out are equal to the last bit, as where it hands out their mean."
OnWeights = Callable[[nn.Module, Tensor], None]


class Call(NamedTuple):
    """One call of attention."""

    path: str  # of the module in its model
    module: nn.Module
    traces: list[AttentionTrace]  # one, or one of each slice of the batch


class ModuleLog:
    """A log of this thread's attention-module calls: the module, and how many attentions were seen before and after."""

    def __init__(self, count_attentions: Callable[[], int], on_weights: OnWeights | None) -> None:
        self.modules: list[nn.Module] = []
        self.before: list[int] = []
        self.after: list[int] = []
        self._count_attentions, self._on_weights = count_attentions, on_weights
        self._open_entries: list[int] = []
        self._thread = threading.get_ident()

    def enter(self, module: nn.Module, *_: Any) -> None:
        if threading.get_ident() == self._thread:
            self._open_entries.append(len(self.modules))
            self.modules.append(module)
            for counts in (self.before, self.after):
                counts.append(self._count_attentions())

    def leave(self, module: nn.Module, _: Any, output: Any) -> None:
        """Log how many attentions have been seen; if none since the entry, hand on the weights among the outputs."""
        if threading.get_ident() == self._thread and self._open_entries:
            entry = self._open_entries.pop()
            has_no_attention = self.before[entry] == self._count_attentions()
            if self._on_weights is not None and isinstance(output, tuple) and has_no_attention:
                for weights in filter(could_be_weights, output):
                    self._on_weights(module, weights)
            self.after[entry] = self._count_attentions()

    @property
    def missed(self) -> set[nn.Module]:
        """Modules in none of whose runs an attention was seen."""
        entries = zip(self.modules, self.before, self.after, strict=True)
        return set(self.modules) - {module for module, before, after in entries if before < after}

    def find_module(self, number: int, among: Collection[nn.Module] | None = None) -> tuple[nn.Module, int] | None:
        """Return the innermost module (of `among`) that ran attention `number`, and in which of its runs, from 0."""
        for entry in reversed(range(len(self.modules))):
            module = self.modules[entry]
            if self.before[entry] <= number < self.after[entry] and (among is None or module in among):
                return module, self.modules[:entry].count(module)
        return None

    def repeats(self, n_attentions: int) -> set[int]:
        """Return which of the attentions were seen in the same run of a module as the one before."""
        runs = [self.find_module(number) for number in range(n_attentions)]
        return {number for number in range(1, n_attentions) if runs[number] and runs[number] == runs[number - 1]}

    def position(self, module: nn.Module, run: int) -> int:
        """Return how many attentions had been seen before a run of a module, counted from 0."""
        entries = [entry for entry, entered in enumerate(self.modules) if entered is module]
        return self.before[entries[min(run, len(entries) - 1)]]


@contextmanager
def log_modules(
    model: nn.Module, count_attentions: Callable[[], int], on_weights: OnWeights | None = None
) -> Iterator[ModuleLog]:
    """Log the attention modules that this thread runs inside the block.

    `count_attentions` returns how many attentions have been seen; `on_weights` is called with each output of a module
    in which none was, if it could be weights.
    """
    module_log = ModuleLog(count_attentions, on_weights)
    modules = [*filter(is_attention, model.modules())]
    with hooked(modules, module_log.enter, before=True), hooked(modules, module_log.leave, always_call=True):
        yield module_log


@contextmanager
def hooked(
    modules: Iterable[nn.Module], hook: Callable[..., Any], before: bool = False, **options: Any
) -> Iterator[None]:
    """Call a hook after, or before, the forward of each of these modules inside the block; options are torch's."""
    register = "register_forward_pre_hook" if before else "register_forward_hook"
    handles = [getattr(module, register)(hook, **options) for module in modules]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def saving_inputs_alone(modules: Sequence[nn.Module]) -> Iterator[None]:
    """Let a run with gradients save of each module what it is given; on its way back, it runs the module again.

    It has to go back before the model returns, see `hooked`, so that the attention inside is still this run's.
    """

    def recomputed(forward: Callable[..., Any]) -> Callable[..., Any]:
        def run_in(run: Run, n_calls: int, *args: Any, **settings: Any) -> Any:
            del run.calls[n_calls:]  # so that the attention has the number that it had
            with running(run):  # the way back may have a thread of its own
                return forward(*args, **settings)

        def run_once(*args: Any, **settings: Any) -> Any:
            run = current_run()
            if run is None:  # another thread's
                return forward(*args, **settings)
            return checkpoint(partial(run_in, run, len(run.calls)), *args, use_reentrant=False, **settings)

        return run_once

    with TRACE_LOCK:
        before = [dict(vars(module)) for module in modules]
        for module in modules:
            module.forward = recomputed(module.forward)
        try:
            yield
        finally:
            for module, attributes in zip(modules, before, strict=True):
                del module.forward
                if "forward" in attributes:  # of a library that has exchanged it, too
                    module.forward = attributes["forward"]


def could_be_weights(tensor: Any) -> bool:
    """Return whether a tensor has the shape of weights, perhaps with an axis of windows, and rows that sum to 1."""
    if not isinstance(tensor, Tensor) or tensor.ndim not in (4, 5) or not tensor.is_floating_point():
        return False
    sums = tensor.float().sum(-1)
    return bool((tensor >= 0).all() and (sums < 1.01).all() and (sums > 0.99).any())


def trace_second_run(
    model: nn.Module,
    run: Callable[[], Any],
    n_items: int,
    module_log: ModuleLog | None = None,
    missed: Collection[nn.Module] = (),
    written_out: bool = False,
    item: Items = 0,
) -> tuple[list[tuple[int, Call]], set[nn.Module], Any]:
    """Run a model again and return its calls of attention, the modules still missed, and the output.

    With the log of a first run, only calls of the modules that it missed are returned. Each call comes with its
    position: how many attentions had been seen before it, in the first run if there is one. With written_out, attention
    that the code writes out comes before handed-out weights; without it, weights equal in all heads are left out.
    """

    def on_weights(module: nn.Module, weights: Tensor) -> None:
        if written_out or not has_same_heads(weights):
            recording.traces.extend(traces_of_weights(weights, n_items=n_items, module=module, item=item))

    recording = Recording()
    with (
        capture_into(recording, item, written_out=written_out),
        log_modules(model, lambda: len(recording), on_weights) as rerun_log,
    ):
        output = run()
    paths = {module: name for name, module in model.named_modules()}
    result: list[tuple[int, Call]] = []
    for number, trace in enumerate(recording.traces):
        module_run = rerun_log.find_module(number, None if module_log is None else missed)
        if module_log is not None and module_run is None:
            continue
        module, run_number = module_run or (model, 0)
        path = paths.get(module, "") or ("" if module_log else trace.story.name)
        if result and result[-1][1].module is module and re.search("[1-9]", BatchSlice.named_in(trace.story.name)):
            result[-1][1].traces.append(trace)  # another slice of the same batch
        else:
            position = module_log.position(module, run_number) if module_log else number
            result.append((position, Call(path, module, [trace])))
    return result, (rerun_log.missed if module_log is None else set(missed) & rerun_log.missed), output


def name_calls(model: nn.Module, calls: Sequence[Call], repeats: Collection[int] = ()) -> list[AttentionTrace]:
    """Return the traces of calls with names, see name_traces, and with whether their queries and keys are rotated.

    Where all items are recorded, a name ends in the slice of the batch.
    """
    first_traces = name_traces([(path, module, traces[0]) for path, module, traces in calls], repeats)
    holders, result = rotary_holders(model), []
    for first_trace, (path, module, traces) in zip(first_traces, calls, strict=True):
        name = first_trace.story.name
        rotated = not name.endswith("cross") and is_rotated(holders, path, module)
        for trace in traces:
            slice_name = f"{name} {BatchSlice.named_in(trace.story.name)}".strip()
            result.append(trace.with_story(name=slice_name, are_rotated=rotated or trace.story.are_rotated))
    return result


def has_same_heads(weights: Tensor) -> bool:
    """Return whether weights (batch, n_heads, n_queries, n_keys) have several heads, which are all equal."""
    return weights.ndim == 4 and weights.shape[1] > 1 and bool((weights == weights[:, :1]).all())


def traces_of_weights(weights: Tensor, *, n_items: int, module: nn.Module, item: Items = 0) -> list[AttentionTrace]:
    """Return traces of weights (batch, n_heads, n_queries, n_keys), perhaps with windows before or after the heads."""
    if weights.ndim == 5:
        n_heads = next((n for n in (getattr(module, key, None) for key in N_HEADS_NAMES) if isinstance(n, int)), 0)
        weights = (weights.transpose(1, 2) if weights.shape[1] == n_heads else weights).flatten(0, 1)
    note = f"{WEIGHTS_ONLY} {SAME_HEADS}" if has_same_heads(weights) else WEIGHTS_ONLY
    traces = []
    for batch_slice in TraceBuilder(item).slices(usual_order(weights.shape[:2]), n_items):
        head_weights, full_note = weights[batch_slice.number], note
        if not 0 <= float(head_weights.min()) <= float(head_weights.max()) <= 1.01:  # they are scores
            head_weights, full_note = head_weights.float().softmax(-1), note.replace(WEIGHTS_ONLY, SCORES_ONLY)
        full_note = f"{full_note} {batch_slice.note}".strip()
        mechanism = f"attention of {type(module).__name__}"
        traces.append(from_weights(head_weights, name=batch_slice.name, note=full_note, mechanism=mechanism))
    return traces


FUSED = "sdpa"
"""The library's name for torch's fused attention, under which ours is registered while a model runs: many models read
the name, and build no mask for one that they do not know."""
TRACE_LOCK = Lock("trace a model", again=True)
"""A model's attention function is part of the model, which others may share: one run at a time."""


def trace_model(
    model: Any, /, *, item: Items = 0, tokens: Any = None, target_tokens: Sequence[str] = (), **inputs: Any
) -> Recording:
    """Run a transformers model once and return every attention in it.

    The model is in evaluation mode and without gradients while it runs, and is left as it was.

    Args:
        model: a transformers model, built with any attention implementation, or a module around one; or a method such
            as model.generate, whose steps are joined, and labelled by the tokens that were said.
        item: of the batch, from 0; of windows the first of that item. "all" keeps every item and every window, as
            traces of their own such as "encoder.0.self (item 1, window 3)".
        tokens: what the positions of the input are called, or the tokenizer that made them; every axis is labelled.
        target_tokens: those of the decoder in an encoder-decoder model; not needed with a tokenizer.
        inputs: what the model is called with, such as input_ids=..., attention_mask=..., pixel_values=...

    Returns:
        a recording whose traces are in the order of execution, with names such as "encoder.0.self", "decoder.3.cross"
        or "vision_model.encoder.0.self". Parts of the model whose code does not go through the library's attention
        interface are run once more, to record what they ask torch for or, failing that, the weights that they hand
        out; a note says so, and what was not seen. A query that may see no key, such as padding behind a sliding
        window, gets the mean of all values, as with output_attentions=True.

    Raises:
        ImportError: transformers is not installed.
        TypeError: not a transformers model.
        ValueError: the batch has no such item.
        UnsupportedError: a model without attention, or one whose attention cannot be recorded.
    """
    is_method = ismethod(model) and isinstance(model.__self__, nn.Module)
    recording, output = _run(_Method(model) if is_method else model, inputs, {}, item)
    recording.model = name_of(model.__self__ if is_method else model)
    if is_method:
        recording.traces[:] = map(drop_unwritten, recording.traces)
        recording, ids = recording.joined(), output if isinstance(output, Tensor) else output.sequences
        if item == "all" or len(ids) != _n_items(inputs):  # texts of their own, of which one has all axes' labels
            return recording
        inputs |= {f"{'decoder_' * model.__self__.config.is_encoder_decoder}input_ids": ids[:, :-1]}
    item = 0 if item == "all" else item
    if hasattr(tokens, "convert_ids_to_tokens"):
        if inputs.get("input_ids") is not None and hasattr(tokens, "decode"):
            recording.text = tokens.decode(inputs["input_ids"][item], skip_special_tokens=True).strip()
        ids = [inputs.get(name) for name in ("input_ids", "decoder_input_ids")]
        tokens, target_tokens = (() if batch is None else readable(tokens, batch[item].tolist()) for batch in ids)
    if tokens:
        recording.label(tokens, target_tokens)
    return recording


class _Method(nn.Module):
    """A method of a model, as a module around it."""

    def __init__(self, method: Any) -> None:
        super().__init__()
        self.model, self._name = method.__self__, method.__name__

    def forward(self, **inputs: Any) -> Any:
        return getattr(self.model, self._name)(**inputs)


def run_model(
    model: Any,
    inputs: Mapping[str, Any],
    *,
    edits: Mapping[int, Edits] | None = None,
    item: Items = 0,
    gradients: bool = False,
) -> tuple[Recording, Any]:
    """Run a transformers model once, left as it was; return every attention in it and what it put out.

    With output_hidden_states=True, use_cache=True or labels among the inputs the output has what they ask for;
    output_attentions and return_dict are dropped. The item of the batch that is recorded is as in trace_model. With
    gradients, these flow back from the output to the parameters and to the tensors in the edits.

    Edits, by number of the trace in Recording.traces, are made inside the attention, for every item of the batch, so
    that all that follows changes; the trace has them. The same numbers serve for another run of the same model as long
    as the input does not decide which layers run.

    Raises:
        ImportError: transformers is not installed.
        TypeError: not a transformers model.
        UnsupportedError: a model without attention, or one whose attention cannot be recorded; an edit names what is
            not there or cannot be done, or the model's code bypasses the library's attention interface, so that no edit
            can.
    """
    return _run(model, inputs, edits or {}, item, gradients=gradients)


OUTPUTS = ("logits", "last_hidden_state")  # that run_items joins where items run one by one


def run_items(
    model: Any, inputs: Mapping[str, Any], edits: Sequence[Mapping[int, Edits]], *, gradients: bool = False
) -> Any:
    """Run a model once on a batch in which every item has edits of its own, see run_model; return its output.

    Where pictures form one sequence, every layer makes a call for each of them, so that a call's number is not its
    layer's: then the items run one by one.
    """
    if "image_grid_thw" in inputs and len(edits) > 1:
        chunks = {name: value.chunk(len(edits)) for name, value in inputs.items() if isinstance(value, Tensor)}
        items = [dict(inputs) | {name: chunk[index] for name, chunk in chunks.items()} for index in range(len(edits))]
        runs = [_run(model, item, changes, gradients=gradients)[1] for item, changes in zip(items, edits, strict=True)]
        return type(runs[0])(**{name: torch.cat([run[name] for run in runs]) for name in OUTPUTS if name in runs[0]})
    return _run(model, inputs, {}, item_edits=edits, gradients=gradients)[1]


def stream_attention(
    model: Any,
    inputs: Mapping[str, Any],
    on_attention: Callable[[int, Tensor, Tensor], Tensor | None],
    gradients: bool = False,
) -> Any:
    """Run a model once and hand over each attention as it is computed, without a trace; return the output.

    `on_attention` is given the number of the attention, its weights (batch, n_heads, n_queries, n_keys) and its context
    (batch, n_queries, n_heads, d_v), as the model's own written-out attention has them. Weights that it returns replace
    these, and gradients flow back to them. UnsupportedError where parts of the model bypass the library's attention
    interface, or have no such attention; trace_model may still record some of it.
    """
    return _stream(model, inputs, Run(_n_items(inputs), on_attention=on_attention), gradients)


def stream_context(
    model: Any,
    inputs: Mapping[str, Any],
    on_context: Callable[[int, Tensor], Tensor | None],
    gradients: bool = False,
) -> Any:
    """Run a model once and hand over what the heads of each attention hand over; return the output.

    As stream_attention, by the fused kernel and without weights: `on_context` may return another context.
    """
    return _stream(model, inputs, Run(_n_items(inputs), on_context=on_context), gradients)


def _stream(model: Any, inputs: Mapping[str, Any], run: Run, gradients: bool) -> Any:
    _check_model(model)
    with TRACE_LOCK, evaluating(model), torch.set_grad_enabled(gradients):
        module_log, output = _run_interface(model, dict(inputs), run)
    if output is None or not run.calls or module_log.missed:
        raise UnsupportedError(f"{type(model).__name__} bypasses the library's attention interface")
    return output


def _run(
    model: Any,
    inputs: Mapping[str, Any],
    edits: Mapping[int, Edits],
    item: Items = 0,
    item_edits: Sequence[Mapping[int, Edits]] = (),
    gradients: bool = False,
) -> tuple[Recording, Any]:
    _check_model(model)
    if item != "all" and not 0 <= item < _n_items(inputs):
        raise ValueError(f"item must be from 0 to {_n_items(inputs) - 1}, got {item}")
    run = Run(_n_items(inputs), edits, item_edits, builder=TraceBuilder(item))
    inputs = {name: value for name, value in inputs.items() if name not in ("output_attentions", "return_dict")}
    with TRACE_LOCK, evaluating(model), torch.set_grad_enabled(gradients):
        module_log, output = _run_interface(model, inputs, run)
        if run.calls and output is not None:
            return _recording(run, module_log, model, inputs), output
        if run.edited:
            raise _edit_error(model, "its code bypasses")
        return _trace_without_interface(model, inputs, item)


def _run_interface(model: nn.Module, inputs: dict[str, Any], run: Run) -> tuple[ModuleLog, Any]:
    """Run a model; return the log of its attention modules and its output, None if it has to be run in another way."""
    configs, output = _interface_configs(model), None
    run.float_masks = frozenset(id(config) for config, is_fused in configs if not is_fused)

    def on_start(_: nn.Module, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        run.starts.append(len(run.calls))
        tensors = {**options, "input_ids": options.get("input_ids", args[0] if args else None)}
        run.n_items = _n_items(tensors)  # it may read several beams of an item

    writing = [] if getattr(model, "can_generate", bool)() else [*_writing_models(model)]
    logs = log_modules(model, lambda: len(run.calls)), hooked(writing, on_start, before=True, with_kwargs=True)
    with logs[0] as module_log, logs[1], _tracing_attention_registered(), running(run):
        try:
            with attn_implementation([config for config, _ in configs], FUSED):
                output = model(**inputs) if configs else None
        except UnknownAttentionError:
            log.warning("%s is asked for its weights instead", type(model).__name__, exc_info=True)
    return module_log, output


def _edit_error(model: nn.Module, reason: str) -> RefusedEditError:
    refusal = f"no head of {type(model).__name__} can be switched off or changed"
    return RefusedEditError(f"{refusal}: {reason} the library's attention interface")


def _recording(run: Run, module_log: ModuleLog, model: Any, inputs: dict[str, Any]) -> Recording:
    out_of_range = [number for number in run.edited if not 0 <= number < len(run.calls)]
    if out_of_range:
        raise RefusedEditError(f"edits: the model has traces 0 to {len(run.calls) - 1}, got {out_of_range[0]}")
    paths = {module: name for name, module in model.named_modules()}
    calls = [Call(paths.get(module, type(module).__name__), module, traces) for module, traces in run.calls]
    repeats = module_log.repeats(len(calls))
    missed_calls, missed = _trace_missed_modules(model, inputs, module_log, run.builder.item)
    if missed_calls and run.edited:
        raise _edit_error(model, "parts of its code bypass")
    # the last one first, so that positions before it still hold
    for position, call in reversed(sorted(missed_calls, key=lambda positioned: positioned[0])):
        calls.insert(position, call)
        repeats = {repeat + (repeat >= position) for repeat in repeats}
    starts = [*run.starts[1:], len(calls)] if not missed_calls else [len(calls)]  # of steps after the first
    traces = name_calls(model, calls[: starts[0]], {repeat for repeat in repeats if repeat < starts[0]})
    return Recording([*traces, *_name_steps(calls, traces, starts)], _missed_note(missed))


def _name_steps(
    calls: Sequence[Call], first_traces: Sequence[AttentionTrace], starts: Sequence[int]
) -> Iterator[AttentionTrace]:
    """Yield the traces of the steps in which a model writes, named as those of its first one, with their number."""
    paths = [call.path for call in calls[: starts[0]] for _ in call.traces]
    stories = {path: trace.story for path, trace in zip(paths, first_traces, strict=True)}
    for number, (start, end) in enumerate(pairwise(starts), 2):
        for path, _, traces in calls[start:end]:
            for trace in traces:
                story = stories.get(path, trace.story)
                name = f"{(story.name or path).partition(' (')[0]} ({number}) {BatchSlice.named_in(trace.story.name)}"
                yield trace.with_story(name=name.strip(), are_rotated=story.are_rotated)


def _writing_models(model: nn.Module) -> Iterator[nn.Module]:
    """Yield the models inside a module that write texts, token by token, but none inside another one."""
    for child in model.children():
        if getattr(child, "can_generate", bool)():
            yield child
        else:
            yield from _writing_models(child)


def _missed_note(missed: Collection[nn.Module]) -> str:
    names = sorted({type(module).__name__ for module in missed})
    reason = "has no attention interface and hands" if len(names) == 1 else "have no attention interface and hand"
    return f"Not seen: {', '.join(names)}, which {reason} out no weights." if names else ""


def _trace_missed_modules(
    model: Any, inputs: dict[str, Any], module_log: ModuleLog, item: Items
) -> tuple[list[tuple[int, Call]], set[nn.Module]]:
    """Run the model again for the modules in which nothing was seen; return their calls, and the modules still missed.

    If that run fails, the recording does without it. With a cache among the inputs, which another run would fill
    further, there is no such run.
    """
    missed = module_log.missed
    if not missed or inputs.get("past_key_values") is not None:
        return [], missed
    try:
        calls, missed, _ = _second_run(model, inputs, module_log, missed, item=item)
        if missed:
            written_out, missed, _ = _second_run(model, inputs, module_log, missed, item=item, written_out=True)
            calls += written_out
        return calls, missed
    except Exception:
        log.warning("%s fails in another run", type(model).__name__, exc_info=True)
        return [], missed


def _second_run(
    model: Any,
    inputs: dict[str, Any],
    module_log: ModuleLog | None = None,
    missed: Collection[nn.Module] = (),
    **options: Any,
) -> tuple[list[tuple[int, Call]], set[nn.Module], Any]:
    """Return what trace_second_run does, with output_attentions=True if the model takes that argument."""
    extended = {**inputs, "output_attentions": True, "return_dict": True}
    with attn_implementation(_all_configs(model), "eager"):
        try:
            return trace_second_run(model, lambda: model(**extended), _n_items(inputs), module_log, missed, **options)
        except TypeError as error:
            if "output_attentions" not in str(error) and "return_dict" not in str(error):
                raise
            return trace_second_run(model, lambda: model(**inputs), _n_items(inputs), module_log, missed, **options)


def _check_model(model: Any) -> None:
    try:
        from transformers import PreTrainedModel
    except ImportError:
        raise ImportError("trace_model needs the package transformers: pip install transformers") from None
    if not isinstance(model, nn.Module) or not any(isinstance(module, PreTrainedModel) for module in model.modules()):
        raise TypeError(
            f"model must be a transformers model, got {type(model).__name__}; attention_core.capture() records any "
            "PyTorch code"
        )


@contextmanager
def _tracing_attention_registered() -> Iterator[None]:
    """Register our function and our masks under the library's name; they change nothing for other threads."""
    from transformers import AttentionInterface, AttentionMaskInterface

    ours: dict[Any, Any] = {AttentionInterface: attention, AttentionMaskInterface: mask}
    previous = {interface: interface()[FUSED] for interface in ours}
    try:
        for interface, function in ours.items():
            interface.register(FUSED, function)
        yield
    finally:
        for interface, function in previous.items():
            interface.register(FUSED, function)


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Put a model into evaluation mode inside the block; afterwards each of its modules has its former mode again."""
    before = {module: module.training for module in model.modules()}
    if any(before.values()):
        model.eval()
    try:
        yield
    finally:
        for module in model.modules():  # some models exchange modules as they run: new ones get the model's mode
            if module.training != (mode := before.get(module, before[model])):
                module.training = mode


def _interface_configs(model: nn.Module) -> list[tuple[Any, bool]]:
    """Return the configs of submodels with the interface, each with whether it knows fused attention."""
    from transformers import PreTrainedConfig, PreTrainedModel

    configs: dict[int, tuple[Any, bool]] = {}

    def add(config: Any, is_fused: bool) -> None:
        if isinstance(config, PreTrainedConfig):
            is_present = id(config) in configs
            configs[id(config)] = (config, is_fused and (not is_present or configs[id(config)][1]))
            for name in () if is_present else config.sub_configs:
                add(getattr(config, name, None), True)

    def visit(module: nn.Module, has_interface: bool, is_fused: bool) -> None:
        if isinstance(module, PreTrainedModel):
            has_interface, is_fused = has_attention_interface(type(module)), knows_fused_attention(type(module))
        if has_interface:
            add(getattr(module, "config", None), is_fused)
        for child in module.children():
            visit(child, has_interface, is_fused)

    visit(model, True, True)
    return list(configs.values())


def _all_configs(model: nn.Module) -> list[Any]:
    from transformers import PreTrainedConfig

    configs = {id(config): config for config in (getattr(module, "config", None) for module in model.modules())}
    return [config for config in configs.values() if isinstance(config, PreTrainedConfig)]


def _n_items(inputs: Mapping[str, Any]) -> int:
    tensors = [inputs.get("input_ids"), inputs.get("inputs_embeds"), *inputs.values()]
    return next((len(tensor) for tensor in tensors if isinstance(tensor, Tensor) and tensor.ndim), 1)


def _trace_without_interface(model: nn.Module, inputs: dict[str, Any], item: Items) -> tuple[Recording, Any]:
    """Return the recording of a model whose code bypasses the interface, and its output.

    The recording has the weights in the model's output, unless the calls in its modules show more attentions, or the
    output has one mean for all heads. Such a call is one of torch's own attention function, weights that a module hands
    out, or attention that the code writes out.
    """
    calls, missed, output = _second_run(model, inputs, item=item)
    handed_out = list(_named_weights(output))
    if missed or not (calls or handed_out):
        written_out, still_missed, new_output = _second_run(model, inputs, item=item, written_out=True)
        if len(written_out) > max(len(calls), len(handed_out)):
            calls, missed, output = written_out, still_missed, new_output
    missed = {module for module in missed if not missed & ({*module.modules()} - {module})}  # the innermost
    has_means = any(has_same_heads(weights) for _, weights in handed_out)
    note, name = "", type(model).__name__
    if len(handed_out) >= len(calls) + has_means:  # with as many of both, calls beat means over heads
        missed = missed if len(calls) + len(missed) > len(handed_out) else set()
        traces = [
            trace.with_story(name=f"{trace_name} {trace.story.name}".strip())
            for trace_name, weights in handed_out
            for trace in traces_of_weights(weights, n_items=_n_items(inputs), module=model, item=item)
        ]
    else:
        traces = name_calls(model, [call for _, call in calls])
        note = f"{name} hands out the same weights for all its heads; these are what was seen." if has_means else ""
    if any(not trace.query.shape[-1] for trace in traces):
        note = f"{name} bypasses the library's attention interface. {WEIGHTS_ONLY}"
    if not traces:
        reason = "no module of it calls itself attention"
        if any(is_attention(module) for module in model.modules()):
            reason = (
                "its code bypasses the library's attention interface, output_attentions=True gives no weights, and "
                "torch's own attention function is not called"
            )
        raise UnsupportedError(f"{name} shows no attention: {reason}.")
    if any(trace.story.name.startswith("encoder") and trace.n_queries != trace.n_keys for trace in traces):
        note += " It does not compare every position with every other: its columns are no positions of the input."
    return Recording(traces, f"{note} {_missed_note(missed)}".strip()), output


def _named_weights(output: Any) -> Iterator[tuple[str, Tensor]]:
    """Yield (name, weights) of what a model handed out: the encoder first, then each decoder layer's self and cross."""
    layers = {
        name: [layer for layer in output.get(name) or () if isinstance(layer, Tensor) and layer.ndim == 4]
        for name in ("encoder_attentions", "attentions", "decoder_attentions", "cross_attentions")
    }
    for number, weights in enumerate(layers["encoder_attentions"]):
        yield f"encoder.{number}.self", weights
    causal = all(_is_causal(weights) for weights in layers["attentions"]) or bool(layers["cross_attentions"])
    self_weights = layers["decoder_attentions"] or layers["attentions"]
    stack = "decoder" if layers["decoder_attentions"] or causal else "encoder"
    for number, (weights, cross) in enumerate(zip_longest(self_weights, layers["cross_attentions"])):
        if weights is not None:
            yield f"{stack}.{number}.self", weights
        if cross is not None:
            yield f"decoder.{number}.cross", cross


def _is_causal(weights: Tensor) -> bool:
    """Return whether no query of any item attends to a later key; uniform rows, as of padding, do not count."""
    is_uniform = weights.amax(-1) - weights.amin(-1) < 1e-6 * weights.amax(-1)
    return is_causal_mask(((weights > 0) & ~is_uniform[..., None]).flatten(0, 1).any(0))

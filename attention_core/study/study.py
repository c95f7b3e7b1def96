"""A model, and the questions that can be put to it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from inspect import signature
from itertools import chain, count
from typing import Any, Literal

import torch
from torch import Tensor

from attention_core.attention.edits import Edits
from attention_core.attention.recording import Recording
from attention_core.attention.view.page import View
from attention_core.data.phrase_book import phrase_book
from attention_core.deprecated import renamed_arguments
from attention_core.device import device_of
from attention_core.hub.model import CLASSIFIERS, readable, supported
from attention_core.hub.outputs import items_at_once
from attention_core.hub.tracing import UnsupportedError, run_model
from attention_core.study import effects
from attention_core.study.attribution import Attribution, Lens, attribute, average_attributions, lens
from attention_core.study.cache import Cache
from attention_core.study.edges import HeadEdges, head_edges
from attention_core.study.effects import Effects, Runner, over_many
from attention_core.study.generation import Written, write_on
from attention_core.study.heads import CorpusText, Heads, head_map, heads_over, name_heads
from attention_core.study.output import Metric, ModelOutput, number
from attention_core.study.sites import (
    MODULE_SITES,
    Projection,
    Site,
    WindowedError,
    activations,
    modules_at,
    projections_of,
    recorded,
    replacement,
)
from attention_core.study.sources import Stream
from attention_core.study.why import Against, Why, explain_score

Input = str | Mapping[str, Any] | Sequence[Any]
N_SENTENCES = 500
"""Of those that come along, in a corpus."""
N_REFERENCES = 100
"""Sentences of the corpus that comes along from which means and other inputs are taken."""


class Study:
    """A model, and the questions that can be put to it.

    Args:
        model: a transformers model, in any precision and on any device; it is left as it was.
        tokenizer: of the model, for texts; of a vision model its image processor. Not needed where inputs are tensors.
    """

    def __init__(self, model: Any, tokenizer: Any = None) -> None:
        self.model, self.tokenizer = model, tokenizer
        # where the heads of a model meet that hands over no attention as it runs; empty = it does, or is not yet run
        self._projections: Sequence[Projection] = ()
        is_classifier = type(model).__name__.endswith(CLASSIFIERS)
        # says which number of a model's logits a text is: the tokenizer, or a classifier's {name: class}
        self.namer = {name: number for number, name in model.config.id2label.items()} if is_classifier else tokenizer

    @renamed_arguments(given="item")
    def inputs(self, item: Input, **settings: Any) -> dict[str, Any]:
        """Return what the model is called with, on its device; a text is tokenised, with these settings.

        Raises:
            ValueError: more than one item, or a text without a tokenizer.
        """
        if isinstance(item, str) or not isinstance(item, Mapping):
            if self.tokenizer is None:
                raise ValueError("without a tokenizer an input is a mapping of tensors, such as input_ids")
            argument = "text" if isinstance(item, str) else "images"
            item = dict(self.tokenizer(**{argument: item}, return_tensors="pt", **settings))
        device, parameters = device_of(self.model), signature(self.model.forward).parameters
        inputs = {name: value.to(device) if isinstance(value, Tensor) else value for name, value in item.items()}
        if "token_type_ids" not in parameters:  # some tokenizers make more than their models take
            inputs.pop("token_type_ids", None)
        # patches of one picture stand below each other
        many_rows = {"pixel_values"} if "image_grid_thw" in inputs else set()
        tensors = [inputs[name] for name in inputs.keys() - many_rows if isinstance(inputs[name], Tensor)]
        if any(tensor.ndim and len(tensor) != 1 for tensor in tensors):
            raise ValueError("a study looks at one item at a time: give tensors whose first dimension is 1")
        return inputs

    @renamed_arguments(given="item")
    def run(self, item: Input, edits: Mapping[int, Edits] | None = None) -> tuple[Recording, ModelOutput]:
        """Run the model once, perhaps with edits by layer; return every attention, and what came out."""
        inputs = self.inputs(item)
        recording, output = run_model(self.model, inputs, edits=edits)
        if tokens := self.tokens(inputs):
            recording.label(tokens)
        return recording, ModelOutput.of_batch(output, self.namer)[0]

    @renamed_arguments(given="item")
    def tokens(self, item: Input) -> tuple[str, ...]:
        """Return the tokens of an input as people read them; empty where nobody knows."""
        ids = self.inputs(item).get("input_ids")
        if ids is None or not hasattr(self.tokenizer, "convert_ids_to_tokens"):
            return ()
        return readable(self.tokenizer, ids[0].tolist())

    def cache(self, item: Input) -> Cache:
        """Return everything of a run by name, such as "17.5.z", what a head hands over, and "residual.12"."""
        inputs, modules = self.inputs(item), dict[str, list[Any]]()
        for site in MODULE_SITES:
            with suppress(UnsupportedError):
                modules[site] = modules_at(self.model, site)
        with recorded([module for of_site in modules.values() for module in of_site]) as records:
            recording, _ = run_model(self.model, inputs)
        of_layers = {
            site: [records[module][0].reshape(-1, records[module][0].shape[-1]) for module in of_site]
            for site, of_site in modules.items()
        }
        return Cache(recording.traces, of_layers)

    def generate(
        self,
        item: Input,
        n: int,
        *,
        edits: Mapping[int, Edits] | None = None,
        progress: Callable[[float], Any] | None = None,
    ) -> Written:
        """Write at most n tokens after a text, the likeliest each time, with the model's cache; every step is recorded.

        Edits by layer hold in every step; positions in them count from the beginning of the text.

        Raises:
            UnsupportedError: the model keeps no cache.
        """
        return write_on(self.model, self.inputs(item), n, self.tokenizer, edits or {}, progress)

    def heads(self, corpus: Iterable[Input] | None = None, *, progress: Callable[[int], Any] | None = None) -> Heads:
        """Return what every head does over a corpus, in memory that grows with the number of heads alone.

        Args:
            corpus: texts, or inputs of one item each, as a stream; too long a text is cut. None = sentences that come
                along.
            progress: is given how many texts are done.

        Raises:
            ValueError: the corpus is empty.
            UnsupportedError: the model shows no attention.
        """
        corpus = phrase_book()[:: len(phrase_book()) // N_SENTENCES] if corpus is None else corpus
        return heads_over(self.model, self.tokenizer, map(self._text, count(), corpus), progress)

    def names(self, corpus: Iterable[Input] | None = None) -> Heads:
        """Return what heads are called, and the shares that say so, of two runs of the model.

        The names are those of `heads` over the same corpus, from which repeated random tokens are taken; it is not run.

        Raises:
            ValueError: the corpus is empty, or the model cannot read random words.
            UnsupportedError: the model shows no attention.
        """
        corpus = phrase_book()[:: len(phrase_book()) // N_SENTENCES] if corpus is None else corpus
        return name_heads(self.model, map(self._text, count(), corpus))

    @renamed_arguments(how="method")
    @over_many(effects.average)
    def ablate(
        self,
        clean: Input,
        *,
        metric: Metric,
        at: Site = "head_out",
        method: Literal["zero", "mean", "resample"] = "zero",
        reference: Iterable[Input] | None = None,
        positions: Sequence[int] | None = None,
        heads: Sequence[tuple[int, int]] | None = None,
        query: int = -1,
        window: int = 1,
        seed: int = 0,
        gradient: bool = False,
        measure: bool = True,
        progress: Callable[[float], Any] | None = None,
    ) -> Effects:
        """Return the metric without each part of the run, one part at a time and many in a batch.

        Args:
            clean: the input; or a list of inputs, for means with intervals.
            metric: what is measured, or one for each input.
            at: "head_out", what a head hands over, a map of layers and heads; "layer", all heads of a layer;
                "position", all heads of a layer at one position, layers and positions; "edge", that one query may not
                look at one key, layers and keys; "mlp" and "residual", what an MLP adds to the residual stream and the
                stream after a layer, layers and positions.
            method: what takes its place: nothing, the mean over a corpus, or what another text of the corpus has there.
            reference: the corpus; None = sentences that come along.
            positions: at which alone the part is exchanged; None = at all.
            heads: (layer, head), of "head_out" those that are tried, of "edge" those in which the edge is cut; None =
                all.
            query: of "edge", from whose row the edge is cut.
            window: of "edge", in how many layers around each it is cut.
            seed: of "resample".
            gradient: whether one gradient foretells the effects, too; not of "edge".
            measure: whether they are measured; else the values are the gradient's estimate, see patch.
            progress: is given the share that is done.

        Raises:
            UnsupportedError: nothing in this model can be exchanged there, with the reason.
            ValueError: no such `at` or `method`, or an empty corpus.
            IndexError: no such head or position.
        """
        _check("at", at, ("head_out", "layer", "position", "edge", "residual", "mlp"))
        _check("method", method, ("zero", "mean", "resample"))
        inputs = self.inputs(clean)
        runner = self._runner(inputs, progress)
        if at == "edge":
            recording, output = run_model(self.model, inputs)
            return self._measured(runner, at, metric, output, effects.cut_edges(recording.traces, query, window, heads))
        try:
            before, current, slopes = self._states(runner, at, metric, gradient or not measure)
        except WindowedError:
            if not measure or method != "zero" or positions is not None:
                raise
            recording, output = run_model(self.model, inputs)
            return self._measured(runner, at, metric, output, effects.drop_heads(recording.traces, at), heads)
        if method == "zero":
            replacements = [torch.zeros_like(states) for states in current]
        else:

            def read(inputs: Mapping[str, Any]) -> list[Tensor]:
                return activations(self.model, inputs, at, runner.projections)[0][0]

            texts = phrase_book()[:: len(phrase_book()) // N_REFERENCES] if reference is None else reference
            replacements = replacement(read, map(self.inputs, texts), current, method, seed)
        only = heads if at == "head_out" else None
        return self._exchanged(runner, at, metric, before, current, replacements, slopes, positions, measure, only)

    @over_many(effects.average)
    def patch(
        self,
        clean: Input,
        corrupt: Input,
        *,
        metric: Metric,
        at: Site = "head_out",
        positions: Sequence[int] | None = None,
        heads: Sequence[tuple[int, int]] | None = None,
        gradient: bool = True,
        measure: bool = True,
        progress: Callable[[float], Any] | None = None,
    ) -> Effects:
        """Return the metric of the corrupt run after each of its parts is given what it has in the clean run.

        Args:
            clean: the run from which parts are taken; or a list of pairs (clean, corrupt), for means with intervals.
            corrupt: the run in which they are put, of as many tokens.
            metric: what is measured, or one for each pair; Effects.before is that of the corrupt run, goal that of the
                clean one.
            at: as for ablate, and "pattern": a head has the clean run's weights, and its own values.
            positions: at which alone parts are exchanged, of a pattern its rows; None = at all.
            heads: (layer, head), of "head_out" and "pattern" those that are measured; None = all.
            gradient: whether one gradient foretells the effects, too, see Effects.estimate and correlation.
            measure: whether they are measured; else the values are the estimate, of two forwards and one backward. A
                difference of logits is closer to linear than a probability.
            progress: is given the share that is done.
        """
        _check("at", at, ("head_out", "layer", "position", "pattern", "residual", "mlp"))
        clean_inputs, inputs = self.inputs(clean), self.inputs(corrupt)
        effects.check_lengths(clean_inputs, inputs)
        goal, source, _ = self._states(self._runner(clean_inputs), at, metric)
        runner = self._runner(inputs, progress)
        before, current, slopes = self._states(runner, at, metric, gradient or not measure)
        only = heads if at in ("head_out", "pattern") else None
        effect = self._exchanged(runner, at, metric, before, current, source, slopes, positions, measure, only)
        return replace(effect, goal=goal)

    def edges(self, clean: Input, corrupt: Input, *, metric: Metric) -> HeadEdges:
        """Return what each head gives to each later one, by one gradient of the corrupt run, see HeadEdges.

        Raises:
            UnsupportedError: the architecture is not described, or norms what its heads add to the stream.
        """
        clean_inputs, inputs = self.inputs(clean), self.inputs(corrupt)
        effects.check_lengths(clean_inputs, inputs)
        _, source, _ = self._states(self._runner(clean_inputs), "head_out", metric)
        _, current, slopes = self._states(self._runner(inputs), "head_out", metric, gradient=True)
        assert slopes is not None
        return head_edges(self.stream(inputs), source, current, slopes)

    def carry(self, clean: Input, corrupt: Input, states: Sequence[tuple[int, int, int]]) -> ModelOutput:
        """Return the output of the corrupt run with states of the clean one put into it, all at once.

        Args:
            clean: the run from which states are taken; it may have another number of tokens.
            corrupt: the run in which they are put.
            states: (layer, position in clean, position in corrupt), of the residual stream after a layer.

        Raises:
            UnsupportedError: the model has no layers that are modules.
            IndexError: there is no such layer or position.
        """
        (source,), _ = activations(self.model, self.inputs(clean), "residual", [])
        inputs = self.inputs(corrupt)
        return Runner(self.model, inputs, self.namer).outputs([effects.carry_states(self.model, source, states)])[0]

    @over_many(average_attributions)
    def attribute(self, clean: Input, *, metric: Metric) -> Attribution:
        """Return how much each head, MLP and the embedding add to a metric that is linear in the logits.

        Of a list of inputs these are means with intervals, and there may be a metric for each.

        Norms keep the scales that they had. Of a model without logits the metric reads ModelOutput.hidden.

        Raises:
            UnsupportedError: the architecture or its head is not described, see families.toml.
            ValueError: the metric is not linear.
        """
        return attribute(self.stream(clean), metric, self.namer)

    def lens(self, clean: Input, *, position: int | None = None, n: int = 5) -> Lens:
        """Return the n likeliest tokens (or classes) after each layer, at a position; None = at every one.

        Raises:
            UnsupportedError: the architecture is not described, or has no head.
        """
        return lens(self.stream(clean), self.namer, position, n)

    def why(self, clean: Input, *, layer: int, head: int, query: int, key: int, against: Against = "mean") -> Why:
        """Return one score as a table, sources of its query by sources of its key.

        Args:
            clean: the input.
            layer: whose head it is, from 0.
            head: of the layer, from 0.
            query: position, from 0 or, below it, from the end.
            key: position.
            against: with what the key is compared: "mean", the mean of the other keys that the query may see; another
                key's position, the table is of this one *rather than* that one; None, with nothing.

        Raises:
            UnsupportedError: the architecture is not described, see families.toml.
            IndexError: there is no such head or position.
            ValueError: the query may not see the key.
        """
        inputs = self.inputs(clean)
        inputs |= supported(self.model, logits_to_keep=1)  # nobody reads them
        return explain_score(self.stream(inputs), layer, head, query, key, against)

    def show(
        self, clean: Input, *, colour: Any = None, beside: Sequence[Any] | Mapping[str, Any] = (), **options: Any
    ) -> View:
        """Return every layer and head as a page, coloured by one result, with others written beside it.

        Args:
            clean: the input.
            colour: what ablate, patch or attribute returned, or any numbers (n_layers, n_heads); the page opens on the
                largest.
            beside: more of them; by name, if they are a mapping.
            options: as for Recording.show.

        Raises:
            ValueError: a result that has no number for each head.
        """
        named = beside.items() if isinstance(beside, Mapping) else (("", result) for result in beside)
        measures: dict[str, Tensor] = {}
        for label, result in chain([] if colour is None else [("", colour)], named):
            name, values = head_map(result)
            name = label or name
            measures[name if name not in measures else f"{name} ({len(measures) + 1})"] = values
        if colour is not None:
            values = next(iter(measures.values()))
            layer, head = divmod(int(values.abs().nan_to_num(-1).argmax()), values.shape[1])
            options = {"layer": layer, "head": head} | options
        return self.run(clean)[0].show(measures={name: values.tolist() for name, values in measures.items()}, **options)

    def stream(self, clean: Input) -> Stream:
        """Return the run of an input as sums over sources; of a model in half precision that of a copy in float32."""
        inputs = self.inputs(clean)
        return Stream(self.model, inputs, self.tokens(inputs))

    def _text(self, number: int, item: Input) -> CorpusText:
        inputs = self.inputs(item, **({"truncation": True} if isinstance(item, str) else {}))
        ids = inputs.get("input_ids")
        if ids is None:
            return CorpusText(number, inputs, torch.zeros(1, 1, dtype=torch.bool, device=device_of(self.model)))
        special = torch.tensor(getattr(self.tokenizer, "all_special_ids", ()), dtype=ids.dtype, device=ids.device)
        return CorpusText(number, inputs, torch.isin(ids, special))

    def _runner(self, inputs: Mapping[str, Any], progress: Callable[[float], Any] | None = None) -> Runner:
        return Runner(self.model, inputs, self.namer, self._projections, progress=progress)

    def _states(
        self, runner: Runner, site: Site, metric: Metric, gradient: bool = False
    ) -> tuple[float, list[Tensor], list[Tensor] | None]:
        """Return the metric of a run as it is, what each layer has at a site, and with a gradient its slopes there."""
        states_at = effects.gradients_at if gradient else effects.states_at
        try:
            output, states, slopes = states_at(runner, site, metric)
        except WindowedError:
            raise
        except UnsupportedError:
            if runner.projections or site not in ("head_out", "layer", "position"):
                raise
            self._projections = runner.projections = projections_of(self.model, runner.inputs)
            output, states, slopes = states_at(runner, site, metric)
        runner.n_at_once = items_at_once(output.logits)
        return number(metric(output)), states, slopes

    def _exchanged(
        self,
        runner: Runner,
        site: Site,
        metric: Metric,
        before: float,
        current: list[Tensor],
        replacements: list[Tensor],
        slopes: list[Tensor] | None,
        positions: Sequence[int] | None,
        measure: bool,
        only: Sequence[tuple[int, int]] | None = None,
    ) -> Effects:
        """Return the effects of other states at a site, measured or estimated by slopes or both."""
        estimate = None
        if slopes is not None:
            estimate = before + effects.estimate_changes(site, current, replacements, slopes, positions)
        if measure or estimate is None:
            changes = effects.changes_at(site, current, replacements, self.model, positions)
            values = runner.measure(changes, metric, only)
        else:
            values = estimate
        tokens = self.tokens(runner.inputs)
        return Effects(values, before, site=site, tokens=tokens, estimate=estimate, is_measured=measure)

    def _measured(
        self,
        runner: Runner,
        site: Site,
        metric: Metric,
        batch: Any,
        changes: effects.Changes,
        only: Sequence[tuple[int, int]] | None = None,
    ) -> Effects:
        output = ModelOutput.of_batch(batch, self.namer)[0]
        runner.n_at_once = items_at_once(output.logits)
        values = runner.measure(changes, metric, only)
        return Effects(values, number(metric(output)), site=site, tokens=self.tokens(runner.inputs))


def _check(argument: str, value: str, options: Sequence[str]) -> None:
    if value not in options:
        raise ValueError(f"{argument} must be one of {', '.join(options)}, got {value!r}")

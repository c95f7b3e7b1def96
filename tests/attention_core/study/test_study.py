"""A study equals hooks written by hand, for each architecture; its sums are exact, and it says what it cannot."""

import math

import pytest
import torch
import transformers as hf
from torch import nn
from torch.testing import assert_close

from attention_core import BlockEdge, BlockKeys, DropHead, load
from attention_core.data.language_pieces import tokenizer
from attention_core.hub.tracing import UnsupportedError, run_model
from attention_core.study import ModelOutput, Study, effects
from attention_core.study.families import family_of, matrix, submodule
from attention_core.study.sites import layers_of
from tests.support.study_models import (
    CLASSES,
    CLASSIFIERS,
    CLEAN,
    CORRUPT,
    MODELS,
    REFUSED,
    frozen,
    hooked,
    inputs_of,
    measured,
    metric_of,
    model_of,
    seen,
    stirred,
)
from tests.support.tiny_models import BYPASSING, GENERATOR, IDS, PLAIN, build

NAMES = [*MODELS]


def projections(model):
    family, layers = family_of(model), layers_of(model)
    return [submodule(layer, family.output) for layer in layers]


def with_columns(head, new, d=8):
    """Return a function that exchanges what a head hands to its layer's projection."""

    def change(given):
        given = given.clone()
        given[..., head * d : (head + 1) * d] = new
        return given

    return change


def by_hand(model, inputs, metric, change):
    """Return the metric after change(layer, head) of what each projection is given."""
    values = torch.zeros(2, 4)
    for layer, module in enumerate(projections(model)):
        for head in range(4):
            with hooked(module, before=change(layer, head)):
                values[layer, head] = measured(model, inputs, metric)
    return values.double()


@pytest.mark.parametrize("name", NAMES)
def test_heads_are_ablated_and_patched_as_by_hooks(name):
    model, (clean, corrupt), metric = model_of(name), inputs_of(name), metric_of(name)
    study = Study(model)
    zero = study.ablate(clean, metric=metric)
    assert_close(
        zero.values, by_hand(model, clean, metric, lambda layer, head: with_columns(head, 0.0)), atol=1e-5, rtol=0
    )
    assert zero.before == pytest.approx(measured(model, clean, metric), abs=1e-5)
    given = [seen(model, clean, module) for module in projections(model)]
    put = study.patch(clean, corrupt, metric=metric)
    expected = by_hand(
        model, corrupt, metric, lambda layer, head: with_columns(head, given[layer][..., 8 * head : 8 * head + 8])
    )
    assert_close(put.values, expected, atol=1e-5, rtol=0)
    assert put.goal == pytest.approx(zero.before, abs=1e-5)
    of_two = study.patch(clean, corrupt, metric=metric, heads=[(0, 1), (1, 3)])
    assert of_two.values.isnan().sum() == 6
    assert_close(of_two.values[1, 3], put.values[1, 3])
    assert_close(of_two.estimate, put.estimate)
    mean = study.ablate(clean, metric=metric, method="mean", reference=[clean, corrupt])
    batch = [
        torch.cat([seen(model, one, module)[0] for one in (clean, corrupt)]).mean(0) for module in projections(model)
    ]
    expected = by_hand(
        model, clean, metric, lambda layer, head: with_columns(head, batch[layer][8 * head : 8 * head + 8])
    )
    assert_close(mean.values, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", NAMES)
def test_states_are_patched_as_by_hooks_at_each_position(name):
    model, (clean, corrupt), metric = model_of(name), inputs_of(name), metric_of(name)
    family, layers = family_of(model), layers_of(model)
    mlp = "mlp" if "post" in family.mlp else family.mlp  # of Gemma and OLMo 2 before the norm of what it adds
    for site, modules in (("residual", layers), ("mlp", [submodule(layer, mlp) for layer in layers])):
        put = Study(model).patch(clean, corrupt, metric=metric, at=site)
        for layer, position in ((0, 3), (1, 2)):
            states = seen(model, clean, modules[layer], "put out")

            def write(output, states=states, position=position):
                return output.index_copy(1, torch.tensor([position]), states[:, position, None])

            with hooked(modules[layer], after=write):
                assert put.values[layer, position] == pytest.approx(measured(model, corrupt, metric), abs=1e-5)


@pytest.mark.parametrize("name", ["llama", "bert", "gemma2"])
def test_one_gradient_foretells_patches_as_far_as_they_are_linear(name):
    model, metric = model_of(name), metric_of(name)
    put = Study(model).patch(CLEAN, CORRUPT, metric=metric)
    nudges = [torch.zeros(1, 11, 32).requires_grad_() for _ in range(2)]
    handles = [
        module.register_forward_pre_hook(lambda _, args, nudge=nudge: (args[0] + nudge,))
        for module, nudge in zip(projections(model), nudges, strict=True)
    ]
    value = metric(ModelOutput.of_batch(model(**CORRUPT))[0])
    value.backward()
    for handle in handles:
        handle.remove()
    for layer, module in enumerate(projections(model)):
        steps = (seen(model, CLEAN, module) - seen(model, CORRUPT, module)) * nudges[layer].grad
        expected = steps.view(11, 4, 8).sum((0, 2)).double() + put.before
        assert_close(put.estimate[layer], expected, atol=1e-5, rtol=0)
    model.zero_grad()
    near = {"inputs_embeds": model.get_input_embeddings()(CORRUPT["input_ids"]).detach()}
    nudged = {"inputs_embeds": near["inputs_embeds"] + 2e-3 * torch.randn(1, 11, 32, generator=GENERATOR)}
    for site in ("head_out", "position", "layer", "mlp", "residual"):
        assert Study(model).patch(nudged, near, metric=metric, at=site).correlation > 0.98


@pytest.mark.parametrize("name", ["llama", "vit", "gpt2"])
def test_an_estimate_takes_two_forwards_and_one_backward(name):
    model, (clean, corrupt), metric = model_of(name), inputs_of(name), metric_of(name)
    measured_too, n_runs = Study(model).patch(clean, corrupt, metric=metric), []
    handle = model.register_forward_hook(lambda *_: n_runs.append(1))
    put = Study(model).patch(clean, corrupt, metric=metric, measure=False)
    assert len(n_runs) == 2
    cut = Study(model).ablate(clean, metric=metric, measure=False)
    assert len(n_runs) == 3
    handle.remove()
    assert_close(put.values, measured_too.estimate)
    assert (put.is_measured, math.isnan(put.correlation)) == (False, True)
    assert (put.before, put.goal) == pytest.approx((measured_too.before, measured_too.goal), abs=1e-5)
    nudges = [torch.zeros(()).requires_grad_() for _ in projections(model)]
    handles = [
        module.register_forward_pre_hook(lambda _, args, nudge=nudge: (args[0] * (1 + nudge * chosen),))
        for module, nudge in zip(projections(model), nudges, strict=True)
    ]
    chosen = torch.zeros(32).index_fill(0, torch.arange(8, 16), 1.0)  # head 1
    metric(ModelOutput.of_batch(model(**clean))[0]).backward()
    for handle in handles:
        handle.remove()
    expected = torch.stack([cut.before - nudge.grad for nudge in nudges])
    assert_close(cut.values[:, 1], expected.double(), atol=1e-5, rtol=0)
    model.zero_grad()
    both = Study(model).ablate(clean, metric=metric, gradient=True)
    assert_close(both.estimate, cut.values)
    assert -1 <= both.correlation <= 1
    with pytest.raises(ValueError, match="needs a metric that returns a tensor"):
        Study(model).ablate(clean, metric=lambda out: 1.0, measure=False)


@pytest.mark.parametrize("name", ["llama", "gpt2", "bert", "gemma3"])
def test_the_gradient_of_a_long_text_saves_the_inputs_of_layers_alone(name, monkeypatch):
    model, (clean, corrupt), metric = model_of(name), inputs_of(name), metric_of(name)

    def values_and_n_saved():
        tensors = []
        with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensors.append(tensor) or tensor, lambda x: x):
            return Study(model).patch(clean, corrupt, metric=metric, measure=False).values, len(tensors)

    expected, n_of_all = values_and_n_saved()
    layer = layers_of(model)[0]
    layer.forward = exchanged = layer.forward  # as a library does that moves layers between devices
    monkeypatch.setattr(effects, "N_SAVED", 5)
    values, n_saved = values_and_n_saved()
    assert_close(values, expected)
    assert n_saved < n_of_all / 3
    assert [module.forward for module in model.modules() if "forward" in vars(module)] == [exchanged]
    del layer.forward


def test_slopes_are_the_same_however_a_metric_reads_the_logits():
    study, (clean, _) = Study(model_of("llama")), inputs_of("llama")
    expected = study.attribute(clean, metric=lambda out: out.logit(3) - out.logit(5, -2))
    for metric in (
        lambda out: out.logits[-1, 3] - out.logits[-2, 5],
        lambda out: out.logits[-1, 3] - out.logit(5, 9) + 0 * out.probability(4, 1),
    ):
        assert_close(study.attribute(clean, metric=metric).heads, expected.heads)


def test_many_inputs_give_means_and_intervals():
    study, metrics, done = (
        Study(model_of("llama")),
        [metric_of("llama"), lambda out: out.logit(3), metric_of("llama")],
        [],
    )
    pairs = [(CLEAN, CORRUPT), (CORRUPT, CLEAN), (CLEAN, CLEAN)]
    singles = [study.patch(*pair, metric=metric) for pair, metric in zip(pairs, metrics, strict=True)]
    put = study.patch(pairs, metric=metrics, progress=done.append)
    values = torch.stack([one.values for one in singles])
    assert_close(put.values, values.mean(0))
    assert_close(put.margins, 1.96 * values.std(0) / 3**0.5)
    assert_close(put.change_margins, 1.96 * torch.stack([one.change for one in singles]).std(0) / 3**0.5)
    assert put.goal == pytest.approx(sum(one.goal for one in singles) / 3)
    assert put.columns()["margin"] == put.margins.flatten().tolist()
    assert (done == sorted(done), done[-1]) == (True, 1)
    cut = study.ablate([CLEAN, CORRUPT], metric=metrics[0])
    one, two = (study.ablate(item, metric=metrics[0]).values for item in (CLEAN, CORRUPT))
    assert_close(cut.values, (one + two) / 2)
    added = study.attribute([CLEAN, CORRUPT], metric=metrics[0])
    one, two = (study.attribute(item, metric=metrics[0]) for item in (CLEAN, CORRUPT))
    assert added["1.2"] == pytest.approx((one["1.2"] + two["1.2"]) / 2)
    assert added.margins["1.2"] == pytest.approx(1.96 * abs(one["1.2"] - two["1.2"]) / 2)
    assert added.columns()["margin"][0] == added.margins["embedding"]
    short = {"input_ids": IDS[:1, :5]}
    with pytest.raises(ValueError, match="no positions in common"):
        study.ablate([CLEAN, short], metric=metrics[1], at="residual")


def test_other_parts_are_taken_away_as_the_run_s_own_edits_and_hooks_do():
    model, metric = model_of("llama"), metric_of("llama")
    study = Study(model)
    given = [seen(model, CLEAN, module) for module in projections(model)]

    def value_with(module, change):
        with hooked(module, before=change):
            return measured(model, CLEAN, metric)

    layers = study.ablate(CLEAN, metric=metric, at="layer").values
    positions = study.ablate(CLEAN, metric=metric, at="position").values
    at_positions = study.ablate(CLEAN, metric=metric, positions=[2, -1]).values
    for layer, module in enumerate(projections(model)):
        assert layers[layer] == pytest.approx(value_with(module, torch.zeros_like), abs=1e-5)
        at_4 = given[layer].clone()
        at_4[0, 4] = 0
        assert positions[layer, 4] == pytest.approx(value_with(module, lambda _, new=at_4: new), abs=1e-5)
        of_head = given[layer].clone()
        of_head[0, [2, -1], 8:16] = 0
        assert at_positions[layer, 1] == pytest.approx(value_with(module, lambda _, new=of_head: new), abs=1e-5)
    resampled = study.ablate(CLEAN, metric=metric, method="resample", reference=[CORRUPT]).values
    assert_close(resampled, study.patch(CORRUPT, CLEAN, metric=metric).values, atol=1e-5, rtol=0)


def test_an_edge_is_cut_in_so_many_layers():
    model, metric = model_of("llama"), metric_of("llama")
    cut = Study(model).ablate(CLEAN, metric=metric, at="edge", window=2).values
    new = []
    for layer, module in enumerate(projections(model)):  # the second layer is taken from the run without the edge
        with hooked(projections(model)[0], before=lambda given: new[0] if new else given):
            trace, given = run_model(model, CLEAN)[0].traces[layer], seen(model, CLEAN, module)
        given = given.clone()
        for head in range(4):
            scores = trace.scores(head, [10])[0].clone()
            scores[6] = -math.inf
            given[0, 10, 8 * head : 8 * head + 8] = scores.softmax(0) @ trace.value_of(head)
        new.append(given)
    with hooked(projections(model)[0], before=lambda _: new[0]), hooked(projections(model)[1], before=lambda _: new[1]):
        assert cut[0, 6] == pytest.approx(measured(model, CLEAN, metric), abs=1e-5)
    assert_close(cut[0], cut[1])
    in_one_head = Study(model).ablate(CLEAN, metric=metric, at="edge", heads=[(1, 2)], query=10).values
    assert (
        in_one_head[0].isnan().all() or (in_one_head[0] - in_one_head[0, 0]).abs().max() < 1e-5
    )  # nothing is cut in layer 0
    assert (in_one_head[1] - in_one_head[1, 0]).abs().max() > 1e-3


def test_a_pattern_is_patched_and_the_values_stay():
    model, metric = model_of("llama"), metric_of("llama")
    put = Study(model).patch(CLEAN, CORRUPT, metric=metric, at="pattern")
    rows = Study(model).patch(CLEAN, CORRUPT, metric=metric, at="pattern", positions=[5]).values
    clean_traces, corrupt_traces = (run_model(model, one)[0].traces for one in (CLEAN, CORRUPT))
    for layer, head in ((0, 1), (1, 3)):
        context = clean_traces[layer].weights(head) @ corrupt_traces[layer].value_of(head)
        with hooked(projections(model)[layer], before=with_columns(head, context)):
            assert put.values[layer, head] == pytest.approx(measured(model, CORRUPT, metric), abs=1e-5)
        context = torch.cat(
            [corrupt_traces[layer].context(head)[:5], context[5:6], corrupt_traces[layer].context(head)[6:]]
        )
        with hooked(projections(model)[layer], before=with_columns(head, context)):
            assert rows[layer, head] == pytest.approx(measured(model, CORRUPT, metric), abs=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_parts_add_up_to_the_metric_and_a_head_adds_what_hooks_say(name):
    model, (clean, _), metric = model_of(name), inputs_of(name), metric_of(name)
    family, layers = family_of(model), layers_of(model)
    attribution = Study(model).attribute(clean, metric=metric)
    assert attribution.value == pytest.approx(sum(attribution.columns()["value"]), abs=1e-9)
    assert abs(attribution.residue) < 1e-5
    if name != "gemma2":  # whose metric is before the softcap
        assert attribution.value == pytest.approx(measured(model, clean, metric), abs=1e-5)
    assert ("softcap" in attribution.note) == (name == "gemma2")
    assert attribution.heads.shape == (2, 4)
    for layer, head in ((0, 1), (1, 2)):
        output = submodule(layers[layer], family.output)
        with torch.no_grad():
            added = (
                seen(model, clean, output)[..., 8 * head : 8 * head + 8] @ matrix(output)[0][8 * head : 8 * head + 8]
            )
            norms = [submodule(layers[layer], family.writes)]
            norms += [submodule(layers[number], place) for number in range(layer, 2) for place in family.after]
            for norm in filter(None, [*norms, submodule(model.base_model, family.final)]):
                added = frozen(norm, seen(model, clean, norm))(added)
            plain = ModelOutput(None, added[0])
            if name == "vit":
                plain = ModelOutput(added[0, 0] @ model.classifier.weight.T)
            elif name != "minilm":
                for before, module in zip((None, *family.head), family.head, strict=False):
                    module, before = submodule(model, module), before and submodule(model, before)
                    if before is not None:
                        added = added * seen(model, clean, module) / seen(model, clean, before, "put out")
                    is_norm = isinstance(module, nn.LayerNorm)
                    added = frozen(module, seen(model, clean, module))(added) if is_norm else added @ module.weight.T
                plain = ModelOutput(added[0])
            expected = float(metric(plain))
        assert attribution[f"{layer}.{head}"] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "minilm"])
def test_the_lens_ends_at_the_model_s_own_prediction(name):
    model, (clean, _) = model_of(name), inputs_of(name)
    position = 0 if name == "vit" else 4
    seen_through = Study(model).lens(clean, position=position, n=3)
    with torch.no_grad():
        logits = model(**clean).logits[0]
    expected = logits if name == "vit" else logits[4]
    assert_close(seen_through.logits[-1], expected, atol=1e-5, rtol=0)
    assert seen_through.logits.shape == (3, len(expected))
    assert seen_through.likeliest[-1][0][1] == pytest.approx(float(expected.softmax(-1).max()), abs=1e-5)
    rows = seen_through.columns()
    assert rows["layer"] == tuple(layer for layer in range(3) for _ in rows["rank"][: len(rows["rank"]) // 3])


@pytest.mark.parametrize("name", ["llama", "gpt2", "bert"])
def test_the_lens_reads_every_position_and_says_at_which(name):
    model = model_of(name)
    everywhere, at_4 = Study(model).lens(CLEAN, n=3), Study(model).lens(CLEAN, position=4, n=3)
    assert everywhere.by_position[4] == at_4.likeliest
    assert everywhere.likeliest == everywhere.by_position[-1]
    with torch.no_grad():
        likeliest = model(**CLEAN).logits[0].softmax(-1).max(-1)
    tops = [layers[-1][0] for layers in everywhere.by_position]
    assert [name for name, _ in tops] == [str(token) for token in likeliest.indices.tolist()]
    assert_close(torch.tensor([share for _, share in tops]), likeliest.values)
    rows = everywhere.columns()
    assert [(p, layer, rank) for p, layer, rank in zip(rows["position"], rows["layer"], rows["rank"], strict=True)] == [
        (p, layer, rank) for p in range(11) for layer in range(3) for rank in range(3)
    ]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_the_classes_of_a_classifier_are_taken_apart_and_named(name):
    kind, config, settings = CLASSIFIERS[name]
    model, (clean, _) = stirred(kind, config, settings | CLASSES), inputs_of(name)
    study, family, layers = Study(model), family_of(model), layers_of(model)

    def gap(out):
        return out.logit("glad") - out.logit("mad")

    with torch.no_grad():
        logits = model(**clean).logits[0]
    added = study.attribute(clean, metric=gap)
    assert added.value == pytest.approx(float(logits[1] - logits[2]), abs=1e-5)
    assert abs(added.residue) < 1e-5
    row = -1 if name in ("llama", "gpt2") else 0
    for layer, head in ((0, 1), (1, 2)):
        output, columns = submodule(layers[layer], family.output), slice(8 * head, 8 * head + 8)
        with torch.no_grad():
            vector = (seen(model, clean, output)[0, :, columns] @ matrix(output)[0][columns])[None]
            norms = [submodule(layers[number], path) for number in range(layer, 2) for path in family.after]
            for norm in filter(None, [*norms, submodule(model.base_model, family.final)]):
                vector = frozen(norm, seen(model, clean, norm))(vector)
            vector = vector[0, row]
            for number, path in enumerate(family.head):
                module = submodule(model, path)
                if number:
                    previous = seen(model, clean, submodule(model, family.head[number - 1]), "put out").flatten()
                    vector = vector * seen(model, clean, module).flatten() / previous
                vector = vector @ module.weight.T
        assert added[f"{layer}.{head}"] == pytest.approx(float(vector[1] - vector[2]), abs=1e-5)
    through = study.lens(clean, position=row, n=3)
    assert dict(through.likeliest[-1]) == pytest.approx(
        dict(zip(("sad", "glad", "mad"), logits.softmax(0).tolist(), strict=True)), abs=1e-5
    )
    cut = study.ablate(clean, metric=gap)
    with hooked(projections(model)[1], before=with_columns(2, 0.0)):
        assert cut.values[1, 2] == pytest.approx(
            measured(model, clean, lambda out: out.logit(1) - out.logit(2)), abs=1e-5
        )
    with pytest.raises(ValueError, match="the classes of this model are sad, glad, mad, got 'bad'"):
        study.ablate(clean, metric=lambda out: out.logit("bad"))


@pytest.mark.parametrize("name", ["llama", "gpt2", "qwen3", "vit"])
def test_an_edge_is_the_slope_of_what_one_head_reads_of_another(name):
    """A head's query, key or value is computed from a stream to which t times the difference is added; by t = 0."""
    model, (clean, corrupt), metric = model_of(name), inputs_of(name), metric_of(name)
    edges, family, layers = Study(model).edges(clean, corrupt, metric=metric), family_of(model), layers_of(model)
    output = submodule(layers[0], family.output)
    given = seen(model, clean, output) - seen(model, corrupt, output)
    attention, norm = submodule(layers[1], family.attention), submodule(layers[1], family.reads)
    states = seen(model, corrupt, layers[1])
    n_key_heads = getattr(model.config, "num_key_value_heads", 4)
    for sender in range(4):
        difference = given[..., 8 * sender : 8 * sender + 8] @ matrix(output)[0][8 * sender : 8 * sender + 8]
        for which in range(3):
            n_heads = 4 if which == 0 else n_key_heads
            module = getattr(attention, family.projections[which % len(family.projections)])
            for head in range(n_heads):
                t = torch.zeros(()).requires_grad_()
                start = 8 * head + (32 * which if len(family.projections) == 1 else 0)

                def change(projected, t=t, start=start, module=module, difference=difference):
                    columns = slice(start, start + 8)
                    new = module.forward(norm(states + t * difference))[..., columns]
                    return torch.cat([projected[..., :start], new, projected[..., start + 8 :]], -1)

                with hooked(module, after=change):
                    value = metric(ModelOutput.of_batch(model(**corrupt))[0])
                (slope,) = torch.autograd.grad(value, t)
                group = slice(head * 4 // n_heads, (head + 1) * 4 // n_heads)  # heads that share a key
                assert edges.by_input[which, 0, sender, 1, group].sum() == pytest.approx(float(slope), abs=1e-5)
    assert not edges.values[1].any()
    first = edges.largest(1)[0]
    assert abs(first[2]) == pytest.approx(float(edges.values.abs().max()))
    assert len(edges.columns()["from"]) == 16
    with pytest.raises(UnsupportedError, match="norms what its heads add"):
        Study(model_of("bert")).edges(CLEAN, CORRUPT, metric=metric_of("bert"))


@pytest.mark.parametrize("name", ["llama", "gpt2", "bert", "vit"])
def test_a_cache_holds_what_hooks_see(name):
    model, clean = model_of(name), inputs_of(name)[0]
    cache, family = Study(model).cache(clean), family_of(model)
    for layer, module in enumerate(layers_of(model)):
        assert_close(cache[f"residual.{layer}"], seen(model, clean, module, "put out")[0], atol=1e-5, rtol=0)
        given = seen(model, clean, projections(model)[layer])[0]
        for head in range(4):
            assert_close(cache[f"{layer}.{head}.z"], given[:, 8 * head : 8 * head + 8], atol=1e-5, rtol=0)
    if "post" not in family.mlp:
        mlp = submodule(layers_of(model)[1], family.mlp)
        assert_close(cache["mlp.1"], seen(model, clean, mlp, "put out")[0], atol=1e-5, rtol=0)
    trace = run_model(model, clean)[0].traces[1]
    assert_close(cache["1.2.pattern"] @ cache["1.2.v"], cache["1.2.z"], atol=1e-5, rtol=0)
    assert_close(cache["1.2.scores"], trace.scores(2))
    assert_close(cache["1.2.q"] @ cache["1.2.k"].T * trace.score.factor(8), trace.scores(2), atol=1e-5, rtol=0)
    assert len([*cache]) == len(cache) == 2 * 4 * 6 + 2 * 2
    for name in ("2.0.z", "0.4.z", "0.0.y", "residual.2", "z"):
        with pytest.raises(KeyError, match="there is no"):
            cache[name]


@pytest.mark.parametrize("name", ["llama", "gpt2", "gpt_neox", "qwen3"])
def test_what_is_written_with_a_cache_is_what_the_model_writes_and_sees(name):
    model = model_of(name)
    written = Study(model).generate(CLEAN, 6)
    expected = model.generate(**CLEAN, max_new_tokens=6, do_sample=False)[0].tolist()
    assert list(written.ids) == expected
    joined, once = written.joined(), run_model(model, {"input_ids": torch.tensor([expected[:-1]])})[0]
    for trace, whole in zip(joined.traces, once.traces, strict=True):
        for head in range(4):
            assert_close(trace.weights(head), whole.weights(head), atol=1e-5, rtol=0)
            assert_close(trace.context(head), whole.context(head), atol=1e-5, rtol=0)
        assert list(trace.story.key_axis.labels) == [str(token) for token in expected[:-1]]


def test_edits_hold_in_every_step_of_writing():
    model, edits = model_of("llama"), {0: [DropHead(1)], 1: [BlockEdge(12, 3), BlockKeys((13,))]}
    written = Study(model).generate(CLEAN, 6, edits=edits)
    whole = run_model(model, {"input_ids": torch.tensor([written.ids[:-1]])}, edits=edits)
    assert whole[1].logits[0, 10:].argmax(-1).tolist() == list(written.ids[11:])
    for trace, expected in zip(written.joined().traces, whole[0].traces, strict=True):
        assert_close(trace.weights(2), expected.weights(2), atol=1e-5, rtol=0)
    assert written.joined().traces[1].weights(0)[12, 3] == 0
    with pytest.raises(UnsupportedError, match="Not joined: decoder"):
        Study(model_of("mistral")).generate(CLEAN, 6).joined()


def test_half_precision_is_taken_apart_in_float32():
    model = build(hf.LlamaForCausalLM, model_of("llama").config).to(torch.bfloat16)
    attribution = Study(model).attribute(CLEAN, metric=metric_of("llama"))
    assert abs(attribution.residue) < 1e-5
    assert model.dtype == torch.bfloat16


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_described_is_refused_with_the_reason_and_can_be_ablated_all_the_same(name):
    config, settings = REFUSED[name]
    model = build(getattr(hf, name), config(**settings))
    study, metric = Study(model), metric_of("vit")
    with pytest.raises(UnsupportedError, match=r"nobody has described|not read off the last layer"):
        study.attribute(CLEAN, metric=metric)
    assert study.ablate(CLEAN, metric=metric).values.shape == (2, 4)
    for site in ("head_out", "residual", "mlp"):
        assert study.patch(CLEAN, CORRUPT, metric=metric, at=site).values.shape[0] == 2


BESIDE = {
    "Bloom": "h.{}.self_attention.dense",
    "Falcon": "h.{}.self_attention.dense",
    "GPTNeo": "h.{}.attn.attention.out_proj",
    "GPTJ": "h.{}.attn.out_proj",
    "Mpt": "blocks.{}.attn.out_proj",
    "DebertaV2": "encoder.layer.{}.attention.output.dense",
    "MPNet": "encoder.layer.{}.attention.attn.o",
}


@pytest.mark.parametrize("name", BESIDE)
def test_heads_are_exchanged_where_no_edit_reaches(name):
    model = build(getattr(hf, f"{name}Model"), getattr(hf, f"{name}Config")(**BYPASSING[name][0]))
    metric, study = metric_of("minilm"), Study(model)
    modules = [model.get_submodule(BESIDE[name].format(layer)) for layer in range(2)]
    for found, run, other in (
        (study.ablate(CLEAN, metric=metric), CLEAN, None),
        (study.patch(CLEAN, CORRUPT, metric=metric), CORRUPT, CLEAN),
    ):
        for layer, head in ((0, 1), (1, 3)):
            theirs = 0.0 if other is None else seen(model, other, modules[layer])[..., 8 * head : 8 * head + 8]
            with hooked(modules[layer], before=with_columns(head, theirs)):
                assert found.values[layer, head] == pytest.approx(measured(model, run, metric), abs=1e-5)
    assert found.estimate.shape == (2, 4)


def test_what_cannot_be_asked_is_told():
    study = Study(model_of("llama"))
    metric = metric_of("llama")
    with pytest.raises(ValueError, match="linear in the logits"):
        study.attribute(CLEAN, metric=lambda out: out.probability(5))
    with pytest.raises(ValueError, match="as many tokens, got 11 and 4"):
        study.patch(CLEAN, {"input_ids": IDS[:1, :4]}, metric=metric)
    with pytest.raises(ValueError, match="one item at a time"):
        study.ablate(PLAIN, metric=metric)
    with pytest.raises(ValueError, match="without a tokenizer"):
        study.ablate("a text", metric=metric)
    with pytest.raises(ValueError, match="without a tokenizer a token is a number"):
        study.ablate(CLEAN, metric=lambda out: out.logit(" Mary"))
    with pytest.raises(IndexError, match="positions must be from 0 to 10, got 11"):
        study.ablate(CLEAN, metric=metric, positions=[11])
    for how in ("mean", "resample"):
        with pytest.raises(ValueError, match="the corpus is empty"):
            study.ablate(CLEAN, metric=metric, method=how, reference=[])
    with pytest.raises(IndexError, match=r"there is no part \(2, 0\)"):
        study.ablate(CLEAN, metric=metric, heads=[(2, 0)])
    effects = study.ablate(CLEAN, metric=metric, heads=[(1, 2)])
    assert (effects.values.shape, effects.columns()["head"]) == ((2, 4), [2])
    for call in (
        lambda: study.ablate(CLEAN, metric=metric, at="pattern"),
        lambda: study.ablate(CLEAN, metric=metric, method="half"),
        lambda: study.patch(CLEAN, CORRUPT, metric=metric, at="edge"),
    ):
        with pytest.raises(ValueError, match="must be one of"):
            call()
    bloom = build(hf.BloomForCausalLM, hf.BloomConfig(**BYPASSING["Bloom"][0]))
    with pytest.raises(UnsupportedError, match="bypass"):
        Study(bloom).ablate(CLEAN, metric=metric, at="edge")
    with pytest.raises(UnsupportedError, match="bypass"):
        Study(bloom).patch(CLEAN, CORRUPT, metric=metric, at="pattern")
    xlnet = build(hf.XLNetModel, hf.XLNetConfig(**BYPASSING["XLNet"][0]))
    with pytest.raises(UnsupportedError, match="hides where its heads meet"):
        Study(xlnet).ablate(CLEAN, metric=metric_of("minilm"))
    assert Study(xlnet).ablate(CLEAN, metric=metric_of("minilm"), at="residual").values.shape == (2, 11)
    shifted = build(
        hf.SwinModel, hf.SwinConfig(image_size=16, patch_size=2, embed_dim=8, depths=[2], num_heads=[2], window_size=4)
    )
    with pytest.raises(UnsupportedError, match="windows"):
        Study(shifted).ablate(inputs_of("vit")[0], metric=lambda out: out.hidden.sum(), method="mean", reference=[])
    assert Study(shifted).ablate(inputs_of("vit")[0], metric=lambda out: out.hidden.norm()).values.shape == (2, 2)


def test_states_are_carried_between_sentences_of_other_lengths_as_hooks_carry_them():
    study = Study(load("tatoeba-llama"), tokenizer())
    clean, corrupt = "A green house. We", "Mary has a red car. Mary has a red"
    states = [(0, 3, 5), (2, -1, 1)]
    layers, states_by_layer = study.model.model.layers, {}
    ids = [study.inputs(text)["input_ids"] for text in (clean, corrupt)]

    def keep(layer):
        return layers[layer].register_forward_hook(lambda module, given, out: states_by_layer.update({layer: out}))

    def put(layer, place, to):
        def write(module, given, out):
            out = out.clone()
            out[0, to] = states_by_layer[layer][0, place]
            return out

        return layers[layer].register_forward_hook(write)

    with torch.inference_mode():
        hooks = [keep(layer) for layer in range(3)]
        study.model(input_ids=ids[0])
        for hook in hooks:
            hook.remove()
        hooks = [put(*one) for one in states]
        expected = study.model(input_ids=ids[1]).logits[0]
        for hook in hooks:
            hook.remove()
    output = study.carry(clean, corrupt, states)
    assert (output.logits - expected).abs().max() < 1e-5
    assert study.carry(clean, corrupt, [(0, 3, 5)]).probability(" house") > 0.5
    with pytest.raises(IndexError, match="positions must be from 0 to"):
        study.carry(clean, corrupt, [(0, 99, 5)])


def test_old_names_of_arguments_and_attributes_work_and_warn():
    study = Study(load("tatoeba-llama"), tokenizer())
    metric = lambda out: out.scores().max()  # noqa: E731
    with pytest.warns(DeprecationWarning, match="how is called method now"):
        effects = study.ablate("Tom ate.", metric=metric, at="layer", how="zero")
    assert torch.equal(effects.values, study.ablate("Tom ate.", metric=metric, at="layer").values)
    with pytest.warns(DeprecationWarning, match="given is called item now"):
        assert study.tokens(given="Tom ate.") == study.tokens("Tom ate.")
    source = next(iter(study.attribute("Tom ate.", metric=lambda out: out.logit(5)).sources))
    with pytest.warns(DeprecationWarning, match="Source.parts is called terms now"):
        assert source.parts is source.terms


def test_maps_tell_how_much_of_them_is_done():
    study, shares = Study(load("tatoeba-llama"), tokenizer()), []
    study.ablate("Tom bought a green", metric=lambda out: out.logit(" car"), progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert len(shares) > 1


def test_a_model_that_hands_out_neither_logits_nor_a_last_layer_says_so():
    with pytest.raises(ValueError, match="neither logits nor a last layer"):
        ModelOutput.of_batch({"text_embeds": torch.zeros(1, 4)})

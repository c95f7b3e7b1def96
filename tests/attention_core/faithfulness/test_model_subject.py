"""Models of transformers as subjects: each figure against hooks in the model itself."""

import pytest
import torch

from attention_core.attention.edits import drop_heads
from attention_core.faithfulness import stacks
from attention_core.faithfulness.assessment import assess, verdict
from attention_core.faithfulness.attribution import total_variation
from attention_core.faithfulness.model_subject import model_subject
from attention_core.faithfulness.variation import without_heads
from attention_core.hub.model import ModelError, ModelKind, Pretrained
from attention_core.hub.run import ModelInputs
from attention_core.hub.tracing import run_model
from attention_core.study.families import submodule
from tests.support.study_models import inputs_of, model_of

KINDS = {"minilm": ModelKind.ENCODER, "llama": ModelKind.DECODER, "gpt2": ModelKind.DECODER, "vit": ModelKind.VISION}
VALUES = {"minilm": "attention.self.value", "llama": "self_attn.v_proj", "vit": "attention.v_proj"}


def made(name):
    """Return a pretrained model, its inputs and their subject."""
    inputs = inputs_of(name)[0]
    tokens = tuple(f"word {place}" for place in range(inputs["input_ids"].shape[1])) if name != "vit" else ()
    grid = (4, 4) if name == "vit" else None
    prepared = ModelInputs(inputs, tokens, patch_grid=grid, n_prefix=int(name == "vit"), special=frozenset({0}))
    pretrained = Pretrained(name, KINDS[name], model_of(name))
    return pretrained, prepared, model_subject(pretrained, prepared)


def answer_of(name, output):
    if name == "minilm":
        return output[0].mean(1)
    return (output.logits[:, -1] if name != "vit" else output.logits).softmax(-1)


@pytest.mark.parametrize("name", KINDS)
def test_true_weights_give_the_model_s_own_answer_and_a_head_is_worth_its_answer_without_it(name):
    pretrained, prepared, subject = made(name)
    answer = subject.probabilities()
    true_weights = {layer: weights[None].expand(2, *weights.shape) for layer, weights in subject.weights.items()}
    torch.testing.assert_close(
        subject.reweigh(true_weights).detach(), answer.expand(2, *answer.shape), atol=1e-5, rtol=1e-4
    )
    nothing = torch.zeros(1, subject.n_units, dtype=torch.bool)
    torch.testing.assert_close(subject.erase(nothing)[0].detach(), answer, atol=1e-5, rtol=1e-4)
    if name != "minilm":
        expected = answer_of(name, pretrained.model(**prepared.inputs)).detach()
        torch.testing.assert_close(answer, expected, atol=1e-5, rtol=1e-4)
    answer = answer_of(name, run_model(pretrained.model, prepared.inputs)[1])
    for (layer, head), moved in without_heads(subject).items():
        edits = drop_heads([(int(layer.split()[1]), head)])
        without = answer_of(name, run_model(pretrained.model, prepared.inputs, edits=edits)[1])
        if name == "minilm":
            expected = 1 - torch.cosine_similarity(answer, without)
        else:
            expected = total_variation(answer[:, None], without[:, None])
        assert moved == pytest.approx(float(expected), abs=1e-5)


@pytest.mark.parametrize("name", VALUES)
def test_value_zeroing_is_the_model_run_with_that_value_zero(name):
    pretrained, prepared, subject = made(name)
    model, layers = pretrained.model, {"minilm": "encoder.layer", "llama": "layers", "vit": "layers"}[name]
    for number, layer in enumerate(submodule(model.base_model, layers)):

        def states(layer=layer):
            outputs = []
            hook = layer.register_forward_hook(lambda *call: outputs.append(call[-1]))
            with torch.no_grad():
                model(**prepared.inputs)
            hook.remove()
            return (outputs[0] if isinstance(outputs[0], torch.Tensor) else outputs[0][0])[0]

        unchanged, turned = states(), []
        for key in range(len(unchanged)):
            gone = torch.ones(1, len(unchanged), 1)
            gone[0, key] = 0
            hook = submodule(layer, VALUES[name]).register_forward_hook(lambda *call, gone=gone: call[-1] * gone)
            turned.append(1 - torch.cosine_similarity(states(), unchanged, dim=-1))
            hook.remove()
        expected = torch.stack(turned, 1).clamp(min=0)
        zeroing = stacks.value_zeroing(subject.stack[f"layer {number}"])
        torch.testing.assert_close(zeroing, expected / expected.sum(1, keepdim=True), atol=2e-3, rtol=1e-2)


def test_an_erased_token_is_the_mean_vector_and_an_erased_patch_the_picture_s_usual_colour():
    pretrained, prepared, subject = made("llama")
    table, ids = pretrained.model.get_input_embeddings().weight, prepared.inputs["input_ids"]
    vectors = table[ids].clone()
    vectors[0, 2] = table.mean(0)
    expected = pretrained.model(inputs_embeds=vectors).logits[0, -1].softmax(-1)
    erased = torch.zeros(1, subject.n_units, dtype=torch.bool)
    erased[0, 1] = True  # the first token is never erased
    torch.testing.assert_close(subject.erase(erased)[0, 0], expected, atol=1e-5, rtol=1e-4)
    pretrained, prepared, subject = made("vit")
    pixels = prepared.inputs["pixel_values"].clone()
    height, width = (side // 4 for side in pixels.shape[2:])
    pixels[0, :, :height, width : 2 * width] = (
        prepared.inputs["pixel_values"][0].flatten(1).median(1).values[:, None, None]
    )
    erased = torch.arange(16)[None] == 1
    expected = pretrained.model(pixel_values=pixels).logits.softmax(-1)
    torch.testing.assert_close(subject.erase(erased)[0], expected, atol=1e-5, rtol=1e-4)


def test_an_encoders_answer_is_its_sentence_vector_and_its_move_the_cosines():
    _, _, subject = made("minilm")
    *_, (_, assessment) = assess(subject)
    assert verdict(assessment, "tokens").startswith("Here the map")
    assert assessment.adversarial.moved <= 0.05
    assert assessment.importance["gradient × input"].abs().max() > 1e-4  # the cosine's own slope would be 0
    assert assessment.importance["attention × gradient"].max() > 0
    assert {"rollout", "weight × length", "attention × gradient", "value zeroing"} <= set(assessment.deletion)


def test_a_long_text_is_refused():
    ids = torch.zeros(1, 70, dtype=torch.long)
    prepared = ModelInputs({"input_ids": ids}, tuple("a" * 70))
    with pytest.raises(ModelError, match="up to 64"):
        model_subject(Pretrained("llama", ModelKind.DECODER, model_of("llama")), prepared)

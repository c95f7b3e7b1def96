"""What is lost without a head: by the definitions, for one head and for a whole map."""

import pytest
import torch
from torch.testing import assert_close

from attention_core import run_model
from attention_core.attention.edits import drop_heads
from attention_core.explain.heads import divergence
from attention_core.hub import outputs as ablation
from attention_core.hub.outputs import cosine_change, expected, log_probabilities
from attention_core.hub.run import text_inputs
from attention_core.inference.pretrained import load_bundled
from attention_core.study import Study


def test_log_probabilities_are_given_by_the_token_before_and_cosines_tell_directions():
    logits = torch.log(torch.tensor([[0.25, 0.75], [0.5, 0.5], [0.9, 0.1]]))
    assert_close(log_probabilities(logits, [1, 0, 1]), torch.tensor([-2.0, -1.0]))
    before, after = torch.tensor([[1.0, 0], [1, 0], [2, 0]]), torch.tensor([[0.0, 3], [-1, 0], [5, 0]])
    assert_close(cosine_change(before, after), torch.tensor([1.0, 2.0, 0.0]))
    assert ablation.sentence_change(before, after) == pytest.approx(1 - 4 / 5)


def test_without_the_head_that_copies_the_umbrella_is_forgotten():
    llama = load_bundled("tatoeba-llama")
    inputs = text_inputs(llama, "Tom bought a green umbrella for his old teacher. Tom bought a green").inputs
    plain, study = run_model(llama.model, inputs)[1].logits[0], Study(llama.model)
    worth = study.ablate(inputs, metric=lambda out: divergence(plain.softmax(-1), out.logits.softmax(-1)).mean()).values
    most = divmod(int(worth.argmax()), worth.shape[1])
    before, after = (run_model(llama.model, inputs, edits=drop_heads(off))[1].logits[0, -1] for off in ([], [most]))
    first, second = (expected(logits, llama.tokenizer, n=40) for logits in (before, after))
    assert (first.likeliest[0].text, first.likeliest[0].probability > 0.5) == ("␣umbrella", True)
    assert dict((one.text, one.probability) for one in second.likeliest).get("␣umbrella", 0) < 0.05

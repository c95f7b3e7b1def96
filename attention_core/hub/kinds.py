"""What kind of model a repository holds, told from its config.json alone, before anything large is fetched."""

from collections.abc import Mapping
from typing import Any

from attention_core.bounds import MODEL_LABELS, MODEL_LAYERS
from attention_core.hub.model import ModelError, ModelKind, first_line

NO_ATTENTION = {
    *("bit", "convnext", "convnextv2", "dinov3_convnext", "efficientnet", "focalnet", "mobilenet_v1", "mobilenet_v2"),
    *("poolformer", "regnet", "resnet", "superpoint", "textnet", "van"),
    *("falcon_mamba", "fnet", "mamba", "mamba2", "rwkv", "xlstm"),
}
"""Architectures of the library without any attention: convolutions, state spaces, Fourier transforms."""
COUNTED = {"layers": MODEL_LAYERS, "depths": MODEL_LAYERS, "experts": MODEL_LAYERS, "labels": MODEL_LABELS}
MASKED = ("ForMaskedLM", "ForPreTraining", "WithLMHeadModel")
CAUSAL = ("ForCausalLM", "LMHeadModel", "DoubleHeadsModel")


def config_of(settings: Mapping[str, Any]) -> Any:
    """Return the library's settings object of what a config.json says; ModelError = the library cannot use it."""
    from transformers import AutoConfig
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    model_type = settings.get("model_type")
    if not isinstance(model_type, str) or not model_type:
        raise ModelError(
            "Its config.json names no model_type, so the library transformers does not know how to run it."
        )
    if model_type not in CONFIG_MAPPING_NAMES:
        if settings.get("auto_map"):
            raise ModelError(
                f"It brings code of its own ({model_type}), and this app never runs code from a model's repository."
            )
        raise ModelError(f"Its architecture, {model_type}, is unknown to the installed version of transformers.")
    if settings.get("quantization_config"):
        raise ModelError(
            "Its weights are quantised, which needs special kernels. Take the repository of the original ones instead."
        )
    if model_type in NO_ATTENTION:
        raise ModelError(f"Its architecture, {model_type}, has no attention, so there is nothing to show.")
    _refuse_endless(settings)
    try:
        return AutoConfig.for_model(**settings)
    except Exception as error:
        raise ModelError(f"Its config.json does not fit the architecture {model_type}: {first_line(error)}") from error


def _refuse_endless(settings: Any, name: str = "") -> None:
    """Make sure that settings, or one of that name, do not make the library count for ever."""
    if isinstance(settings, Mapping):
        for part in settings.keys() - {"id2label", "label2id"}:
            _refuse_endless(settings[part], str(part))
    elif isinstance(settings, list):
        for part in settings:
            _refuse_endless(part, name)
    elif isinstance(settings, int):
        what = f"{name.rstrip('s').rpartition('_')[2]}s"
        if what in COUNTED and settings > COUNTED[what].most:
            raise ModelError(f"Its config.json asks for {settings:,} {what}; at most {COUNTED[what].most:,} are read.")


def kind_of(config: Any) -> ModelKind:
    """Return what a model of these settings takes and is for; ModelError = neither a text nor a picture alone."""
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

    reads = _main_input(config)
    if reads == "pixel_values" or picture_tower(config) is not None:
        return ModelKind.VISION
    if reads != "input_ids":
        raise ModelError(f"It takes neither text nor a picture but {reads} ({config.model_type}).")
    architecture = (config.architectures or [""])[0]
    if architecture.endswith(MASKED) or is_encoder_alone(config):
        return ModelKind.ENCODER
    if config.is_encoder_decoder:
        return ModelKind.ENCODER_DECODER
    causal, masked = (type(config) in auto._model_mapping for auto in (AutoModelForCausalLM, AutoModelForMaskedLM))
    is_decoder = getattr(config, "is_decoder", False) or architecture.endswith(CAUSAL)
    writes = is_decoder or (causal and not masked) or hasattr(config, "vision_config")
    return ModelKind.DECODER if writes else ModelKind.ENCODER


def is_encoder_alone(config: Any) -> bool:
    """Return whether the files hold the encoder of an encoder-decoder, such as T5, without its decoder."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES

    return (config.architectures or [""])[0] == MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES.get(config.model_type)


def picture_tower(config: Any) -> Any | None:
    """Return the settings of the tower that looks at pictures, of a model that compares pictures with texts; or None.

    Models that write about pictures are decoders: they can be given a text alone.
    """
    from transformers import AutoModel, AutoModelForCausalLM, AutoModelForImageTextToText

    tower = getattr(config, "vision_config", None)
    writes = any(type(config) in auto._model_mapping for auto in (AutoModelForCausalLM, AutoModelForImageTextToText))
    if tower is None or not hasattr(config, "text_config") or writes:
        return None
    return tower if type(tower) in AutoModel._model_mapping else None


def _main_input(config: Any) -> str:
    from transformers import AutoModel, AutoModelForCausalLM, AutoModelForImageTextToText

    for auto in (AutoModel, AutoModelForCausalLM, AutoModelForImageTextToText):
        if type(config) in auto._model_mapping:
            found: Any = auto._model_mapping[type(config)]
            return (found[0] if isinstance(found, tuple | list) else found).main_input_name
    raise ModelError(f"The library transformers has no model for the architecture {config.model_type}.")

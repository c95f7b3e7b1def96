"""A folder of safetensors weights becomes a model with its tokenizer: nothing in it is ever run as code."""

import math
import os
import re
import shutil
import warnings
import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from attention_core.bounds.limits import (
    HUB_CACHE_BYTES,
    MODEL_LABELS,
    MODEL_LAYERS,
    MODEL_TEXT_FILE_BYTES,
    TOKENIZER_DOUBLINGS,
)
from attention_core.concurrency import Lock
from attention_core.device import choose_device
from attention_core.files import read_json
from attention_core.hub.inside_transformers import model_class
from attention_core.hub.model import (
    CLASSIFIERS,
    OF_TOKENS,
    ModelError,
    ModelKind,
    Pretrained,
    first_line,
    in_megabytes,
    n_parameters_of,
    no_panic,
    refuse_without_memory,
)
from attention_core.log import log

try:
    import fcntl
except ImportError:  # Windows: nothing is known to be out of use, so nothing leaves
    fcntl = None  # type: ignore[assignment]

WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
ADAPTER, ADAPTER_WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack")  # ends of files that can run code when they are opened

NO_ATTENTION = {
    *("bit", "convnext", "convnextv2", "dinov3_convnext", "efficientnet", "focalnet", "mobilenet_v1", "mobilenet_v2"),
    *("poolformer", "regnet", "resnet", "superpoint", "textnet", "van"),
    *("falcon_mamba", "fnet", "mamba", "mamba2", "rwkv", "xlstm"),
}
"""Architectures of the library without any attention: convolutions, state spaces, Fourier transforms."""
BOUNDED_COUNTS = {"layers": MODEL_LAYERS, "depths": MODEL_LAYERS, "experts": MODEL_LAYERS, "labels": MODEL_LABELS}
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
        for key in settings.keys() - {"id2label", "label2id"}:
            _refuse_endless(settings[key], str(key))
    elif isinstance(settings, list):
        for value in settings:
            _refuse_endless(value, name)
    elif isinstance(settings, int):
        quantity = f"{name.rstrip('s').rpartition('_')[2]}s"
        bound = BOUNDED_COUNTS.get(quantity)
        if bound and settings > bound.maximum:
            raise ModelError(f"Its config.json asks for {settings:,} {quantity}; at most {bound.maximum:,} are read.")


def kind_of(config: Any) -> ModelKind:
    """Return what a model of these settings takes and is for; ModelError = neither a text nor a picture alone."""
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

    reads = _main_input(config)
    if reads == "pixel_values" or picture_tower(config) is not None:
        return ModelKind.VISION
    if reads != "input_ids":
        raise ModelError(f"It takes neither text nor a picture but {reads} ({config.model_type}).")
    architecture = (config.architectures or [""])[0]
    is_classifier = architecture.endswith(CLASSIFIERS) and not config.is_encoder_decoder
    if is_classifier or architecture.endswith(MASKED) or is_single_encoder(config):
        return ModelKind.ENCODER
    if config.is_encoder_decoder:
        return ModelKind.ENCODER_DECODER
    causal, masked = (model_class(auto, config) is not None for auto in (AutoModelForCausalLM, AutoModelForMaskedLM))
    is_decoder = getattr(config, "is_decoder", False) or architecture.endswith(CAUSAL)
    writes = is_decoder or (causal and not masked) or hasattr(config, "vision_config")
    return ModelKind.DECODER if writes else ModelKind.ENCODER


def is_single_encoder(config: Any) -> bool:
    """Return whether the files hold the encoder of an encoder-decoder, such as T5, without its decoder."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES

    return (config.architectures or [""])[0] == MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES.get(config.model_type)


def picture_tower(config: Any) -> Any | None:
    """Return the settings of the tower that looks at pictures, of a model that compares pictures with texts; or None.

    Models that write about pictures are decoders, which take a picture beside their text, or a text alone.
    """
    from transformers import AutoModel, AutoModelForCausalLM, AutoModelForImageTextToText

    tower = getattr(config, "vision_config", None)
    writes = any(model_class(auto, config) for auto in (AutoModelForCausalLM, AutoModelForImageTextToText))
    if tower is None or not hasattr(config, "text_config") or writes:
        return None
    return tower if model_class(AutoModel, tower) else None


def _main_input(config: Any) -> str:
    from transformers import AutoModel, AutoModelForCausalLM, AutoModelForImageTextToText

    for auto in (AutoModel, AutoModelForCausalLM, AutoModelForImageTextToText):
        if (architecture := model_class(auto, config)) is not None:
            return str(architecture.main_input_name)
    raise ModelError(f"The library transformers has no model for the architecture {config.model_type}.")


NOT_NEEDED = re.compile(r"(^|\.)(pooler|final_logits_bias|position_ids|mask_token)")
"""Weights that a file may lack although the architecture has them: no attention and no output here depends on them."""
_LOADING = Lock("load a model")


def load_pretrained(folder: Path, *, name: str = "") -> Pretrained:
    """Return the model of a folder, in evaluation mode and in float32, with what it takes to feed it.

    The folder has config.json, safetensors weights, and the files of a tokenizer or an image processor; its own name
    is taken where none is told. The model is on the best device; NoMemory where that has no room for it now, a
    ModelError where files are missing, damaged, or do not fit together.
    """
    if is_adapter([file.name for file in folder.glob("*")]):
        return _merged(folder, name or folder.name)
    settings = read_settings(folder)
    config = config_of(settings)
    kind = kind_of(config)
    refuse_without_memory(name or folder.name, n_parameters_of(n_bytes_of(folder), settings))
    with lock_folder(folder.parent.parent), _LOADING, _quiet():
        model = _model(folder, config, kind)
        tokenizer = None if kind is ModelKind.VISION else _tokenizer(folder)
        reads_pictures = kind is ModelKind.DECODER and hasattr(model, "get_image_features")
        processor = _processor(folder) if kind is ModelKind.VISION or reads_pictures else None
        hold_folder(folder.parent.parent, model)
    model = model.to(choose_device()).eval().requires_grad_(False)
    if getattr(model.config, "mask_ratio", None):
        model.config.mask_ratio = 0.0  # masked autoencoders hide patches at random while they are trained
    tower = ", its picture tower" if picture_tower(config) is not None else ""
    return Pretrained(
        name=(name or folder.name) + tower,
        kind=kind,
        model=model,
        tokenizer=tokenizer,
        processor=processor,
        max_tokens=None if tokenizer is None else _max_tokens(model, tokenizer),
    )


def is_adapter(files: Collection[str]) -> bool:
    """Return whether these files are an adapter (LoRA) that can be merged here: its weights, and the package peft."""
    return {ADAPTER, ADAPTER_WEIGHTS} <= {*files} and "config.json" not in files and _peft() is not None


def _peft() -> Any | None:
    with suppress(ImportError):
        return import_module("peft")
    return None


def base_of(folder: Path) -> Path:
    """Return the folder of the model to which an adapter belongs; a ModelError names it where it is not here."""
    name = str(read_json(folder / ADAPTER).get("base_model_name_or_path", ""))
    local = import_module("attention_core.hub.catalogue").find_local(name)  # which stands on this module
    base = local.folder if local else Path(name)
    if not base.is_absolute() or not _is_whole(base):
        raise ModelError(f"It is an adapter (LoRA) of {name or 'a model without a name'}: load that one first.")
    return base


def _merged(folder: Path, name: str) -> Pretrained:
    """Return the model of an adapter, with the adapter merged into its weights."""
    pretrained, peft = load_pretrained(base_of(folder)), _peft()
    assert peft is not None
    try:
        with _LOADING, _quiet():
            model = peft.PeftModel.from_pretrained(pretrained.model, str(folder)).merge_and_unload()
    except Exception as error:
        raise ModelError(f"The adapter cannot be merged: {first_line(error)}") from error
    return replace(pretrained, name=name, model=model.eval().requires_grad_(False))


def is_complete(folder: Path) -> bool:
    """Return whether a folder has a model's settings and weights, or an adapter that can be merged."""
    return _is_whole(folder) or is_adapter([file.name for file in folder.glob("*")])


def _is_whole(folder: Path) -> bool:
    return (folder / "config.json").is_file() and bool(weight_files(folder))


def without_safetensors(files: Sequence[str]) -> str:
    """Return why a folder with these files, whose weights are not complete, holds no model that is read here."""
    pickled = next((file for file in files if file.endswith(PICKLED)), "")
    if pickled:
        return (
            f"its weights are there only in a format that can run code when it is opened ({pickled}). This app reads "
            "safetensors files only."
        )
    if any(file.endswith((".safetensors", INDEX)) for file in files):
        return "its safetensors files are incomplete: a part of the weights is missing."
    return "it has no weights in safetensors files, the only ones that this app reads."


def weight_files(folder: Path) -> list[Path]:
    """Return the safetensors files of a folder's weights; none where one of them is missing."""
    if (folder / WEIGHTS).is_file():
        return [folder / WEIGHTS]
    try:
        shards = read_json(folder / INDEX)["weight_map"].values()
        files = [folder / Path(name).name for name in sorted(set(shards))]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []
    return files if all(file.is_file() for file in files) else []


def n_bytes_of(folder: Path) -> int:
    """Return the bytes of a folder's weights."""
    return sum(file.stat().st_size for file in weight_files(folder))


def read_settings(folder: Path) -> dict[str, Any]:
    """Return what the config.json of a folder says, if it is whole and the folder's files are its own."""
    home = folder.resolve()
    for file in folder.glob("*"):
        target = file.resolve()  # files of the hub's cache lie beside its snapshots
        if home not in target.parents and target.parent != home.parent.parent / "blobs":
            raise ModelError(f"{file.name} is a link to a file outside of the model's folder, so it is not opened.")
        if target.exists() and not (target.is_file() or target.is_dir()):
            raise ModelError(f"{file.name} is no file that can be read to an end.")
    try:
        settings = read_json(folder / "config.json")
    except FileNotFoundError:
        missing = "There is no config.json, so this is no model that the library transformers can load."
        raise ModelError(missing) from None
    except (OSError, ValueError) as error:
        raise ModelError(f"Its config.json cannot be read: {error}") from error
    if not isinstance(settings, dict):
        raise ModelError("Its config.json holds no settings.")
    return settings


def _model(folder: Path, config: Any, kind: ModelKind) -> Any:
    from transformers import AutoModel

    tower = picture_tower(config)
    options = {} if tower is None else {"config": tower}
    error: Exception | None = None
    for auto in (*_heads(config, kind), AutoModel):
        try:
            _refuse_missing_weights(auto, tower or config, n_bytes_of(folder))
            model, report = auto.from_pretrained(
                folder,
                use_safetensors=True,
                trust_remote_code=False,
                local_files_only=True,
                dtype=torch.float32,
                output_loading_info=True,
                **options,
            )
        except Exception as failed:
            if not isinstance(failed, ModelError):
                log.warning("%s cannot load %s", auto.__name__, folder.name, exc_info=True)
            error = error or failed
            continue
        missing = sorted(key for key in report["missing_keys"] if not NOT_NEEDED.search(key))
        if not missing:
            return model
        error = ModelError(
            f"Its files lack {len(missing)} of the weights that {type(model).__name__} has, such as {missing[0]}: "
            "they would be random numbers."
        )
    if error is None or isinstance(error, ModelError):
        raise error or ModelError("The library has no model of this architecture.")
    raise ModelError(f"The weights cannot be loaded: {first_line(error)}") from error


def _refuse_missing_weights(auto: Any, config: Any, n_bytes: int) -> None:
    with torch.device("meta"):
        n_parameters = auto.from_config(config).num_parameters()
    if n_parameters > n_bytes:  # the smallest numbers take a byte
        raise ModelError(
            f"Its config.json asks for {n_parameters:,} numbers; its files of {n_bytes:,} bytes cannot hold them."
        )


def _heads(config: Any, kind: ModelKind) -> list[Any]:
    """Return the library's loaders of models with a head that may suit, to be tried in turn."""
    import transformers as library

    if is_single_encoder(config):
        return [library.AutoModelForTextEncoding]
    architecture = (config.architectures or [""])[0]
    if kind is ModelKind.ENCODER and architecture.endswith(CLASSIFIERS):
        is_of_tokens = architecture.endswith(OF_TOKENS)
        return [library.AutoModelForTokenClassification if is_of_tokens else library.AutoModelForSequenceClassification]
    is_bare = architecture.endswith("Model") and "LMHead" not in architecture
    if is_bare and kind in (ModelKind.ENCODER, ModelKind.VISION):
        return []
    loaders: dict[ModelKind, tuple[Any, ...]] = {
        ModelKind.ENCODER: (library.AutoModelForMaskedLM,),
        ModelKind.DECODER: (library.AutoModelForCausalLM, library.AutoModelForImageTextToText),
        ModelKind.ENCODER_DECODER: (library.AutoModelForSeq2SeqLM,),
        ModelKind.VISION: (library.AutoModelForImageClassification,),
    }
    return [auto for auto in loaders[kind] if model_class(auto, config)]


def _tokenizer(folder: Path) -> Any:
    from transformers import AutoTokenizer

    try:
        file = folder / "tokenizer.json"
        rules = read_json(file, MODEL_TEXT_FILE_BYTES.maximum).get("normalizer") if file.is_file() else None
        if _doublings(rules or {}) > TOKENIZER_DOUBLINGS.maximum:
            raise ModelError("it makes too many letters of one before it cuts a text into tokens")
        with no_panic("The tokenizer cannot be read"):
            tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except Exception as error:
        damaged = "The weights are there, but the files of its tokenizer are missing or damaged"
        raise ModelError(f"{damaged}: {first_line(error)}") from error
    if names := tokenizer.vocab_files_names:
        vocabulary = {"tokenizer.json", *names.values()}
        if not any((folder / file).is_file() for file in vocabulary):
            listed = ", ".join(sorted(vocabulary))
            raise ModelError(f"The weights are there, but the tokenizer lacks its vocabulary ({listed}).")
    return tokenizer


def _doublings(rule: dict[str, Any]) -> float:
    """Return how many times the letters of a text may double by replacements that follow each other."""
    doublings = math.log2(max(len(rule.get("content", "")), 1))
    return doublings + sum(map(_doublings, rule.get("normalizers", [])))


def _processor(folder: Path) -> Any:
    """Return the library's image processor, or None: then pictures are resized and normalised plainly."""
    from transformers import AutoImageProcessor

    if not any((folder / name).is_file() for name in ("preprocessor_config.json", "processor_config.json")):
        return None
    try:
        return AutoImageProcessor.from_pretrained(folder, trust_remote_code=False, local_files_only=True, backend="pil")
    except Exception:
        log.warning("The image processor of %s cannot be loaded", folder.name, exc_info=True)
        return None


def _max_tokens(model: Any, tokenizer: Any) -> int | None:
    """Return how many positions a text may take, by the tokenizer and by the table of positions; None = any number."""
    config = model.config.get_text_config()
    bounds = [int(tokenizer.model_max_length)] if tokenizer.model_max_length < 1_000_000 else []
    positions = getattr(config, "max_position_embeddings", None)
    if isinstance(positions, int) and positions > 0:
        tables = (module for name, module in model.named_modules() if name.endswith("embeddings.position_embeddings"))
        padding = (table.padding_idx for table in tables if getattr(table, "padding_idx", None) is not None)
        bounds.append(positions - next(padding, -1) - 1)  # rows that stand for padding, as in RoBERTa, are never used
    elif getattr(config, "relative_attention_num_buckets", None) is not None:
        return None  # whatever its tokenizer was told: distances have no end
    return min(bounds, default=None)


@contextmanager
def _quiet() -> Iterator[None]:
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def hold_folder(stored: Path, user: object) -> None:
    """Hold a model's folder in the hub's cache, and note that it is used now, as long as this user of it lives."""
    if stored.name.startswith("models--") and (handle := _lock(stored)) is not None:
        weakref.finalize(user, os.close, handle)
        with suppress(OSError):  # a cache that is only read
            os.utime(stored)


@contextmanager
def lock_folder(stored: Path) -> Iterator[None]:
    handle = _lock(stored) if stored.name.startswith("models--") else None
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def make_room(cache: Path, name: str, n_bytes: int, coming: Mapping[str, int] = {}) -> None:
    """Let models leave the hub's cache until n_bytes of the one in the folder `name` are within HUB_CACHE_BYTES.

    What that folder has counts among n_bytes; `coming` are bytes of others that are being fetched, by their folders.
    """
    folders = [stored for stored in cache.glob("models--*") if stored.name != name]
    sizes = {stored: max(sum(map(_size, stored.glob("blobs/*"))), coming.get(stored.name, 0)) for stored in folders}
    total = n_bytes + sum(sizes.values())
    for stored in sorted(sizes, key=lambda folder: folder.stat().st_mtime):
        if total > HUB_CACHE_BYTES.maximum and (handle := _lock(stored, exclusive=True)) is not None:
            log.info("%s leaves the hub's cache: %s", stored.name, in_megabytes(sizes[stored]))
            shutil.rmtree(stored, ignore_errors=True)
            os.close(handle)
            total -= sizes[stored]
    if total > HUB_CACHE_BYTES.maximum:
        raise ModelError(
            f"This server keeps at most {in_megabytes(HUB_CACHE_BYTES.maximum)} of models, and those that others look "
            f"at now leave no room for {in_megabytes(n_bytes)}. Try again later."
        )


def _size(file: Path) -> int:
    """Return the bytes of a file, 0 of one that was moved meanwhile: another model is on its way."""
    with suppress(FileNotFoundError):
        return file.stat().st_size
    return 0


def _lock(stored: Path, exclusive: bool = False) -> int | None:
    """Return a handle that holds the lock of a folder; None where another process holds it."""
    if fcntl is None:
        return None
    with suppress(OSError):
        handle = os.open(stored, os.O_RDONLY)
        try:
            fcntl.flock(handle, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
            return handle
        except OSError:
            os.close(handle)
    return None

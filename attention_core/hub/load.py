"""A folder of safetensors weights becomes a model with its tokenizer: nothing in it is ever run as code."""

import math
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from attention_core.bounds import MODEL_TEXT_FILE_BYTES, TOKENIZER_DOUBLINGS
from attention_core.device import choose_device
from attention_core.files import read_json
from attention_core.hub.catalogue import n_bytes_of
from attention_core.hub.disk import held, keep
from attention_core.hub.faults import no_panic
from attention_core.hub.kinds import config_of, is_encoder_alone, kind_of, picture_tower
from attention_core.hub.model import ModelError, ModelKind, Pretrained, first_line
from attention_core.hub.room import n_parameters_of, refuse_without_memory
from attention_core.locks import Lock
from attention_core.log import log

NOT_NEEDED = re.compile(r"(^|\.)(pooler|final_logits_bias|position_ids|mask_token)")
"""Weights that a file may lack although the architecture has them: no attention and no output here depends on them."""
DRAWN = (nn.init.normal_, nn.init.uniform_, nn.init.kaiming_uniform_)
_LOADING = Lock("load a model")


def load_pretrained(folder: Path, *, name: str = "", device: str = "") -> Pretrained:
    """Return the model of a folder, in evaluation mode and in float32, with what it takes to feed it.

    The folder has config.json, safetensors weights, and the files of a tokenizer or an image processor; its own name
    and the best device are taken where none is told.

    Raises:
        NoMemory: there is no room for it now.
        ModelError: files are missing, damaged, or do not fit together.
    """
    settings = read_settings(folder)
    config = config_of(settings)
    kind = kind_of(config)
    n_bytes = n_bytes_of(folder)
    refuse_without_memory(name or folder.name, n_parameters_of(n_bytes, settings), device)
    with held(folder.parent.parent), _LOADING, _quiet(), _NothingDrawn():
        model = _model(folder, config, kind)
        tokenizer = None if kind is ModelKind.VISION else _tokenizer(folder)
        processor = _processor(folder) if kind is ModelKind.VISION else None
        keep(folder.parent.parent, model)
    model = model.to(choose_device(device or "auto")).eval().requires_grad_(False)
    if getattr(model.config, "mask_ratio", None):
        model.config.mask_ratio = 0.0  # masked autoencoders hide patches at random while they are trained
    tower = ", its picture tower" if picture_tower(config) is not None else ""
    return Pretrained(
        name=(name or folder.name) + tower,
        kind=kind,
        model=model,
        tokenizer=tokenizer,
        processor=processor,
        most_tokens=None if tokenizer is None else _most_tokens(model, tokenizer),
        n_bytes=n_bytes,
    )


class _NothingDrawn(TorchFunctionMode):
    """Draws no random numbers for tensors that hold none; torch would import its compiler and sympy for it."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in DRAWN and kwargs["tensor"].is_meta:
            return kwargs["tensor"]
        return func(*args, **(kwargs or {}))


def read_settings(folder: Path) -> dict[str, Any]:
    """Return what the config.json of a folder says, if it is whole and the folder's files are its own."""
    home = folder.resolve()
    for file in folder.glob("*"):
        place = file.resolve()  # files of the hub's cache lie beside its snapshots
        if home not in place.parents and place.parent != home.parent.parent / "blobs":
            raise ModelError(f"{file.name} is a link to a file outside of the model's folder, so it is not opened.")
        if place.exists() and not (place.is_file() or place.is_dir()):
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
    more = {} if tower is None else {"config": tower}
    error: Exception | None = None
    for auto in (*_heads(config, kind), AutoModel):
        try:
            _refuse_more_than_is_there(auto, tower or config, n_bytes_of(folder))
            model, report = auto.from_pretrained(
                folder,
                use_safetensors=True,
                trust_remote_code=False,
                local_files_only=True,
                dtype=torch.float32,
                output_loading_info=True,
                **more,
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


def _refuse_more_than_is_there(auto: Any, config: Any, n_bytes: int) -> None:
    with torch.device("meta"):
        n_parameters = auto.from_config(config).num_parameters()
    if n_parameters > n_bytes:  # the smallest numbers take a byte
        raise ModelError(
            f"Its config.json asks for {n_parameters:,} numbers; its files of {n_bytes:,} bytes cannot hold them."
        )


def _heads(config: Any, kind: ModelKind) -> list[Any]:
    """Return the library's loaders of models with a head that may suit, to be tried in turn."""
    import transformers as library

    if is_encoder_alone(config):
        return [library.AutoModelForTextEncoding]
    architecture = (config.architectures or [""])[0]
    if (
        architecture.endswith("Model")
        and kind in (ModelKind.ENCODER, ModelKind.VISION)
        and "LMHead" not in architecture
    ):
        return []
    wanted: dict[ModelKind, tuple[Any, ...]] = {
        ModelKind.ENCODER: (library.AutoModelForMaskedLM,),
        ModelKind.DECODER: (library.AutoModelForCausalLM, library.AutoModelForImageTextToText),
        ModelKind.ENCODER_DECODER: (library.AutoModelForSeq2SeqLM,),
        ModelKind.VISION: (library.AutoModelForImageClassification,),
    }
    return [auto for auto in wanted[kind] if type(config) in auto._model_mapping]


def _tokenizer(folder: Path) -> Any:
    from transformers import AutoTokenizer

    try:
        file = folder / "tokenizer.json"
        rules = read_json(file, MODEL_TEXT_FILE_BYTES.most).get("normalizer") if file.is_file() else None
        if _doublings(rules or {}) > TOKENIZER_DOUBLINGS.most:
            raise ModelError("it makes too many letters of one before it cuts a text into tokens")
        with no_panic("The tokenizer cannot be read"):
            tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except Exception as error:
        damaged = "The weights are there, but the files of its tokenizer are missing or damaged"
        raise ModelError(f"{damaged}: {first_line(error)}") from error
    wanted = {"tokenizer.json", *tokenizer.vocab_files_names.values()} if tokenizer.vocab_files_names else set()
    if wanted and not any((folder / file).is_file() for file in wanted):
        vocabulary = ", ".join(sorted(wanted))
        raise ModelError(f"The weights are there, but the tokenizer lacks its vocabulary ({vocabulary}).")
    return tokenizer


def _doublings(rule: dict[str, Any]) -> float:
    """Return how many times the letters of a text may double by replacements that follow each other."""
    own = math.log2(max(len(rule.get("content", "")), 1))
    return own + sum(map(_doublings, rule.get("normalizers", [])))


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


def _most_tokens(model: Any, tokenizer: Any) -> int | None:
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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()

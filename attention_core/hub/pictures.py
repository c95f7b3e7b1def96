"""A visitor's picture becomes a PNG of bounded size, and the inputs of a vision model."""

import inspect
import math
import warnings
from collections.abc import Mapping
from dataclasses import replace
from io import BytesIO
from typing import Any

import numpy as np
import torch
from PIL import Image, ImageOps
from torch import Tensor

from attention_core.arrays import BROKEN, FileError
from attention_core.bounds.limits import (
    JPEG_PIXELS,
    MODEL_PATCHES,
    MODEL_PICTURE_SIDE,
    PICTURE_BYTES,
    PICTURE_PIXELS,
    PICTURE_SCANS,
)
from attention_core.concurrency import Lock
from attention_core.explain.heads import PatchGrid
from attention_core.hub.model import ModelError, ModelKind, Pretrained, as_model_errors, image_token, readable
from attention_core.hub.run import ModelInputs, text_inputs

SCAN = b"\xff\xda"  # how a JPEG says that all its pixels come once more, sharper; photographs do so up to ten times
MAX_SIDE = 1_024  # pictures are made this small, in pixels of their longer side, before they are kept
_UNPACKING = Lock("unpack a picture")  # one picture at a time: small files can become large


def read_picture(content: bytes) -> bytes:
    """Return a picture file as a PNG of bounded size, upright; a FileError for people if it is too large, or none."""
    if len(content) > PICTURE_BYTES.maximum:
        raise FileError(f"The file has {len(content) / 1e6:.0f} MB; at most {PICTURE_BYTES.millions} MB are read.")
    if (n_scans := content.count(SCAN)) > PICTURE_SCANS.maximum:
        raise FileError(f"The picture is drawn {n_scans:,} times over; at most {PICTURE_SCANS} are read.")
    try:
        with _UNPACKING:
            return png_of(_small(content))
    except FileError:
        raise
    except Image.DecompressionBombError as error:
        raise FileError(f"The picture has more than {PICTURE_PIXELS.millions} million pixels.") from error
    except BROKEN as error:
        raise FileError("This is no PNG, JPEG or WebP picture, or the file is damaged.") from error


def _small(content: bytes) -> Image.Image:
    with warnings.catch_warnings(action="ignore", category=Image.DecompressionBombWarning):  # the bound follows
        image: Image.Image = Image.open(BytesIO(content), formats=("PNG", "JPEG", "WEBP"))
    is_light = image.format in ("JPEG", "MPO") and "progressive" not in image.info
    n_pixels, bound = image.width * image.height, JPEG_PIXELS if is_light else PICTURE_PIXELS
    if n_pixels > bound.maximum:
        raise FileError(
            f"The picture has {n_pixels / 1e6:.0f} million pixels; at most {bound.millions} million are read."
        )
    # before it is turned, and without pixels to spare, so that a JPEG is unpacked at a fraction of its size
    image.thumbnail((MAX_SIDE, MAX_SIDE), reducing_gap=1.0)
    return ImageOps.exif_transpose(image).convert("RGBA")


def png_of(image: Image.Image) -> bytes:
    """Return a picture as a PNG, quickly made."""
    file = BytesIO()
    image.save(file, "PNG", compress_level=1)
    return file.getvalue()


PLAIN = 0.5  # mean and standard deviation of each channel where a model brings no image processor
PLAIN_SIDE = 224


def picture_inputs(pretrained: Pretrained, picture: np.ndarray) -> ModelInputs:
    """Return a picture, uint8 (height, width, 3), or 4 with opacity on white, as a vision model takes it."""
    if pretrained.kind is not ModelKind.VISION:
        raise ModelError(f"{pretrained.name} takes a text, not a picture.")
    pixels, mean, deviation = _processed(pretrained, _on_white(picture))
    grid = _grid(pretrained.model.config, pixels)
    prefix = _prefix(pretrained.model, grid)
    rows, columns = grid or (0, 0)
    patches = [f"row {row}, column {column}" for row in range(1, rows + 1) for column in range(1, columns + 1)]
    n_behind = (getattr(pretrained.model.config, "num_detection_tokens", 0) or 0) if grid else 0
    tokens = (*prefix, *patches, *(f"[DETECTION {number}]" for number in range(1, n_behind + 1)))
    inputs = {"pixel_values": pixels}
    if "noise" in inspect.signature(pretrained.model.forward).parameters:  # by which masked autoencoders shuffle
        inputs["noise"] = torch.arange(len(patches), dtype=torch.float32)[None]
    return ModelInputs(
        inputs,
        tokens=tokens,
        special=frozenset((*range(len(prefix)), *range(len(tokens) - n_behind, len(tokens)))),
        patch_grid=grid,
        n_prefix=len(prefix),
        picture=_unnormalised(pixels[0], mean, deviation),
    )


def _on_white(picture: np.ndarray) -> Image.Image:
    if picture.ndim != 3 or picture.shape[2] not in (3, 4) or picture.dtype != np.uint8 or 0 in picture.shape:
        raise ModelError(f"A picture is uint8 (height, width, 3 or 4), this is {picture.dtype} {picture.shape}.")
    image = Image.fromarray(picture)
    if image.mode == "RGBA":
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")
    return image


BESIDE_SIDE = 448
"""Pixels of the longer side of a picture beside a text: a model that takes any size makes 256 tokens of so many."""
AROUND = (("vision_start_token_id", "vision_end_token_id"), ("boi_token_index", "eoi_token_index"))
"""What settings call the tokens before and behind a picture."""
AROUND_TOKENS = (
    (("<fake_token_around_image>", "<global-img>"), ("<fake_token_around_image>",)),
    (("<img>",), ("</img>",)),
)
"""The same as vocabularies have them where settings tell of none."""


def picture_text_inputs(pretrained: Pretrained, picture: np.ndarray, text: str) -> ModelInputs:
    """Return a picture, see picture_inputs, and the text behind it, as a model that reads both takes them.

    How many tokens the picture becomes, the model's own picture tower tells; they lie on a grid if they are a square,
    or if the image processor says so.
    """
    if not pretrained.reads_pictures:
        raise ModelError(f"{pretrained.name} takes no picture beside its text.")
    processor, image = pretrained.processor, _on_white(picture)
    model: Any = pretrained.model
    image.thumbnail((BESIDE_SIDE, BESIDE_SIDE))
    _refuse_huge(pretrained)
    options = {"do_image_splitting": False} if hasattr(processor, "do_image_splitting") else {}
    with as_model_errors(pretrained, "be given this picture"), torch.inference_mode():
        image_inputs = dict(processor(images=image, return_tensors="pt", **options))
        features = model.get_image_features(**{name: value.to(model.device) for name, value in image_inputs.items()})
        n_tokens = sum(len(rows.flatten(0, -2)) for rows in features.pooler_output)
    if n_tokens > MODEL_PATCHES.maximum:
        raise ModelError(f"The model makes {n_tokens:,} tokens of a picture; at most {MODEL_PATCHES} are run.")
    grid, preview = _tiles(processor, image_inputs, image, n_tokens)
    opens, closes = _around(pretrained)
    texts = text_inputs(pretrained, text, n_beside=n_tokens + len(opens) + len(closes))
    ids, n_before = texts.inputs["input_ids"][0].tolist(), 0
    while n_before < len(ids) - 1 and ids[n_before] in pretrained.tokenizer.all_special_ids:
        n_before += 1
    start, image_id = n_before + len(opens), image_token(pretrained)
    ids = [*ids[:n_before], *opens, *[image_id] * n_tokens, *closes, *ids[n_before:]]
    columns = grid[1] if grid else n_tokens
    tiles = [
        f" row {index // columns + 1}, column {index % columns + 1}" if grid else f" picture {index + 1}"
        for index in range(n_tokens)
    ]
    labels = readable(pretrained.tokenizer, ids)
    is_tile, parameters = torch.tensor([[id == image_id for id in ids]]), inspect.signature(model.forward).parameters
    inputs = {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids), dtype=torch.long)}
    inputs |= image_inputs
    inputs |= {name: is_tile.long() for name in ("mm_token_type_ids", "token_type_ids") if name in parameters}
    marks = set(pretrained.tokenizer.all_special_ids) - {image_id}
    return replace(
        texts,
        inputs=inputs,
        tokens=(*labels[:start], *tiles, *labels[start + n_tokens :]),
        special=frozenset(index for index, id in enumerate(ids) if id in marks or (index == 0 and start)),
        tiles=PatchGrid(grid, start) if grid else None,
        picture=preview,
    )


def _around(pretrained: Pretrained) -> tuple[list[int], list[int]]:
    """Return the tokens before and behind a picture, of a model that wants any."""
    for names in AROUND:
        pair = [int(number) for name in names if (number := getattr(pretrained.model.config, name, None)) is not None]
        if len(pair) == 2:
            return pair[:1], pair[1:]
    vocabulary = pretrained.tokenizer.get_vocab()
    for sides in AROUND_TOKENS:
        if all(token in vocabulary for side in sides for token in side):
            opens, closes = ([vocabulary[token] for token in side] for side in sides)
            return opens, closes
    return [], []


def _tiles(processor: Any, image_inputs: Mapping[str, Tensor], image: Image.Image, n: int) -> tuple[Any, np.ndarray]:
    """Return the grid of a picture's n tokens, None = nobody knows, and the picture as the model saw it."""
    pixels = image_inputs["pixel_values"]
    grid: tuple[int, int] | None
    if (sizes := image_inputs.get("image_grid_thw")) is not None:
        rows, columns = (int(side) for side in sizes[0, 1:])
        merged, patch = getattr(processor, "merge_size", 1), processor.patch_size
        grid, preview = (rows // merged, columns // merged), np.asarray(image.resize((columns * patch, rows * patch)))
    else:
        side, crops = math.isqrt(n), pixels.flatten(0, -4) if pixels.ndim > 3 else pixels[None]
        grid = (side, side) if side**2 == n and len(crops) == 1 else None
        preview = _unnormalised(crops[0], *_normalisation(processor))
    return (grid if grid and math.prod(grid) == n else None), preview


def _processed(pretrained: Pretrained, image: Image.Image) -> tuple[Tensor, Any, Any]:
    """Return pixel values, (1, 3, height, width), with the mean and deviation that were taken off."""
    processor, config = pretrained.processor, pretrained.model.config
    _refuse_huge(pretrained)
    if processor is not None:
        try:
            pixels = processor(images=image, return_tensors="pt")["pixel_values"].float()
        except Exception as error:
            raise ModelError(f"The image processor of {pretrained.name} cannot take this picture: {error}") from error
        if not getattr(processor, "do_normalize", True):
            return pixels, 0.0, 1.0
        return pixels, *_normalisation(processor)
    height, width = _pair(getattr(config, "image_size", None) or PLAIN_SIDE)
    image = image.convert("L" if getattr(config, "num_channels", 3) == 1 else "RGB").resize((width, height))
    small = np.asarray(image, np.float32).reshape(height, width, -1) / 255
    return torch.from_numpy((small - PLAIN) / PLAIN).permute(2, 0, 1)[None].contiguous(), PLAIN, PLAIN


def _normalisation(processor: Any) -> tuple[Any, Any]:
    return getattr(processor, "image_mean", None) or 0.0, getattr(processor, "image_std", None) or 1.0


def _refuse_huge(pretrained: Pretrained) -> None:
    processor = pretrained.processor
    size_settings = [getattr(processor, name, None) or {} for name in ("size", "crop_size", "pad_size")]
    sides = [side for sizes in size_settings for side in dict(sizes).values() if isinstance(side, int | float)]
    sides += [getattr(pretrained.model.config, "image_size", None) or 0] if processor is None else []
    pixels = [n for side in sides for n in (side if isinstance(side, list | tuple) else [side])]
    if hasattr(processor, "merge_size"):  # it takes any size within bounds of areas
        pixels = [math.isqrt(dict(processor.size).get("shortest_edge") or 0)]
    largest = max(pixels, default=0)
    if largest > MODEL_PICTURE_SIDE.maximum:
        raise ModelError(
            f"{pretrained.name} wants pictures of {largest:,.0f} pixels a side; at most {MODEL_PICTURE_SIDE} are made."
        )


def _unnormalised(pixels: Tensor, mean: Any, deviation: Any) -> np.ndarray:
    """Return what the model was shown as a picture, uint8 (height, width, 3): the patches lie on its grid."""
    channels = np.asarray(pixels.permute(1, 2, 0)) * np.asarray(deviation) + np.asarray(mean)
    image = np.clip(np.rint(channels * 255), 0, 255).astype(np.uint8)
    return np.repeat(image, 3, axis=2) if image.shape[2] == 1 else image


def _grid(config: Any, pixels: Tensor) -> tuple[int, int] | None:
    """Return rows and columns of patches, or None where the settings give no single size of a patch."""
    size = getattr(config, "patch_size", None)
    if size is None or (isinstance(size, list | tuple) and len(size) != 2):
        return None
    height, width = _pair(size)
    rows, columns = pixels.shape[2] // height, pixels.shape[3] // width
    if rows * columns > MODEL_PATCHES.maximum:
        raise ModelError(f"The model cuts a picture into {rows * columns:,} patches; at most {MODEL_PATCHES} are run.")
    return (rows, columns) if rows and columns else None


def _prefix(model: Any, grid: tuple[int, int] | None) -> tuple[str, ...]:
    """Return names for what stands before the patches, from the tokens that the model has learned."""
    if grid is None:
        return ()
    n_registers = getattr(model.config, "num_register_tokens", 0) or 0
    learned = {name.rsplit(".", 1)[-1] for name, _ in model.named_parameters()}
    return (
        *(["[CLS]"] if "cls_token" in learned or "class_embedding" in learned else []),
        *(["[DISTILLATION]"] if "distillation_token" in learned else []),
        *(f"[REGISTER {number}]" for number in range(1, n_registers + 1)),
    )


def _pair(size: Any) -> tuple[int, int]:
    """Return height and width of a size given as a number, as a pair, or by name."""
    if isinstance(size, dict):
        return int(size["height"]), int(size["width"])
    return (int(size[0]), int(size[1])) if isinstance(size, list | tuple) else (int(size), int(size))

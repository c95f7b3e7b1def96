"""MNIST: its IDX files, found, fetched and read with every defect named; its pictures changed at random."""

import gzip
import os
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

FOLDER = Path.home() / ".cache" / "attention-explorer"
MIRROR = "https://ossci-datasets.s3.amazonaws.com/mnist/"  # public mirror of the files of LeCun, Cortes and Burges

MD5_OF_DOWNLOADS = {
    "train-images-idx3-ubyte.gz": "f68b3c2dcbeaaa9fbdd348bbdeb94873",
    "train-labels-idx1-ubyte.gz": "d53e105ee54ea40749a09fcbcd1e9432",
    "t10k-images-idx3-ubyte.gz": "9fb629c4189551a2d022fa330f9573f3",
    "t10k-labels-idx1-ubyte.gz": "ec29112dd5afa0611ce80d1b7f02629c",
}


class DataError(RuntimeError):
    """Data is missing or damaged; the message says what to do."""


@dataclass(frozen=True, eq=False)
class Digits:
    """Images of digits with their labels."""

    images: np.ndarray  # uint8 (n, 28, 28), 0 = paper, 255 = ink
    labels: np.ndarray  # uint8 (n,), 0 to 9

    def __len__(self) -> int:
        return len(self.labels)


def data_folder(data: str | Path | None = None) -> Path:
    """Return the folder of the data sets: the given one, that of the variable ATTENTION_DATA, or the user's cache."""
    if data is not None:
        return Path(data).expanduser()
    if os.environ.get("ATTENTION_DATA"):
        return Path(os.environ["ATTENTION_DATA"]).expanduser()
    return FOLDER


def read_text(data: str | Path | None, relative_path: Path, missing: str) -> tuple[Path, str]:
    """Return the path and the content of a text file in UTF-8, gzipped or not; DataError where it cannot be read.

    `data` is the file, or a folder that holds it at the relative path; None = the folder of the data sets. `missing` is
    what to say when there is no such file, {} = its path.
    """
    path = Path(data).expanduser() if data is not None else data_folder()
    if data is None or path.is_dir():
        path = path / relative_path
    try:
        content = path.read_bytes()
        return path, (gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content).decode("utf-8-sig")
    except FileNotFoundError:
        raise DataError(missing.format(path)) from None
    except (OSError, zlib.error, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is damaged or not UTF-8 text: {error}") from None


def read_idx(path: str | Path) -> np.ndarray:
    """Read one IDX file of unsigned bytes, gzipped or not, as uint8 with the dimensions that it states.

    Source: http://yann.lecun.com/exdb/mnist/, "The IDX file format".
    """
    path = Path(path)
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            content = file.read()
    except FileNotFoundError:
        raise DataError(f"{path} does not exist. Pass the folder of the IDX files with --data.") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{path} is cut short or not gzipped ({error}). Delete it and fetch it again.") from None
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] != 8:
        raise DataError(f"{path} is not an IDX file of unsigned bytes (it starts with {content[:4].hex()}).")
    n_dimensions = content[3]
    header = 4 + 4 * n_dimensions
    if len(content) < header:
        raise DataError(f"{path} is cut short inside its header. Delete it and fetch it again.")
    shape = struct.unpack(f">{n_dimensions}I", content[4:header])
    expected, actual = int(np.prod(shape)), len(content) - header
    if actual != expected:
        raise DataError(
            f"{path} is cut short: {expected} bytes announced, {actual} found. Delete it and fetch it again."
        )
    return np.frombuffer(content, np.uint8, offset=header).reshape(shape)


def read_digits(folder: str | Path, split: str) -> Digits:
    """Read MNIST's "train" or "t10k" part from IDX files, gzipped or not, in a folder or its subfolder `mnist`.

    DataError where a file is missing, damaged, or images and labels do not match.
    """
    images = read_idx(_find(Path(folder), f"{split}-images-idx3-ubyte"))
    labels = read_idx(_find(Path(folder), f"{split}-labels-idx1-ubyte"))
    if images.ndim != 3 or images.shape[1:] != (28, 28) or labels.ndim != 1 or len(images) != len(labels):
        raise DataError(f"{folder}: images {images.shape} and labels {labels.shape} do not belong together.")
    return Digits(images, labels)


def load_mnist(split: str, data: str | Path | None = None) -> Digits:
    """Return MNIST's "train" or "t10k" part, downloading it into the cache folder when it is nowhere.

    DataError where a named folder has no files, or there is no network to fetch them.
    """
    folder = data_folder(data)
    try:
        return read_digits(folder, split)
    except DataError:
        if data is not None or os.environ.get("ATTENTION_DATA") or any(folder.glob(f"**/{split}-*")):
            raise
    _download(folder / "mnist", split)
    return read_digits(folder, split)


def _find(folder: Path, stem: str) -> Path:
    for base in (folder, folder / "mnist"):
        for name in (f"{stem}.gz", stem):
            if (base / name).is_file():
                return base / name
    raise DataError(
        f"No {stem}(.gz) in {folder} or {folder / 'mnist'}. Pass the folder that holds MNIST's IDX files with "
        "--data or the variable ATTENTION_DATA, or leave both away to download them."
    )


def _download(folder: Path, split: str) -> None:
    import pooch

    for name in (n for n in MD5_OF_DOWNLOADS if n.startswith(split)):
        try:
            pooch.retrieve(MIRROR + name, f"md5:{MD5_OF_DOWNLOADS[name]}", fname=name, path=folder, progressbar=True)
        except Exception as error:
            raise DataError(
                f"Could not download {MIRROR + name} ({error}). Connect to a network, or fetch MNIST's four IDX "
                f"files elsewhere and pass their folder with --data."
            ) from error


ROTATION, SCALE, SHEAR = 0.12, 0.08, 0.15  # standard deviations: radians, log of the factor, share of the height
SHIFT_PIXELS = 1.5  # largest shift in each direction
ELASTIC, ELASTIC_GRID = 0.05, 5
"""Standard deviation of the elastic shifts, as a share of half the side, and how many knots they have a side."""
THICKEN_SHARE, CONTRAST = 0.12, 0.25
"""Share of pictures whose strokes are thickened by a pixel; standard deviation of the log of gamma."""


def augment(images: Tensor, generator: torch.Generator) -> Tensor:
    """Turn, scale, shear, shift, bend, thicken and shade pictures (batch, side, side) in [0, 1] at random.

    Source: affine and elastic distortions of MNIST after Simard et al. 2003.
    """
    batch, side = images.shape[0], images.shape[-1]

    def normal(*shape: int) -> Tensor:
        return torch.randn(batch, *shape, generator=generator, device=images.device)

    def uniform(*shape: int) -> Tensor:
        return torch.rand(batch, *shape, generator=generator, device=images.device)

    angle, factor, shear = normal() * ROTATION, (normal(2) * SCALE).exp(), normal() * SHEAR
    shift = (uniform(2) * 2 - 1) * SHIFT_PIXELS / (side / 2)
    cos, sin = angle.cos(), angle.sin()
    first = torch.stack((cos * factor[:, 0], shear - sin, shift[:, 0]), 1)
    second = torch.stack((sin, cos * factor[:, 1], shift[:, 1]), 1)
    grid = F.affine_grid(torch.stack((first, second), 1), [batch, 1, side, side], align_corners=False)
    bend = F.interpolate(normal(2, ELASTIC_GRID, ELASTIC_GRID) * ELASTIC, size=(side, side), mode="bicubic")
    moved = F.grid_sample(images[:, None], grid + bend.permute(0, 2, 3, 1), align_corners=False)
    thick = F.max_pool2d(F.pad(moved, (0, 1, 0, 1)), 2, 1)
    moved = torch.where(uniform(1, 1, 1) < THICKEN_SHARE, thick, moved)
    return moved.clamp(0, 1).pow((normal(1, 1, 1) * CONTRAST).exp())[:, 0]

"""A picture file that somebody brings becomes a PNG of bounded size."""

import warnings
from io import BytesIO

from PIL import Image, ImageOps

from attention_core.arrays import BROKEN, FileError
from attention_core.bounds import JPEG_PIXELS, PICTURE_BYTES, PICTURE_PIXELS, PICTURE_SCANS
from attention_core.locks import Lock

SCAN = b"\xff\xda"
"""How a JPEG says that all its pixels come once more, sharper; photographs do so up to ten times."""
SHOWN_SIDE = 1_024
"""Pictures are made this small, in pixels of their longer side, before they are kept."""
_UNPACKING = Lock("unpack a picture")
"""One picture at a time: small files can become large."""


def read_picture(content: bytes) -> bytes:
    """Return a picture file as a PNG of bounded size, upright; pictures that come together are read in turn.

    Raises:
        FileError: too large, or no picture; the message is for people.
    """
    if len(content) > PICTURE_BYTES.most:
        raise FileError(f"The file has {len(content) / 1e6:.0f} MB; at most {PICTURE_BYTES.millions} MB are read.")
    if (n_scans := content.count(SCAN)) > PICTURE_SCANS.most:
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the bound on pixels follows
        image: Image.Image = Image.open(BytesIO(content), formats=("PNG", "JPEG", "WEBP"))
    is_light = image.format in ("JPEG", "MPO") and "progressive" not in image.info
    n_pixels, most = image.width * image.height, JPEG_PIXELS if is_light else PICTURE_PIXELS
    if n_pixels > most.most:
        raise FileError(
            f"The picture has {n_pixels / 1e6:.0f} million pixels; at most {most.millions} million are read."
        )
    image.thumbnail((SHOWN_SIDE, SHOWN_SIDE))  # before it is turned, so that a JPEG is unpacked at up to an eighth
    return ImageOps.exif_transpose(image).convert("RGBA")


def png_of(image: Image.Image) -> bytes:
    """Return a picture as a PNG, quickly made."""
    file = BytesIO()
    image.save(file, "PNG", compress_level=1)
    return file.getvalue()

"""The visitor's own photograph on this page, and a link of somebody else's."""

from functools import partial

from pages.photograph.first_screen import KNOWS, choose_photo
from pages.photograph.reading import NAME, PHOTO, PICTURE
from ui.picture_upload import UPLOADED, PictureUpload

_UPLOAD = PictureUpload(NAME, NAME, PHOTO, PICTURE, partial(choose_photo, UPLOADED))


def draw_upload() -> None:
    """Draw what takes a photograph of the visitor's own."""
    _UPLOAD.draw(KNOWS)

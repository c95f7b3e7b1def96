"""The visitor's own photograph on this page, and a link of somebody else's."""

import streamlit as st

from pages.photograph.first_screen import KNOWS, choose_photo
from pages.photograph.reading import NAME, PHOTO, PICTURE, UPLOADED
from ui.picture_upload import PictureUpload


def _ask_own(content: bytes) -> None:
    PICTURE.value = content
    choose_photo(UPLOADED)


_UPLOAD = PictureUpload(NAME, NAME, _ask_own)


def draw_upload() -> None:
    """Draw what takes a photograph of the visitor's own."""
    is_lost = _UPLOAD.draw(KNOWS)
    if PHOTO.value == UPLOADED and PICTURE.value is None and not is_lost:
        st.info(
            "This link is of somebody's own photograph, which no link holds. Its question is kept, and asks another."
        )

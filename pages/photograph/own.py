"""The visitor's own photograph: a file, or from the camera; nothing of it is kept on the server's disk."""

from typing import Any

import streamlit as st

from attention_core.bounds.limits import JPEG_PIXELS, PICTURE_BYTES, PICTURE_PIXELS
from attention_core.hub.pictures import read_picture
from pages.photograph.first_screen import KNOWS, choose_photo
from pages.photograph.reading import NAME, PHOTO, PICTURE, UPLOADED
from ui.component import component
from ui.labels import error_markdown
from ui.state import Field, widget_value

HAS_CAMERA = Field(NAME, "has_camera", False)
FAULT = Field(NAME, "file_fault", "")
"""Why the last file was not read."""
UPLOAD, CAMERA = f"{NAME}_upload", f"{NAME}_camera"
HEIC = (b"ftypheic", b"ftypheix", b"ftypmif1", b"ftyphevc", b"ftypmsf1")
TYPES = ["jpg", "jpeg", "png", "webp", "heic", "heif"]
_paste = component("paste", folder="pages/photograph")
PRIVACY = "It stays in memory while you are here; no link holds it."


def draw_upload() -> None:
    """Draw what takes a photograph of the visitor's own."""
    with st.popover("Your own photograph", icon=":material/add_a_photo:", key="photograph_own"):
        pixels = f"{PICTURE_PIXELS.millions} million pixels"
        if JPEG_PIXELS.maximum > PICTURE_PIXELS.maximum:
            pixels += f", {JPEG_PIXELS.millions} in a JPEG"
        limits: Any = {
            "max_upload_size": PICTURE_BYTES.millions,
            "help": f"At most {PICTURE_BYTES.millions} MB and {pixels}.",
        }
        st.file_uploader(
            "JPEG, PNG or WebP: choose, drop or paste it",
            TYPES,
            key=UPLOAD,
            on_change=_on_file,
            args=(UPLOAD,),
            **limits,
        )
        _paste(key="photograph_paste")
        if HAS_CAMERA.value:
            st.camera_input("Point it at your desk", key=CAMERA, on_change=_on_file, args=(CAMERA,))
        else:
            icon, on_click = ":material/photo_camera:", HAS_CAMERA.set
            st.button("Use the camera", key=f"{NAME}_use_camera", icon=icon, on_click=on_click, args=(True,))
            st.caption("The browser then asks you; it needs HTTPS or this very machine.")
        st.caption(f"{PRIVACY} {KNOWS}")
    if FAULT.value:
        st.error(error_markdown(FAULT.value), icon=":material/error:")
    if PHOTO.value == UPLOADED and PICTURE.value is None:
        st.info(
            "This link is of somebody's own photograph, which no link holds. Its question is kept, and asks another."
        )


def _on_file(key: str) -> None:
    file, FAULT.value = widget_value(key), ""
    if file is None:
        return
    content = file.getvalue()
    try:
        if content[4:12] in HEIC:
            raise ValueError("This is a HEIC photograph, which is not read here: export it as JPEG.")
        PICTURE.value = read_picture(content)
        choose_photo(UPLOADED)
    except ValueError as error:
        FAULT.value = f"{error} The photograph before it stays."

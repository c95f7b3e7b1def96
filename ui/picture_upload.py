"""A visitor's own picture: a file, pasted, or from the camera; nothing of it is kept on the server's disk."""

from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.typing import UploadedFile

from attention_core.bounds.limits import PICTURE_BYTES
from attention_core.hub.pictures import read_picture
from ui.component import component
from ui.hosting.uploads import show_lost_file
from ui.labels import error_markdown
from ui.state import Field, widget_value

HEIC = (b"ftypheic", b"ftypheix", b"ftypmif1", b"ftyphevc", b"ftypmsf1")
TYPES = ["jpg", "jpeg", "png", "webp", "heic", "heif"]
PRIVACY = "It stays in memory; no link holds it."
UPLOADED = "own"
"""The visitor's own picture, among those that an address names."""
NOT_HERE = (
    "The photograph of this link is not here: no link holds one, nor does a server keep one. Another stands for it."
)
_paste = component("paste")


class PictureUpload:
    """What takes a picture of the visitor's own.

    Args:
        page: the page's name.
        key: begins the keys of its widgets.
        source: names the picture that is looked at, UPLOADED = the visitor's own; in the address.
        picture: gets the visitor's own, a PNG of bounded size.
        on_picture: is called once there is one.
    """

    def __init__(
        self,
        page: str,
        key: str,
        source: Field[str],
        picture: Field[bytes | None],
        on_picture: Callable[[], object] = lambda: None,
    ) -> None:
        self._key, self._source, self._picture, self._on_picture = key, source, picture, on_picture
        self._fault = Field(page, f"{key}_fault", "")
        self._has_camera = Field(page, f"{key}_has_camera", False)

    def draw(self, hint: str = "") -> None:
        """Draw what takes a picture, why the last file was not read, and whether the picture has gone."""
        uploads = {}
        with st.popover("Your own photograph", icon=":material/add_a_photo:", key=f"{self._key}_own"):
            uploads["upload"] = self._draw_uploader()
            if self._has_camera.value:
                uploads["camera"] = self._draw_source(st.camera_input, "Point it at your desk", "camera")
            else:
                icon, on_click = ":material/photo_camera:", self._has_camera.set
                st.button("Use the camera", f"{self._key}_use_camera", icon=icon, on_click=on_click, args=(True,))
                st.caption("It needs HTTPS or this machine.")
            st.caption(f"{PRIVACY} {hint}".strip())
        if self._fault.value:
            st.error(error_markdown(self._fault.value), icon=":material/error:")
        has_told = any([show_lost_file(f"{self._key}_{name}", upload) for name, upload in uploads.items()])
        if self._source.value == UPLOADED and self._picture.value is None and not has_told:
            st.info(NOT_HERE)

    def _draw_uploader(self) -> object:
        limits = {"type": TYPES, "max_upload_size": PICTURE_BYTES.millions}
        upload = self._draw_source(st.file_uploader, "JPEG, PNG or WebP, also pasted", "upload", **limits)
        _paste(key=f"{self._key}_paste", data={"uploader": f"{self._key}_upload"})
        return upload

    def _draw_source(self, widget: Callable[..., Any], label: str, name: str, **limits: Any) -> object:
        key = f"{self._key}_{name}"
        return widget(label, key=key, on_change=self._on_file, args=(key,), **limits)

    def _on_file(self, key: str) -> None:
        file, self._fault.value = widget_value(key), ""
        if not isinstance(file, UploadedFile):
            return
        content = file.getvalue()
        try:
            if content[4:12] in HEIC:
                raise ValueError("This is a HEIC photograph, which is not read here: export it as JPEG.")
            self._picture.value, self._source.value = read_picture(content), UPLOADED
            self._on_picture()
        except ValueError as error:
            self._fault.value = f"{error} The photograph before it stays."

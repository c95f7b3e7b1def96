"""Queries and keys in files: those that a visitor brings, and the head that is taken along."""

import hashlib
import io
from functools import partial
from pathlib import Path

import numpy as np
import streamlit as st
from streamlit.typing import UploadedFile

from attention_core.atlas import Contents, Names, Tensors, contents_of, read_tensors, trace_of_tensors
from attention_core.atlas.made_up import made_up
from attention_core.attention.trace import AttentionTrace
from attention_core.bounds import TENSOR_BYTES, TENSOR_FILES
from attention_core.device import to_array
from ui.atlas import NAME
from ui.atlas.shelf import MatrixSource, OpenAtlas
from ui.chart import file_name
from ui.labels import literal, said
from ui.navigation import opened_file, opened_recording
from ui.state import Field, between
from ui.uploads import most_megabytes

EXAMPLE = 16_384
BY_HAND = "I say which"
NOTEBOOK = """import numpy as np, torch
from attention_core.atlas import Atlas, trace_of_tensors

file = np.load("{file}")
trace = trace_of_tensors(torch.from_numpy(file["query"]), torch.from_numpy(file["key"]){more})
atlas = Atlas(trace)
atlas.tile(0, 3, 1).mean      # rows 768 to 1023, columns 256 to 511, exact
for share in atlas.survey():  # one pass over the whole matrix; stop and go on as you like
    print(f"{{share:.0%}}")
atlas.column_sums             # what each key receives in all
"""

File = tuple[str, str, UploadedFile | Path]  # its name, what tells it from others, what is in it or where it is

FILE: Field[File | None] = Field(NAME, "tensors_file", None)
"""The last one that could be used; the upload widget forgets its own."""
ARRAYS, QUERY, KEY = (Field(NAME, name, "", address=name) for name in ("set", "query_array", "key_array"))
CAUSAL = Field(NAME, "causal", False, address="causal")
SCALE = Field(NAME, "scale", None, address="scale", parse=between(-1e6, 1e6))


def tensor_source() -> MatrixSource | None:
    """Take a file, let the visitor say which arrays are meant and how they are used; say what is wrong with it."""
    upload = st.file_uploader(
        "A .npz or .safetensors file", ("npz", "safetensors"), key="atlas_tensors", max_upload_size=most_megabytes()
    )
    st.caption(
        "In a notebook: `np.savez('mine.npz', query=q, key=k, value=v)`, each (heads, n, d) or (n, d); `value`, `mask` "
        f"and `labels` may be left out. Up to {TENSOR_BYTES.most / 2**20:,.0f} MiB of float16, bfloat16, float32 or "
        "float64 numbers. Nothing is unpickled."
    )
    if upload is not None:
        brought = upload.name, hashlib.sha256(upload.getvalue()).hexdigest()[:16], upload
        source = _source_or_complaint(brought)
        if source is not None:
            FILE.value = brought
            return source
    file = FILE.value or _named_on_the_command_line()
    if file is None:
        return _example()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"Shown: {literal(file[0], 48)}")
        if isinstance(file[2], UploadedFile):
            st.button("Forget", key="atlas_forget", on_click=FILE.forget)
    return _source_or_complaint(file)


def _source_or_complaint(file: File) -> MatrixSource | None:
    try:
        return _source(file)
    except (ValueError, OSError) as error:
        st.error(f"**The file cannot be used.** {said(error)}", icon=":material/error:")
        return None


def _example() -> MatrixSource:
    st.caption(f"Until then, an example: {EXAMPLE:,} made-up queries and keys that look for what followed last time.")
    st.download_button(
        "The example as .npz",
        lambda: head_file(made_up(EXAMPLE)),
        "atlas-example.npz",
        on_click="ignore",
        key="atlas_example",
        type="tertiary",
    )
    return MatrixSource(f"made/{EXAMPLE}", "An example", 1, lambda: made_up(EXAMPLE))


def _named_on_the_command_line() -> File | None:
    file = opened_file()
    if file is None or opened_recording():
        return None
    changed = file.stat().st_mtime if file.exists() else 0
    return file.name, f"{file}/{changed}", file


def _source(file: File) -> MatrixSource:
    name, digest, brought = file
    content = brought.getvalue() if isinstance(brought, UploadedFile) else brought
    names = _choose_arrays(_contents(digest, name, content))
    tensors = _tensors(digest, names, name, content)
    causal = CAUSAL.widget(
        st.toggle, "Causal", help="Query i may attend to keys 0 to i only, besides a mask that the file may hold."
    )
    scale = SCALE.widget(
        st.number_input,
        "Scale",
        value=None,
        format="%.6g",
        placeholder=f"1/√{tensors.query.shape[-1]} = {tensors.query.shape[-1] ** -0.5:.4g}",
        help="The factor on the dot products before the softmax.",
    )
    if scale == 0:
        raise ValueError("The scale is 0: every weight would be alike. Leave the field empty for 1/√d.")
    title = f"{name}, {names.query}"
    trace = partial(trace_of_tensors, **vars(tensors), scale=scale, is_causal=causal, name=title)
    key = f"tensors/{digest}/{'+'.join(map(str, names))}/{causal}/{scale}"
    return MatrixSource(key, title, tensors.query.shape[0], trace)


def _choose_arrays(contents: Contents) -> Names:
    sets = {names.query: names for names in contents.sets}
    if len(sets) == 1:
        return next(iter(sets.values()))
    if sets:
        ARRAYS.among([*sets, BY_HAND])
        chosen = ARRAYS.widget(st.selectbox, "Queries", [*sets, BY_HAND])
        if chosen in sets:
            return sets[chosen]
    arrays = [entry.name for entry in contents.entries]
    if len(arrays) < 2:
        found = ", ".join(arrays) or "nothing"
        raise ValueError(f"It must hold queries and keys, two arrays at least; it holds {found}.")
    st.caption("No array is called query or key. Say which are which.")
    QUERY.among(arrays)
    KEY.among(arrays, arrays[1])
    return Names(st.selectbox("Queries", arrays, key=QUERY.key), st.selectbox("Keys", arrays, key=KEY.key))


@st.cache_resource(max_entries=8, show_spinner=False)
def _contents(digest: str, name: str, _content: bytes | Path) -> Contents:
    return contents_of(_content, name)


@st.cache_resource(max_entries=TENSOR_FILES.most, show_spinner="Reading the tensors")
def _tensors(digest: str, names: Names, name: str, _content: bytes | Path) -> Tensors:
    return read_tensors(_content, name, names=names)


def take_along(shelf: OpenAtlas) -> None:
    """Offer the head's queries and keys as a file, which this page opens again, and the code that reads it."""
    trace, head = shelf.atlas.trace, shelf.atlas.head
    file = file_name("atlas", trace.story.mechanism, trace.story.name, f"head {head + 1}") + ".npz"
    content = partial(head_file, trace, head)
    st.download_button("Queries and keys of this head (.npz)", content, file, on_click="ignore", key="atlas_npz")
    st.code(notebook(trace, file), language="python")
    if has_more(trace):
        st.caption("This attention has more than its file tells, such as a mask or a bias: weights from it differ.")


def notebook(trace: AttentionTrace, file: str) -> str:
    factor = trace.score.dot_factor(trace.key.shape[-1])
    scale = "" if factor is None else f", scale={factor:.9g}"
    return NOTEBOOK.format(file=file, more=(", is_causal=True" if trace.is_causal else "") + scale)


def has_more(trace: AttentionTrace) -> bool:
    """Return whether a trace's weights need more than queries, keys, scale and causality."""
    parts = (trace.mask, trace.bias, trace.sinks)
    return any(part is not None for part in parts) or trace.score.dot_factor(trace.key.shape[-1]) is None


def head_file(trace: AttentionTrace, head: int = 0) -> bytes:
    file = io.BytesIO()
    query, key = (to_array(tensor.float()) for tensor in (trace.query[head], trace.key_of(head)))
    np.savez(file, query=query, key=key, labels=np.array([str(label) for label in trace.story.key_axis.labels]))
    return file.getvalue()

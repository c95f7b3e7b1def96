"""What a model is given: a text, a pair of texts, a text and its target, or a picture; good examples of each."""

from __future__ import annotations

import warnings
from io import BytesIO

import streamlit as st
from PIL import Image, ImageOps, UnidentifiedImageError

from attention_core.hub.inputs import MOST_TOKENS
from attention_core.hub.model import Kind, Pretrained
from ui.canvas import Pad, digit_presets, drawing_pad
from ui.runs.runs import ModelInput, PictureInput, TextInput

MOST_CHARACTERS = 100_000
"""Of each text; a model reads far fewer, this only keeps the page quick."""
MOST_FILE_BYTES = 10_000_000
MOST_PIXELS = 40_000_000
SHOWN_SIDE = 1_024
"""Pictures are made this small, in pixels of their longer side, before they are kept."""
PREVIEW = 256
ENGLISH = {
    "Who was tired?": "The animal didn't cross the street because it was too tired.",
    "Two meanings": "She sat on the bank of the river and counted the money she had taken from the bank.",
    "A long way back": "The keys to the cabinet that stood next to the doors of the old library were on the table.",
}
MASKED = {"A gap": "The capital of France is [MASK].", **ENGLISH}
GO_ON = {
    "Copy": "Tom bought a green umbrella for his old teacher. Tom bought a green",
    "Who gives?": "When Tom and Mary went to the market, Tom gave a flower to",
    **ENGLISH,
    "Code": "def add(a, b):\n    return a + b\n\ndef multiply(a, b):\n    return",
}
TRANSLATE = {
    "Who was tired?": ENGLISH["Who was tired?"],
    "Order of words": "The little red car of my old neighbour was sold last week.",
    "Idiom": "It rains cats and dogs, so we stay at home.",
}
PAIR_EXAMPLES = {"Question and answer": ("Who crossed the street?", "The animal was too tired to cross it.")}
T5_TASK = "translate English to German: "
SECOND = {
    Kind.ENCODER: "Second text, behind a separator (may stay empty)",
    Kind.ENCODER_DECODER: "Target for the decoder (if empty, the model writes it)",
}
DRAW, UPLOAD = "Draw", "Upload"


def choose_input(name: str, pretrained: Pretrained, *, wide: bool = False) -> ModelInput | None:
    """Draw the fields for what the model takes and return what is in them; None where there is nothing to show.

    Args:
        name: prefix of its state.
        pretrained: the model that is to be given the input.
        wide: whether there is room for two texts beside each other.
    """
    with st.container(key=f"{name}_input"):
        if pretrained.kind is Kind.VISION:
            return _picture(name)
        return _text(name, pretrained, wide)


def _text(name: str, pretrained: Pretrained, wide: bool) -> TextInput | None:
    state, kind = st.session_state, pretrained.kind
    examples = _examples(pretrained)
    key = f"{name}_text_{kind.value}"
    state.setdefault(key, next(iter(examples.values())))
    second_key, second = f"{name}_second_{kind.value}", ""
    if kind is Kind.DECODER:
        text = st.text_area("Text", key=key, height=96, persist_state="session")
    else:
        left, right = st.columns(2) if wide else (st.container(), st.container())
        text = left.text_area("Text", key=key, height=96 if wide else 68, persist_state="session")
        second = right.text_area(SECOND[kind], key=second_key, height=96 if wide else 68, persist_state="session")
    with st.container(horizontal=True, gap="xsmall", key=f"{name}_text_examples"):
        for label, example in examples.items():
            st.button(label, key=f"{name}_example_{label}", on_click=_put, args=({key: example},))
        if kind is Kind.ENCODER:
            for label, (first, behind) in PAIR_EXAMPLES.items():
                both = {key: first, second_key: behind}
                st.button(label, key=f"{name}_example_{label}", on_click=_put, args=(both,))
    most = min(MOST_TOKENS, pretrained.most_tokens or MOST_TOKENS)
    st.caption(f"Up to {most:,} tokens; what does not fit is cut, and you are told.")
    if not text.strip():
        st.info("The text is empty. Write a sentence, or take one of the examples.")
        return None
    text, second = text[:MOST_CHARACTERS], second[:MOST_CHARACTERS]
    return TextInput(text, target=second) if kind is Kind.ENCODER_DECODER else TextInput(text, second)


def _examples(pretrained: Pretrained) -> dict[str, str]:
    if pretrained.kind is Kind.DECODER:
        return GO_ON
    if pretrained.kind is Kind.ENCODER_DECODER:
        task = T5_TASK if pretrained.model.config.model_type == "t5" else ""
        return {label: task + text for label, text in TRANSLATE.items()}
    mask = getattr(pretrained.tokenizer, "mask_token", None)
    predicts = hasattr(pretrained.model, "get_output_embeddings") and pretrained.model.get_output_embeddings()
    if mask and predicts is not None:
        return {label: text.replace("[MASK]", mask) for label, text in MASKED.items()}
    return ENGLISH


def _put(values: dict[str, str]) -> None:
    st.session_state.update(values)


def _picture(name: str) -> PictureInput | None:
    way = st.segmented_control(
        "Picture",
        [DRAW, UPLOAD],
        default=None if f"{name}_way" in st.session_state else DRAW,
        key=f"{name}_way",
        required=True,
        persist_state="session",
    )
    if way == UPLOAD:
        return _uploaded(name)
    pad = drawing_pad(Pad(f"{name}_pad", digit_presets(), first="7", address=""))
    return PictureInput(_png(Image.fromarray(pad.canvas)))


def _uploaded(name: str) -> PictureInput | None:
    """Return the uploaded picture; a file that is none is told, and the picture before it stays."""
    state, kept = st.session_state, f"{name}_picture"
    upload = st.file_uploader(
        "A photograph or drawing",
        type=["png", "jpg", "jpeg", "webp"],
        key=f"{name}_upload",
        max_upload_size=MOST_FILE_BYTES // 1_000_000,
        help=f"At most {MOST_FILE_BYTES // 1_000_000} MB and {MOST_PIXELS // 1_000_000} million pixels.",
    )
    if upload is not None:
        try:
            state[kept] = read_picture(upload.getvalue())
        except ValueError as error:
            st.error(f"{error}" + (" The picture before it stays." if kept in state else ""), icon=":material/error:")
    elif kept not in state:
        st.caption("The picture is resized as the model wants it and cut into patches.")
    if kept not in state:
        return None
    st.image(state[kept], width=PREVIEW)
    return PictureInput(state[kept])


def read_picture(content: bytes) -> bytes:
    """Return a picture file as a PNG of bounded size, upright.

    Raises:
        ValueError: too large, or no picture; the message is for people.
    """
    if len(content) > MOST_FILE_BYTES:
        raise ValueError(
            f"The file has {len(content) / 1e6:.0f} MB; at most {MOST_FILE_BYTES // 1_000_000} MB are read."
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the bound on pixels follows
            image = Image.open(BytesIO(content), formats=("PNG", "JPEG", "WEBP"))
        if image.width * image.height > MOST_PIXELS:
            raise ValueError(
                f"The picture has {image.width * image.height / 1e6:.0f} million pixels; at most "
                f"{MOST_PIXELS // 1_000_000} million are read."
            )
        image = ImageOps.exif_transpose(image)
        image.thumbnail((SHOWN_SIDE, SHOWN_SIDE))
        return _png(image.convert("RGBA"))
    except (UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError("This is no PNG, JPEG or WebP picture, or the file is damaged.") from error


def _png(image: Image.Image) -> bytes:
    file = BytesIO()
    image.save(file, "PNG", compress_level=1)
    return file.getvalue()

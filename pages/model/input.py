"""What the page shows: a model that runs on a text, a pair of texts or a picture; or a recording from a file."""

import streamlit as st
from PIL import Image

from attention_core.bounds.limits import (
    JPEG_PIXELS,
    MODEL_TEXT_LETTERS,
    PICTURE_BYTES,
    PICTURE_PIXELS,
    TOKENS,
)
from attention_core.hub.model import ModelError, ModelKind, Pretrained, class_names, predicts_words
from attention_core.hub.pictures import png_of, read_picture
from attention_core.hub.run import ModelInput, ModelRun, PictureInput, TextInput
from pages.model.glance import NAME, SECOND_RUN, TOKEN
from ui.canvas import Pad, digit_presets, draw_pad
from ui.fragments import with_rerun
from ui.hosting.uploads import show_lost_file
from ui.labels import error_markdown, literal
from ui.model_runs import (
    PAGE_MODEL,
    RunRequest,
    model_choice,
    opened_run,
    pretrained_of,
    remember_request,
    run_of,
    uploaded_run,
)
from ui.navigation import open_question, opened_recording
from ui.state import Field, expander, single_choice, slugs

PREVIEW = 256
ENGLISH = {
    "Who was tired?": "The animal didn't cross the street because it was too tired.",
    "A long way back": "The keys to the cabinet that stood next to the doors of the old library were on the table.",
}
MASKED = {"A gap": "The capital of France is [MASK].", **ENGLISH}
CONTINUATIONS = {
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
T5_TASK = "translate English to German: "
SECOND = {
    ModelKind.ENCODER: "Second text, behind a separator",
    ModelKind.ENCODER_DECODER: "Target (if empty, the model writes it)",
}
PAIR_EXAMPLES = {"Question and answer": ("Who crossed the street?", "The animal was too tired to cross it.")}
MAX_NAMED = 10  # classes that are named before a picture is given
DRAW, UPLOAD, NO_PICTURE = "Draw", "Upload", "Text alone"
MODEL, RECORDING = "A model", "A recording"
SOURCE = Field(
    NAME,
    "what",
    lambda: RECORDING if opened_recording() else MODEL,
    address="what",
    **slugs(model=MODEL, recording=RECORDING),
)
EDIT_CLICKS = Field(NAME, "edit_clicks", 0)
"""How often the sentence was wanted for editing, which opens it where it stands."""
FOLDED_OUT = Field[bool](NAME, "source_open", lambda: SOURCE.value == RECORDING or PAGE_MODEL.is_requested)
INPUTS = (NAME, SECOND_RUN)
KINDS = [(name, kind) for name in INPUTS for kind in ModelKind]
TEXT = {(name, kind): Field(name, f"text_{kind}", "", address=f"text_{kind}") for name, kind in KINDS}
SECOND_TEXT = {(name, kind): Field(name, f"second_{kind}", "", address=f"second_{kind}") for name, kind in KINDS}
PICTURE_SOURCES = slugs(draw=DRAW, upload=UPLOAD, none=NO_PICTURE)
PICTURE_FROM = {name: Field(name, "way", DRAW, address="picture", **PICTURE_SOURCES) for name in INPUTS}
PICTURE = {name: Field[bytes | None](name, "picture", None) for name in INPUTS}
PICTURE_FILE = {name: Field(name, "picture_file", "") for name in INPUTS}
PAD = {name: Pad(f"{name}_pad", digit_presets(), first="7") for name in INPUTS}


def choose_source() -> str | ModelRun | None:
    """Let a person choose a model or a recording; returns the model's key, or what the recording holds."""
    with expander("Another model, or a recording", FOLDED_OUT):
        kind = single_choice("Look at", SOURCE, [MODEL, RECORDING], label_visibility="collapsed")
        return model_choice(NAME).draw() if kind == MODEL else _choose_recording()


def _choose_recording() -> ModelRun | None:
    run = opened_run()
    if run is None:
        run = uploaded_run(NAME)
    else:
        with st.popover("Another recording", icon=":material/upload_file:"):
            run = uploaded_run(NAME) or run
    if run is not None:
        n_heads = sum(trace.n_heads for trace in run.recording.traces)
        calls = f"{len(run.recording):,} call{'s' * (len(run.recording) != 1)} of attention"
        st.markdown(f"**{error_markdown(run.model)}**: {calls}, {n_heads:,} head{'s' * (n_heads != 1)}.")
    return run


def offer_model(run: ModelRun) -> None:
    """Offer to load the model that made a recording, with the text that it read: only a model can run again."""
    name = run.recording.model
    st.info(f"A recording cannot run again; the model that made it can: {literal(name)}.")

    def load() -> None:
        SOURCE.value, FOLDED_OUT.value = MODEL, True
        if run.recording.text:
            for kind in ModelKind:
                TEXT[NAME, kind].value = run.recording.text
        PAGE_MODEL.load(name)

    label = "Load it, with the same words" if run.recording.text else "Load it"
    st.button(label, key=f"{NAME}_load", on_click=with_rerun(load))


def choose_run(source: str | ModelRun | None) -> tuple[ModelRun | None, RunRequest | None]:
    """Let a person give the model its input; returns the run, and the model and input that it came from, if any."""
    run, request = None if isinstance(source, str) else source, None
    if isinstance(source, str):
        try:
            model_input = choose_input(NAME, pretrained_of(source))
            if model_input is not None:
                run, request = run_of(source, model_input), RunRequest(source, model_input)
                remember_request(source, model_input)
        except ModelError as error:
            st.error(error_markdown(error), icon=":material/error:")
    for note in run.notes if run is not None else ():
        st.info(error_markdown(note))
    return run, request


def choose_input(name: str, pretrained: Pretrained, *, first: str = "") -> ModelInput | None:
    """Draw the fields for what the model takes and return what is in them; None where there is nothing to show.

    `name` begins the keys of the fields; `first` is the text on arrival, the first example if empty.
    """
    with st.container(key=f"{name}_input"):
        if pretrained.kind is ModelKind.VISION:
            return _picture(name, pretrained)
        return _text(name, pretrained, first)


def _text(name: str, pretrained: Pretrained, first: str) -> TextInput | None:
    kind = pretrained.kind
    examples = {label: (example, "") for label, example in _examples(pretrained).items()}
    examples |= PAIR_EXAMPLES if kind is ModelKind.ENCODER else {}
    text, second = TEXT[name, kind], SECOND_TEXT[name, kind]
    text.suggest(first or next(iter(examples.values()))[0])
    if kind is ModelKind.ENCODER_DECODER or (kind is ModelKind.ENCODER and second.value):
        text.widget(st.text_area, "Text", height=68)
        second.widget(st.text_area, SECOND[kind], height=68)
    else:
        text.widget(st.text_area, "Text", height=84, label_visibility="collapsed")
    st.button("Apply", f"{name}_apply")  # on a touch screen, which has no Ctrl + Enter
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"{name}_text_examples"):
        for label, example in examples.items():
            st.button(label, key=f"{name}_example_{label}", on_click=_use_example, args=(name, kind, *example))
        if name == NAME and open_question(NAME) is None:
            st.button("Edit", "model_edit", icon=":material/edit:", on_click=_edit_sentence)
        if pretrained.reads_pictures:
            max_tokens = min(TOKENS.maximum, pretrained.max_tokens or TOKENS.maximum)
            st.caption(f"Up to {max_tokens:,} tokens, the picture’s included.")
    if not text.value.strip():
        st.info("The text is empty. Write a sentence.")
        return None
    first_text, second_text = text.value[: MODEL_TEXT_LETTERS.maximum], second.value[: MODEL_TEXT_LETTERS.maximum]
    if kind is ModelKind.DECODER:
        picture = _picture(name, pretrained, NO_PICTURE) if pretrained.reads_pictures else None
        return TextInput(first_text, png=picture.png if picture else None)
    is_pair = kind is ModelKind.ENCODER
    return TextInput(first_text, pair=second_text * is_pair, target=second_text * (not is_pair))


def _examples(pretrained: Pretrained) -> dict[str, str]:
    if pretrained.kind is ModelKind.DECODER:
        return CONTINUATIONS
    if pretrained.kind is ModelKind.ENCODER_DECODER:
        task = T5_TASK if pretrained.model.config.model_type == "t5" else ""
        return {label: task + text for label, text in TRANSLATE.items()}
    mask = getattr(pretrained.tokenizer, "mask_token", None)
    if mask and predicts_words(pretrained):
        return {label: text.replace("[MASK]", mask) for label, text in MASKED.items()}
    return ENGLISH


def _edit_sentence() -> None:
    EDIT_CLICKS.value += 1


def _use_example(name: str, kind: ModelKind, text: str, second: str) -> None:
    TEXT[name, kind].value, SECOND_TEXT[name, kind].value = text, second
    if name == NAME:
        TOKEN.reset()


def _picture(name: str, pretrained: Pretrained, *further_sources: str) -> PictureInput | None:
    sources = [DRAW, UPLOAD, *further_sources]
    PICTURE_FROM[name].clamp_to_options(sources)
    source = single_choice("Picture beside the text" if further_sources else "Picture", PICTURE_FROM[name], sources)
    if source in further_sources:
        return None
    if source == UPLOAD:
        return _uploaded(name, pretrained)
    return PictureInput(png_of(Image.fromarray(draw_pad(PAD[name]).canvas)))


def describe_reading(pretrained: Pretrained) -> str:
    """Say what a model makes of any picture, before it is given one."""
    classes, config = class_names(pretrained), pretrained.model.config
    sentence = "A picture is resized as the model wants it and cut into patches."
    if pretrained.processor is None and getattr(config, "num_channels", 3) == 1:
        sentence = f"It shrinks any photograph to {config.image_size} × {config.image_size} grey pixels."
    if not classes:
        return sentence
    named = ", ".join(map(error_markdown, classes[:MAX_NAMED])) + ", …" * (len(classes) > MAX_NAMED)
    return f"This model knows {len(classes):,} classes alone: {named}. {sentence}"


def _uploaded(name: str, pretrained: Pretrained) -> PictureInput | None:
    st.caption(describe_reading(pretrained))
    picture, file_id = PICTURE[name], PICTURE_FILE[name]
    upload = st.file_uploader(
        "A photograph or drawing",
        type=["png", "jpg", "jpeg", "webp"],
        key=f"{name}_upload",
        max_upload_size=PICTURE_BYTES.millions,
        help=f"At most {PICTURE_BYTES.millions} MB and {PICTURE_PIXELS.millions} million pixels; "
        f"{JPEG_PIXELS.millions} million in a JPEG that is not progressive, as cameras make it.",
    )
    if picture.value is None:
        show_lost_file(f"{name}_upload", upload)
    if upload is not None and upload.file_id != file_id.value:
        try:
            picture.value, file_id.value = read_picture(upload.getvalue()), upload.file_id
        except ValueError as error:
            stays = "" if picture.value is None else " The picture before it stays."
            st.error(f"{error_markdown(error)}{stays}", icon=":material/error:")
    if picture.value is None:
        return None
    st.image(picture.value, width=PREVIEW)
    return PictureInput(picture.value)

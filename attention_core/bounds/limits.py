"""Every bound of the library on what strangers send, with its reason, which SECURITY.md lists.

A bound is asked for when it is needed, `JSON_BYTES.maximum`: on a public server some are smaller.
"""

import os
from dataclasses import dataclass

HOSTED = "ATTENTION_HOSTED"
"""The variable that says "1" where the app runs for the public, "0" where it runs for its owner alone."""
NONE = 2**63 - 1


def is_hosted() -> bool:
    """Return whether the owner has said that the app runs for the public."""
    return os.environ.get(HOSTED, "") == "1"


@dataclass(frozen=True)
class Bound:
    """An upper bound on what strangers send: of what, how much, why, and how much on a public server if less."""

    subject: str
    unhosted: int
    why: str
    hosted: int | None = None

    @property
    def maximum(self) -> int:
        return self.hosted if self.hosted is not None and is_hosted() else self.unhosted

    @property
    def millions(self) -> int:
        return self.maximum // 1_000_000

    def __str__(self) -> str:
        return f"{self.maximum:,}"


MIB = 2**20
# what is sent, packed
LINK_LETTERS = Bound("letters of a packed part of a link", 400_000, "deflate makes 1,000 bytes of one")
UNPACKED_BYTES = Bound("bytes of a session, or of a link unpacked", 1_000_000, "all that a page can hold is less")
UNPACKED_DEPTH = Bound("levels of a value in a link or a session", 6, "our own have fewer")
SESSION_VALUES = Bound("values of a session", 200, "no page has so many fields")
JSON_BYTES = Bound("bytes of any JSON", 4_000_000, "each byte takes up to some 20 bytes of memory")
ARCHIVE_LIST_BYTES = Bound("bytes of an archive's list", 2**19, "a megabyte could name a hundred thousand arrays")
ARRAY_HEADER_BYTES = Bound("bytes of an array's description", 10_240, "NumPy reads it before it says it is too long")
ARRAY_DIMENSIONS = Bound("dimensions of an array", 64, "NumPy has no more")
EDITS = Bound("edits of attention in a link", 64, "nobody keeps more in mind")
EDIT_CELLS = Bound("keys of one edit", 4_096, "a row of a run of a model has fewer")
EDIT_POSITION = Bound("the largest position in an edit", 2**24, "no input is as long")
# drawings and pictures
DRAWING_STROKES = Bound("strokes of a drawing that is sent", 200, "more than a person draws")
DRAWING_POINTS = Bound("points of a drawing that is sent", 20_000, "more than a person draws")
PEN_DISTANCE = Bound(
    "pixels from a pad to a point of a stroke", 10_000, "strokes beyond the edge are kept, not all ink"
)
PEN_PATH = Bound("pixels that the pen goes along and down", 5_000_000, "an hour of scribbling; each is drawn")
DRAWING_DOTS = Bound("dots of which a drawing is made", 200_000, "one on every pixel of the pen's way, unless endless")
PICTURE_BYTES = Bound("bytes of an uploaded picture", 10_000_000, "photographs of phones are smaller")
JPEG_PIXELS = Bound("pixels of an uploaded JPEG in one pass", 40_000_000, "it is unpacked at a fraction of its size")
PICTURE_PIXELS = Bound("pixels of any other picture", 40_000_000, "a WebP takes 15 bytes for each, in turn", 12_000_000)
PICTURE_SCANS = Bound("scans of a JPEG", 100, "each draws all pixels anew; photographs have ten")
# tables, tensors, recordings
TENSOR_BYTES = Bound(
    "bytes of query, key and value", 512 * MIB, "131,072 positions of three float32 vectors are 96 MiB", 256 * MIB
)
TENSOR_HEADS = Bound("heads of tensors", 1_024, "each is one choice in a list")
TENSOR_LABELS = Bound("labels of tensors", 2**19, "four for each position of the longest survey", 2**17)
TENSOR_LABEL_BYTES = Bound("bytes of the labels of tensors", 32 * MIB, "64 bytes for each of them", 8 * MIB)
POSITIONS = Bound("queries, or keys, of an attention in a file", 2**24, "pages count them", 2**18)
RECORDING_LETTERS = Bound("letters of a recording's description", 2_000_000, "each becomes up to 30 bytes of memory")
# texts
QUESTION_LETTERS = Bound("letters of a question", 200, "one thing is asked at a time")
MODEL_TEXT_LETTERS = Bound("letters of a text for a model", 100_000, "a model reads far fewer")
WINDOWED_PIECES = Bound("pieces of a text that is read in windows", 32_768, "a second of work for each eight thousand")
# models of others
MODEL_NAME_LETTERS = Bound("letters of a model's name", 200, "the hub has no longer ones")
MODEL_BYTES = Bound("bytes of a model's weights", 2_000_000_000, "others compute here too", 600_000_000)
MODEL_TEXT_FILE_BYTES = Bound("bytes of a model's settings or tokenizer", 60_000_000, "large vocabularies take 35 MB")
MODEL_LAYERS = Bound("layers and experts of a model", 1_000, "the library counts before it takes memory")
MODEL_LABELS = Bound("labels of a model", 100_000, "the library counts before it takes memory")
MODEL_PATCHES = Bound("patches of a model's picture", 4_096, "each asks each other")
MODEL_PICTURE_SIDE = Bound("pixels of a side of a model's picture", 2_048, "a model may ask for any size")
TOKENIZER_DOUBLINGS = Bound("doublings by a tokenizer's rules", 6, "a chain of rules doubles a text each time")
TOKENIZER_GROWTH = Bound("letters that a tokenizer makes of one", 64, "then it cuts the text")
TOKENS = Bound("tokens of a run", 512, "all heads of all layers are kept")
GENERATED_TOKENS = Bound("tokens that a decoder writes by itself", 64, "nobody has asked for more")
# what the server keeps and how long it works
MODELS = Bound("models of others in memory", 3, "each takes four bytes a weight", 2)
HUB_CACHE_BYTES = Bound(
    "bytes of the hub's cache on disk", NONE, "visitors choose what is fetched; the least used leave", 3_000_000_000
)
SPARE_DISK_BYTES = Bound("bytes left free on the disk", 200_000_000, "logs and uploads need some")
TRAINING_STEPS = Bound("steps of a training on a page", 20_000, "minutes of one core", 2_000)
TRAINING_PARAMETERS = Bound("parameters of a model that is trained on a page", 1_000_000, "more would take hours")
CHECKPOINT_BYTES = Bound("bytes of a training that is put back", 24 * MIB, "the largest that a page makes takes 19")
HUB_SECONDS = Bound("seconds that the hub may take to answer", 10, "a page waits for it")
LECTURE_LETTERS = Bound("letters of a lecture's file", 60_000, "an hour is told in half of them")
LECTURE_ITEMS = Bound("items of a lecture", 100, "an hour has no more")
CLUSTER_SECONDS = Bound("seconds that a cluster may take to answer", 600, "no page waits for ever")
CLUSTER_BYTES = Bound("bytes of a call to a cluster", 64 * MIB, "the largest picture and its settings are less")


def table(*bounds: Bound) -> str:
    """Return bounds as a table in Markdown, for SECURITY.md."""
    rows = ["| at most | on a public server | of what | why |", "|---|---|---|---|"]
    for bound in bounds:
        unhosted = "any" if bound.unhosted == NONE else f"{bound.unhosted:,}"
        hosted = "" if bound.hosted is None else f"{bound.hosted:,}"
        rows.append(f"| {unhosted} | {hosted} | {bound.subject} | {bound.why} |")
    return "\n".join(rows) + "\n"

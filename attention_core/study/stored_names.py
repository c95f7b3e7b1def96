"""What the heads of some real models are called, stored, so that nobody has to run them over sentences first."""

from functools import cache

from attention_core.files import read_toml_beside


@cache
def stored_names(model: str) -> dict[tuple[int, int], str]:
    """Return the names of a model's heads by layer and head, as Study.names gives them; {} where none are stored.

    The model is called by its hub id or its folder. `python -m benchmarks.real_model FOLDER` writes the file.
    """
    heads_by_name = read_toml_beside(__file__).get(model.rpartition("/")[2], {})
    pairs = ((name, head.split(".")) for name, heads in heads_by_name.items() for head in heads)
    return {(int(layer), int(head)): name for name, (layer, head) in pairs}

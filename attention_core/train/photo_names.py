"""What the photo classifier's names mean, by the sentence encoder: computed once, so that nobody waits for it."""

import sys

import torch

from attention_core.hub.catalogue import PACKAGE, find_local
from attention_core.hub.load import load_pretrained
from attention_core.inference.photographs import MEANINGS, photo_names
from attention_core.inference.soft_lookup import sentence_vectors
from attention_core.weights import write_weights

COMMAND = "attention_core.train.photo_names"
EXAMPLES = ("helmet", "dog", "coffee", "bottle", "phone")
"""What a page offers to ask that is no name of a class."""


def main() -> int:
    """Write the vectors of all names and examples, and their card."""
    local = find_local(PACKAGE)
    if local is None:
        print(f"This needs the Python package {PACKAGE}.", file=sys.stderr)
        return 1
    pretrained, texts = load_pretrained(local.folder, name=PACKAGE), [*photo_names(), *EXAMPLES]
    vectors = torch.cat([sentence_vectors(pretrained, [text]) for text in texts])
    data = f"names from torchvision (BSD 3-Clause), read by MiniLM of the package {PACKAGE} (Apache 2.0)"
    card = {"data": data, "examples": EXAMPLES, "command": f"python -m {COMMAND}"}
    write_weights(MEANINGS, {"vectors": vectors.half()}, card)
    return 0


if __name__ == "__main__":
    sys.exit(main())

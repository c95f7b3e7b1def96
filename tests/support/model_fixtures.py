"""Models that tests share: the one that comes as a package, tiny ones in folders, and a hub that has one."""

import pytest


@pytest.fixture(scope="session")
def minilm():
    """The sentence encoder that comes as a Python package, loaded."""
    from attention_core.hub.catalogue import PACKAGE, find_local
    from attention_core.hub.load import load_pretrained

    return load_pretrained(find_local(PACKAGE).folder, name=PACKAGE)


@pytest.fixture(scope="session")
def model_folders(tmp_path_factory):
    """A directory of folders of tiny models; "decoder" also has files that the app must not download."""
    from tests.support import tiny_hub

    root = tmp_path_factory.mktemp("stored")
    tiny_hub.write_encoder(root / "masked")
    tiny_hub.write_decoder(root / "decoder")
    tiny_hub.write_encoder_decoder(root / "both")
    tiny_hub.write_vision(root / "vision")
    (root / "decoder" / "pytorch_model.bin").write_bytes(b"pickled")
    (root / "decoder" / "model.onnx").write_bytes(b"x" * 100_000)
    return root


@pytest.fixture
def hub(model_folders, tmp_path, monkeypatch):
    """A hub with a tiny decoder, and an empty cache."""
    from tests.support import tiny_hub

    with tiny_hub.serving() as server:
        server.repositories["someone/tiny"] = model_folders / "decoder"
        tiny_hub.turn_to(server.endpoint, tmp_path / "cache", monkeypatch)
        yield server

"""Models of the hub: looked up before they are fetched, fetched with progress, gone on with after a break."""

import json
import socket
import sys
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from huggingface_hub import constants

from attention_core.bounds.limits import Bound
from attention_core.hub import catalogue as finding
from attention_core.hub import model as room
from attention_core.hub.catalogue import PACKAGE, SUGGESTIONS, fetch, find_local, local_models, look_up_model
from attention_core.hub.load import load_pretrained
from attention_core.hub.model import ModelError, ModelKind
from attention_core.hub.run import run, text_inputs
from tests.support import tiny_hub

NAME = "someone/tiny"


@pytest.fixture
def folder(model_folders):
    """The folder that the hub serves."""
    return model_folders / "decoder"


@pytest.fixture
def nobody(monkeypatch):
    """An address at which nothing listens; the library does not wait between its attempts to reach it."""
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


def repository(hub, folder, name="someone/other", **files):
    """Serve a folder with these files; a file's content is text or an object for JSON."""
    folder.mkdir()
    for file, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / file.replace("__", ".")).write_text(text)
    hub.repositories[name] = folder
    return name


def test_a_model_is_looked_up_fetched_and_run(hub, folder):
    candidate = look_up_model(f"  {NAME} ")
    assert candidate.folder is None
    assert not any("model.safetensors" in path for _, path, _ in hub.asked)
    steps = []
    fetched = fetch(candidate, lambda done, total: steps.append((done, total)))
    assert {file.name for file in fetched.iterdir()} == {file.name for file in candidate.files}
    assert not {"pytorch_model.bin", "model.onnx"} & {file.name for file in fetched.iterdir()}
    assert (fetched / "model.safetensors").read_bytes() == (folder / "model.safetensors").read_bytes()
    total = sum(file.size for file in candidate.files)
    assert steps == sorted(steps)
    assert steps[-1] == (total, total)
    local = find_local(NAME)
    assert (local.source, local.folder) == ("cache", fetched)
    model = load_pretrained(local.folder, name=NAME)
    assert model.kind is ModelKind.DECODER
    assert len(run(model, text_inputs(model, "The animal")).recording) == 2
    hub.asked.clear()
    assert look_up_model(NAME).folder == fetched
    assert not hub.asked


def weights_of(candidate):
    return next(file.size for file in candidate.files if file.name == "model.safetensors")


def ranges(hub):
    return [header for method, path, header in hub.asked if method == "GET" and path.endswith(".safetensors")]


def test_a_download_that_breaks_off_goes_on_where_it_was(hub, folder, caplog):
    candidate = look_up_model(NAME)
    hub.breaks_after = weights_of(candidate) // (finding.ATTEMPTS + 2)
    hub.breaks_left = finding.ATTEMPTS
    with pytest.raises(ModelError, match="arrived and stay"):
        fetch(candidate)
    assert find_local(NAME) is None
    first, *later = ranges(hub)
    assert first == ""
    assert all(header.startswith("bytes=") for header in later)
    hub.breaks_left = 1
    hub.asked.clear()
    fetched = fetch(candidate)
    assert all(header.startswith("bytes=") for header in ranges(hub))
    broken = [entry for entry in caplog.records if entry.name == "attention_core"]
    assert len(broken) == finding.ATTEMPTS  # 3 of the first download, whose last one is told, and 1 of the second
    assert all(entry.exc_info for entry in broken)
    assert (fetched / "model.safetensors").read_bytes() == (folder / "model.safetensors").read_bytes()


def test_a_visitor_who_stops_a_download_keeps_what_has_arrived(hub):
    def stop(done, total):
        if done > total - weights_of(candidate) // 2:
            raise LookupError

    candidate = look_up_model(NAME)
    with pytest.raises(LookupError):
        fetch(candidate, stop)
    fetch(candidate)
    assert any(header.startswith("bytes=") for _, _, header in hub.asked)


def test_a_file_that_arrives_damaged_is_thrown_away(hub, monkeypatch):
    candidate = look_up_model(NAME)

    def damaged(url, part, size, count):
        part.write_bytes(b"\0" * size)

    with monkeypatch.context() as patched:
        patched.setattr(finding, "_transfer", damaged)
        with pytest.raises(ModelError, match="arrived damaged"):
            fetch(candidate)
    assert fetch(candidate).is_dir()


def test_weights_in_several_files_are_one_set(hub, tmp_path):
    import transformers as hf

    folder = tmp_path / "sharded"
    tokenizer = tiny_hub.byte_level_tokenizer()
    config = hf.GPT2Config(vocab_size=len(tokenizer), n_embd=32, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0)
    with tiny_hub.silent():
        hf.GPT2LMHeadModel(config).save_pretrained(folder, max_shard_size="60KB")
    tokenizer.save_pretrained(folder)
    assert len(list(folder.glob("model-*.safetensors"))) > 1
    hub.repositories["someone/sharded"] = folder
    loaded = load_pretrained(fetch(look_up_model("someone/sharded")))
    assert loaded.kind is ModelKind.DECODER
    snapshot = find_local("someone/sharded").folder
    next(snapshot.glob("model-00001*.safetensors")).unlink()
    assert find_local("someone/sharded") is None
    refused("incomplete", str(snapshot))


def refused(message, *args, **options):
    """Look a model up, which is refused in these words."""
    with pytest.raises(ModelError, match=message) as error:
        look_up_model(*args, **options)
    return str(error.value)


def test_names_that_do_not_exist_or_are_not_given_out_are_told(hub):
    refused("There is no model nobody/nothing on the hub", "nobody/nothing")
    hub.gated.add(NAME)
    refused("agreed to its terms", NAME)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "Name a model"),
        ("a/b/c", "no name of a model"),
        ("a b", "no name of a model"),
        ("x" * 300, "at most 200"),
        ("a\x00b", "printable"),
        ("<script>", "no name of a model"),
    ],
)
def test_names_that_no_model_has_are_told_without_asking(hub, name, said):
    refused(said, name)
    assert not hub.asked


class Merged:
    """As much of peft as is used: an adapter that doubles the first weights."""

    @staticmethod
    def from_pretrained(model, folder):
        assert (Path(folder) / "adapter_model.safetensors").is_file()
        next(model.parameters()).mul_(2)
        return SimpleNamespace(merge_and_unload=lambda: model)


def test_an_adapter_is_merged_where_peft_is_installed_and_its_model_is_here(hub, folder, tmp_path, monkeypatch):
    files = {"adapter_model__safetensors": "x", "adapter_config__json": {"base_model_name_or_path": str(folder)}}
    name = repository(hub, tmp_path / "adapter", **files)
    refused("With the package peft", name)
    refused("With the package peft", str(tmp_path / "adapter"))
    monkeypatch.setitem(sys.modules, "peft", SimpleNamespace(PeftModel=Merged))
    first = next(load_pretrained(folder).model.parameters())
    for candidate in (look_up_model(name), look_up_model(str(tmp_path / "adapter"))):
        merged = load_pretrained(fetch(candidate), name=candidate.name)
        assert torch.equal(next(merged.model.parameters()), 2 * first)
        assert merged.name == candidate.name
    assert find_local(name) is not None, "it is loaded by its name once it was fetched"
    itself = {**files, "adapter_config__json": {"base_model_name_or_path": name}}
    refused(f"of {name}: load that one first", repository(hub, tmp_path / "itself", "a/itself", **itself))
    other = {**files, "adapter_config__json": {"base_model_name_or_path": "no/where"}}
    refused(r"\(LoRA\) of no/where: load that one first", repository(hub, tmp_path / "other", "a/b", **other))


def test_the_address_of_a_page_is_a_name_and_suggestions_are_of_every_kind():
    assert finding.clean_name("https://hub.example/org/model/tree/main") == "org/model"
    assert finding.clean_name(" org/model ") == "org/model"
    assert {one.kind for one in SUGGESTIONS} == set(ModelKind)
    assert len({one.name for one in SUGGESTIONS}) == len(SUGGESTIONS)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"config__json": {"model_type": "bert"}, "pytorch_model__bin": "x"}, r"can run code .*pytorch_model\.bin"),
        ({"config__json": {"model_type": "bert"}}, "no weights in safetensors"),
        ({"adapter_config__json": {}, "adapter_model__safetensors": "x"}, "adapter only.*peft"),
        ({"model_index__json": {}}, "pipeline of several"),
        ({"model__gguf": "x"}, "GGUF"),
        ({"README__md": "x"}, r"no config\.json"),
        ({"config__json": {"model_type": "resnet"}, "model__safetensors": "x"}, "no attention"),
        (
            {"config__json": {"model_type": "own", "auto_map": {}}, "model__safetensors": "x"},
            "unknown to the installed",
        ),
        ({"config__json": {"model_type": "own", "auto_map": {"a": "b"}}, "model__safetensors": "x"}, "never runs code"),
        ({"config__json": "[", "model__safetensors": "x"}, r"config\.json cannot be read"),
    ],
)
def test_repositories_that_cannot_be_shown_are_told_before_anything_is_fetched(hub, tmp_path, files, said):
    refused(said, repository(hub, tmp_path / "other", **files))
    fetched = {path.rsplit("/", 1)[1] for _, path, _ in hub.asked if "/resolve/" in path}
    assert fetched <= {"config.json"}


def test_what_does_not_fit_into_memory_is_told(hub, monkeypatch):
    candidate = look_up_model(NAME)
    monkeypatch.setattr(room, "free_memory", lambda device: 100_000)
    with pytest.raises(room.NoMemory, match=r"take 0\.2 MB of memory; 0\.1 MB are free"):
        look_up_model(NAME)
    with pytest.raises(room.NoMemory):
        load_pretrained(fetch(candidate))


@pytest.mark.parametrize("device", ["cuda", "mps"])
def test_the_memory_that_is_asked_is_that_of_the_device(monkeypatch, device):
    monkeypatch.setattr(torch.backends.mps if device == "mps" else torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (3_000_000, 80_000_000))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda: 2_500_000)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda: 500_000)
    monkeypatch.setattr(torch.mps, "recommended_max_memory", lambda: 7_000_000)
    monkeypatch.setattr(torch.mps, "current_allocated_memory", lambda: 2_000_000)
    with pytest.raises(room.NoMemory, match=r"weights of it take 6\.0 MB of memory; 5\.0 MB are free"):
        room.refuse_without_memory("it", 1_500_000)
    room.refuse_without_memory("it", 1_000_000)
    monkeypatch.setattr(room, "_of_machine", lambda: 4_000_000)  # through which the weights pass
    with pytest.raises(room.NoMemory, match=r"4\.0 MB are free"):
        room.refuse_without_memory("it", 1_000_000)


def test_a_full_disk_and_what_is_too_large_are_told_with_their_numbers(hub, monkeypatch):
    usage = namedtuple("usage", "total used free")
    candidate = look_up_model(NAME)
    monkeypatch.setattr(finding.shutil, "disk_usage", lambda folder: usage(1, 1, 1_000_000))
    with pytest.raises(ModelError, match=r"no room .* 1\.0 MB are free"):
        fetch(candidate)
    assert find_local(NAME) is None
    message = r"are 0\.2 MB; this app downloads at most 0\.1 MB .*ATTENTION_MOST_MODEL_MB"
    monkeypatch.setenv("ATTENTION_MOST_MODEL_MB", "0.1")
    refused(message, NAME)
    monkeypatch.setenv("ATTENTION_MOST_MODEL_MB", "5")
    monkeypatch.setattr(finding, "MODEL_TEXT_FILE_BYTES", Bound("", 1_000, ""))
    refused(r"tokenizer\.json of someone/tiny is 0\.0 MB", NAME)


def test_a_network_that_fails_is_told_and_the_models_that_are_there_are_listed(hub, nobody, tmp_path, monkeypatch):
    candidate = look_up_model(NAME)
    tiny_hub.turn_to(nobody, tmp_path / "cache", monkeypatch)
    with pytest.raises(ModelError, match="cannot be reached, so someone/tiny cannot be fetched"):
        fetch(candidate)
    tiny_hub.turn_to(nobody, tmp_path / "cache", monkeypatch)
    refused(f"cannot be reached.*Without a network there is: {PACKAGE}", NAME)
    assert look_up_model(PACKAGE).folder is not None
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    refused("cannot be reached", NAME)


def test_folders_are_opened_for_the_owner_alone(folder, tmp_path, monkeypatch):
    assert look_up_model(str(folder)).folder == folder
    refused("no folder", str(tmp_path / "none"))
    refused(r"no config\.json", str(tmp_path))
    messages, refusal = set(), "only where the app runs on your own computer"
    for path in (str(folder), "/etc", "/nowhere", "~", "../..", "C:\\Users"):
        messages.add(refused(refusal, path, folders=False))
    assert len(messages) == 1
    monkeypatch.setenv("ATTENTION_HOSTED", "1")
    refused(refusal, str(folder))


def test_a_public_server_has_a_smaller_bound_and_does_not_sign_in(hub, tmp_path, monkeypatch):
    bound = room.max_model_bytes()
    assert finding.hub_token() is None
    monkeypatch.setenv("ATTENTION_HOSTED", "1")
    assert room.max_model_bytes() < bound
    assert finding.hub_token() is False
    monkeypatch.setenv("ATTENTION_MOST_MODEL_MB", "much")
    assert room.max_model_bytes() < bound
    assert room.in_megabytes(2_500_000_000) == "2.5 GB"


def test_damaged_caches_hide_nothing_else(hub, tmp_path):
    fetch(look_up_model(NAME))
    broken = tmp_path / "cache" / "models--a--broken"
    (broken / "snapshots" / "1").mkdir(parents=True)
    (broken / "snapshots" / "1" / "config.json").write_text("{}")
    (broken / "snapshots" / "1" / "model.safetensors.index.json").write_text("[]")
    (tmp_path / "cache" / "models--empty").mkdir()
    (tmp_path / "cache" / "models--file").write_text("x")
    assert [model.name for model in local_models() if model.source == "cache"] == [NAME]

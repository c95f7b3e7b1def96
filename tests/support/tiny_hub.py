"""A hub of models on loopback, with the few routes that the library asks for, and tiny models to serve."""

import contextlib
import hashlib
import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

SHA = "0123456789abcdef0123456789abcdef01234567"
SENTENCES = ["The animal didn't cross the street because it was too tired.", "Das Tier war zu müde."] * 3


class TinyHub(ThreadingHTTPServer):
    """Serves folders as repositories.

    Attributes:
        repositories: folder by name.
        gated: names of repositories that are not given out.
        breaks_after: bytes of a weights file after which transfers break off; None = none does.
        waiting: names of repositories whose weights are sent when an event is set.
        asked: (method, path, Range) of every request.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.repositories: dict[str, Path] = {}
        self.gated: set[str] = set()
        self.breaks_after: int | None = None
        self.breaks_left = 0
        self.waiting: dict[str, threading.Event] = {}
        self.asked: list[tuple[str, str, str]] = []

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: TinyHub
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, with_body: bool) -> None:
        path = unquote(urlsplit(self.path).path)
        self.server.asked.append((self.command, path, self.headers.get("Range", "")))
        with contextlib.suppress(ConnectionError):
            if path.startswith("/api/models/"):
                self._info(path.removeprefix("/api/models/"))
            else:
                name, _, rest = path[1:].partition("/resolve/")
                self._file(name, rest.partition("/")[2], with_body)

    def _info(self, name: str) -> None:
        folder = self.server.repositories.get(name)
        if folder is None:
            self._refuse(401, "RepoNotFound")
            return
        files = [{"rfilename": file.name, "size": file.stat().st_size} for file in sorted(folder.iterdir())]
        body = json.dumps({"id": name, "sha": SHA, "private": False, "tags": [], "siblings": files}).encode()
        self._send(200, {"Content-Type": "application/json"}, body)

    def _file(self, name: str, file: str, with_body: bool) -> None:
        folder = self.server.repositories.get(name)
        if folder is None:
            self._refuse(401, "RepoNotFound")
        elif name in self.server.gated:
            self._refuse(403, "GatedRepo")
        elif not (folder / file).is_file():
            self._refuse(404, "EntryNotFound")
        else:
            if with_body and file.endswith(".safetensors") and name in self.server.waiting:
                self.server.waiting[name].wait(60)
            self._content((folder / file).read_bytes(), file, with_body)

    def _content(self, content: bytes, file: str, with_body: bool) -> None:
        headers = {"ETag": f'"{hashlib.sha256(content).hexdigest()}"', "X-Repo-Commit": SHA, "Accept-Ranges": "bytes"}
        status, start = 200, 0
        asked = self.headers.get("Range")
        if asked:
            start = int(asked.removeprefix("bytes=").rstrip("-"))
            status, headers["Content-Range"] = 206, f"bytes {start}-{len(content) - 1}/{len(content)}"
        body = content[start:]
        if with_body and file.endswith(".safetensors") and self.server.breaks_left > 0:
            self.server.breaks_left -= 1
            self._send(status, headers, body, only=self.server.breaks_after)
            self.close_connection = True
            return
        self._send(status, headers, body if with_body else b"", length=len(body))

    def _refuse(self, status: int, code: str) -> None:
        self._send(status, {"X-Error-Code": code}, b"")

    def _send(
        self, status: int, headers: dict[str, str], body: bytes, length: int | None = None, only: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body[:only])
        self.wfile.flush()


@contextmanager
def serving() -> Iterator[TinyHub]:
    """Yield a hub that answers until the block ends."""
    hub = TinyHub()
    thread = threading.Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.shutdown()
        hub.server_close()
        thread.join()


def turn_to(endpoint: str, cache: Path, monkeypatch) -> None:
    """Let the library ask this hub, and keep what it gets in this cache."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", endpoint)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", endpoint + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(cache / "no-token"))


@contextmanager
def silent() -> Iterator[None]:
    from transformers.utils import logging

    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.enable_progress_bar()


def _trained(built, trainer, **more):
    import transformers

    built.train_from_iterator(SENTENCES, trainer)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=built, **more)


def byte_level_tokenizer():
    """GPT-2's kind: pieces of bytes, written with signs such as U+0120 for a space."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    built, end = Tokenizer(models.BPE()), "<|endoftext|>"
    built.pre_tokenizer, built.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    how = {"initial_alphabet": pre_tokenizers.ByteLevel.alphabet(), "show_progress": False}
    trainer = trainers.BpeTrainer(vocab_size=330, special_tokens=[end], **how)
    return _trained(built, trainer, eos_token=end, bos_token=end, model_max_length=64)


def unigram_tokenizer():
    """SentencePiece's kind: pieces of characters, with U+2581 for a space."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    built, names = Tokenizer(models.Unigram()), {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    built.pre_tokenizer, built.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    how = {"special_tokens": list(names.values()), "unk_token": "<unk>", "show_progress": False}
    built.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return _trained(built, trainers.UnigramTrainer(vocab_size=120, **how), model_max_length=48, **names)


def word_piece_tokenizer():
    """BERT's kind: words and "##" for what goes on with one."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    built = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    built.normalizer, built.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    names = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    built.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    trainer = trainers.WordPieceTrainer(vocab_size=90, special_tokens=list(names.values()), show_progress=False)
    takes = ["input_ids", "token_type_ids", "attention_mask"]
    return _trained(built, trainer, model_max_length=40, model_input_names=takes, **names)


def altered(folder: Path, to: Path, **settings: object) -> Path:
    """Return a copy of a model's folder with other settings."""
    shutil.copytree(folder, to, dirs_exist_ok=True)
    path = to / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))
    return to


WIDTHS = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}


def write(folder: Path, name: str, sizes: dict, tokenizer: Any = None) -> Path:
    """Store a new model of a class of the library, and its tokenizer; returns the folder."""
    import torch
    import transformers

    kind = getattr(transformers, name)
    torch.manual_seed(0)
    with silent():
        kind(kind.config_class(**sizes)).save_pretrained(folder)
        if tokenizer is not None:
            tokenizer.save_pretrained(folder)
    return folder


def write_decoder(folder: Path) -> None:
    """A GPT-2 of two layers."""
    tokenizer = byte_level_tokenizer()
    sizes = {"vocab_size": len(tokenizer), "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
    write(folder, "GPT2LMHeadModel", {**sizes, "bos_token_id": 0, "eos_token_id": 0}, tokenizer)


def write_encoder(folder: Path, head: str = "BertForMaskedLM", **more: object) -> None:
    """A BERT of two layers."""
    tokenizer = word_piece_tokenizer()
    write(folder, head, {"vocab_size": len(tokenizer), **WIDTHS, "max_position_embeddings": 40, **more}, tokenizer)


def write_encoder_decoder(folder: Path) -> None:
    """A T5 of two and two layers."""
    tokenizer = unigram_tokenizer()
    sizes = {"vocab_size": len(tokenizer), "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4}
    ends = {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
    write(folder, "T5ForConditionalGeneration", {**sizes, **ends}, tokenizer)


def write_vision(folder: Path, **more: object) -> None:
    """A ViT of two layers over 4 x 4 patches."""
    write(folder, "ViTForImageClassification", {**WIDTHS, "image_size": 16, "patch_size": 4, **more})
    settings = {"image_processor_type": "ViTImageProcessor", "size": {"height": 16, "width": 16}, "resample": 2}
    settings |= {"image_mean": [0.5, 0.4, 0.3], "image_std": [0.5, 0.5, 0.5], "do_resize": True, "do_normalize": True}
    (folder / "preprocessor_config.json").write_text(json.dumps({**settings, "do_rescale": True}))


TEXT_SIZES = {**WIDTHS, "num_key_value_heads": 2, "max_position_embeddings": 256}
TOWER = {**WIDTHS, "image_size": 24, "patch_size": 6}
RESIZED = {"do_resize": True, "do_rescale": True, "do_normalize": True, "image_mean": [0.5] * 3, "image_std": [0.5] * 3}
READERS = {
    "llava": (
        "LlavaForConditionalGeneration",
        {"vision_config": {"model_type": "clip_vision_model", **TOWER}, "text_config": {"model_type": "llama"}},
        {"image_processor_type": "CLIPImageProcessor", "size": {"height": 24, "width": 24}, "do_center_crop": False},
        ["<image>"],
    ),
    "qwen2_vl": (
        "Qwen2VLForConditionalGeneration",
        {
            "vision_config": {"depth": 2, "embed_dim": 32, "hidden_size": 32, "num_heads": 2, "patch_size": 6},
            "text_config": {
                "model_type": "qwen2_vl_text",
                "rope_parameters": {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 1e4},
            },
        },
        {
            "image_processor_type": "Qwen2VLImageProcessor",
            "patch_size": 6,
            "merge_size": 2,
            "size": {"shortest_edge": 144, "longest_edge": 2304},
        },
        ["<|image_pad|>", "<|vision_start|>", "<|vision_end|>"],
    ),
    "smolvlm": (
        "SmolVLMForConditionalGeneration",
        {"vision_config": TOWER, "text_config": {"model_type": "llama"}, "scale_factor": 2},
        {
            "image_processor_type": "SmolVLMImageProcessor",
            "size": {"longest_edge": 24},
            "max_image_size": {"longest_edge": 24},
        },
        ["<image>", "<fake_token_around_image>", "<global-img>"],
    ),
}
"""Of models that read a picture beside a text: class, settings, those of the image processor, tokens of its own."""


def write_reader(folder: Path, kind: str) -> None:
    """A model of two layers that reads a picture of few patches beside a text, see READERS."""
    name, sizes, processor, tokens = READERS[kind]
    tokenizer = byte_level_tokenizer()
    tokenizer.add_special_tokens({"additional_special_tokens": tokens})
    ids = dict(
        zip(
            ["image_token_id", "vision_start_token_id", "vision_end_token_id"],
            tokenizer.convert_tokens_to_ids(tokens),
            strict=False,
        )
    )
    if kind != "qwen2_vl":
        ids = {"image_token_id": ids["image_token_id"], "image_token_index": ids["image_token_id"]}
    text = {**TEXT_SIZES, **sizes["text_config"], "vocab_size": len(tokenizer), "pad_token_id": 0}
    write(folder, name, {**sizes, "text_config": text, **ids, "pad_token_id": 0}, tokenizer)
    (folder / "preprocessor_config.json").write_text(json.dumps(RESIZED | processor))

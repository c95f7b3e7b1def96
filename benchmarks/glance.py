"""Every layer and head at a glance, here and in BertViz: python -m benchmarks.glance [ROUNDS [LENGTHS]].

A BERT of base widths, 12 x 12 heads, with random weights and queries sharpened so that heads differ, reads n words.
Ours is the page "Your own model" in Chromium: a text is entered (Ctrl and Enter) until every picture is painted and two
photographs of the page are the same; first with the model's run, then again with the run kept. BertViz's model_view of
the same weights is written to a file and opened; running the model and writing the file are not in its seconds. Bytes:
from the key on, websocket and HTTP, without the page itself; for BertViz its HTML and scripts. The floor enters a text
of eight words. Goals at n = 512: 3 MB, 3 s.

BertViz is no part of this project: `pip install bertviz` in an environment of its own, or with --target and that folder
in PYTHONPATH. Its page asks a network for d3, jQuery and require.js; they are fetched with `npm pack` and served from
this machine. Without either, ours is measured alone. LENGTHS are those of BertViz, 64 128 256 if none are given; at 256
its page takes more than 11 GB of memory and is given up after five minutes. Chromium: variable CHROMIUM, or on the
PATH.
"""

import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import transformers as hf
from playwright.sync_api import CDPSession, Page
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from attention_core.hub.catalogue import FOLDERS_BELOW
from benchmarks.browser import clocked, settle, visitor
from benchmarks.notebook import OTHERS, bert, inputs_of, painted, run_rival, tokens_of
from benchmarks.report import publish
from benchmarks.server import running

NAME = "bert-base-random"
LENGTHS, RIVAL_LENGTHS = (64, 128, 256, 512), (64, 128, 256)
MAX_RIVAL_SECONDS, MAX_RIVAL_ROUNDS = 300, 2
VIEW = {"width": 1440, "height": 1200}
SPECIAL = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
CDN = "https://cdnjs.cloudflare.com/**"
SCRIPTS = {
    "require.min.js": ("requirejs@2.3.6", "require.js"),
    "d3.min.js": ("d3@5.7.0", "dist/d3.min.js"),
    "jquery.min.js": ("jquery@2.1.1", "dist/jquery.min.js"),  # BertViz asks for 2.0.0, which is not on npm
}
PICTURE = "document.querySelector('.st-key-model_glance svg.marks image')"
SIGN = f"(image => image ? image.getAttribute('href') ?? image.getAttribute('xlink:href') : '')({PICTURE})"
THUMBNAILS = """document.querySelectorAll('#vis rect.attn_background').length >= 144
    && new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"""


def write_model(folder: Path) -> None:
    """Save a BERT of base widths with random weights, and a tokenizer of one token for a word."""
    words = [*SPECIAL.values(), *(f"w{number}" for number in range(995))]
    built = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))
    built.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    built.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    kept = ["input_ids", "token_type_ids", "attention_mask"]
    named = {"model_max_length": 512, "model_input_names": kept, **SPECIAL}
    hf.PreTrainedTokenizerFast(tokenizer_object=built, **named).save_pretrained(folder)
    bert(12, 768, 3, hf.BertForMaskedLM, 3072).save_pretrained(folder)


@contextmanager
def received(page: Page) -> Iterator[list[int]]:
    """Count the bytes that reach the browser, over websockets and HTTP."""
    sizes: list[int] = []
    session: CDPSession = page.context.new_cdp_session(page)
    session.send("Network.enable")

    def frame(event: dict) -> None:
        payload, is_binary = event["response"]["payloadData"], event["response"]["opcode"] == 2
        sizes.append(len(payload) * 3 // 4 if is_binary else len(payload.encode()))

    session.on("Network.webSocketFrameReceived", frame)
    session.on("Network.loadingFinished", lambda event: sizes.append(int(event["encodedDataLength"])))
    yield sizes
    session.detach()


def still(page: Page, deadline: float) -> float:
    """Take photographs until two are the same; returns when the first of them was there (seconds, the clock's)."""
    before, when = b"", 0.0
    while (now := page.screenshot(timeout=1000 * max(0.1, deadline - time.time()))) != before:
        before, when = now, time.time()
    return when


def enter(page: Page, words: Sequence[str]) -> tuple[float, int]:
    """Give the model a text; returns seconds until all heads are painted, and bytes until the page is still."""
    box = page.get_by_label("Text", exact=True)
    box.fill(" ".join(words))
    with received(page) as sizes:
        clocked(page, lambda: box.press("Control+Enter"), SIGN)
        ended = still(page, time.time() + 60)
        settle(page)
        return ended - page.evaluate("window.clock.began") / 1000, sum(sizes)


def ours(page: Page, url: str, rounds: int) -> tuple[dict, dict]:
    """Return seconds and bytes per length: of the floor, with the run of the model, and with the run kept."""
    seconds: dict[str, list[float]] = {}
    sizes: dict[str, list[int]] = {}

    def add(name: str, found: tuple[float, int]) -> None:
        seconds.setdefault(name, []).append(found[0])
        sizes.setdefault(name, []).append(found[1])

    page.goto(f"{url}/model?model={NAME}")
    page.wait_for_function(SIGN)
    settle(page, 2)
    for turn in range(rounds + 1):
        for n in LENGTHS:
            small = enter(page, tokens_of(8, 10 * turn + n))
            first = enter(page, tokens_of(n - 2, turn))
            enter(page, tokens_of(8, 10 * turn + n))
            again = enter(page, tokens_of(n - 2, turn))
            if turn:  # the first is nobody's
                add("floor, 10 tokens", small)
                add(f"{n}, with the run", first)
                add(f"{n}, run kept", again)
    return seconds, sizes


def fetch_scripts(folder: Path) -> int:
    """Put what BertViz asks a network for into a folder, from npm; returns its bytes, 0 where that cannot be had."""
    n_bytes = 0
    for name, (package, inside) in SCRIPTS.items():
        try:
            command = ["npm", "pack", "--silent", package]
            packed = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"BertViz is not measured: npm pack {package} failed ({error}).")
            return 0
        with tarfile.open(folder / packed.stdout.strip().splitlines()[-1]) as archive:
            file = archive.extractfile(f"package/{inside}")
            assert file is not None
            n_bytes += (folder / name).write_bytes(file.read())
    return n_bytes


def rival(folder: Path, rounds: int, lengths: Sequence[int]) -> dict[str, dict]:
    """Return what BertViz needs per length: bytes, seconds to write its page, seconds to painted."""
    try:
        import bertviz  # noqa: F401
    except ImportError:
        print("BertViz is not measured: pip install bertviz (see the head of this file).")
        return {}
    if not (n_bytes := fetch_scripts(folder)):
        return {}
    model, found = bert(12, 768, 3, d_ff=3072), {}
    for n in lengths:
        html, written = run_rival("bertviz", OTHERS["bertviz"], inputs_of(model, n))
        times: list[float] = []
        for _ in range(min(rounds, MAX_RIVAL_ROUNDS)):
            size, seconds = painted(html, folder, THUMBNAILS, MAX_RIVAL_SECONDS, CDN)
            if seconds is None:
                break
            times.append(round(seconds, 2))
        found[str(n)] = {"bytes": size + n_bytes, "written": round(written, 2), "seconds": times}
    return found


def main(rounds: int = 3, *rival_lengths: int) -> None:
    with tempfile.TemporaryDirectory() as below:
        folder = Path(below)
        write_model(folder / NAME)
        os.environ[FOLDERS_BELOW] = below
        with visitor() as page, running("app.py") as url:
            page.set_viewport_size(VIEW)
            seconds, sizes = ours(page, url, rounds)
        rivals = rival(folder, rounds, rival_lengths or RIVAL_LENGTHS)
    rows = [["12 x 12 heads, n", "MB to the browser", "s to painted"]]
    for name, some in seconds.items():
        painting = f"{statistics.median(some):.2f} ({min(some):.2f} to {max(some):.2f})"
        rows.append([f"ours, {name}", f"{statistics.median(sizes[name]) / 1e6:.2f}", painting])
    for name, own in rivals.items():
        taken = f"{statistics.median(own['seconds']):.1f}" if own["seconds"] else f"not in {MAX_RIVAL_SECONDS}"
        rows.append([f"BertViz, {name}", f"{own['bytes'] / 1e6:.1f}", f"{taken} (written in {own['written']})"])
    rows.append(["goal, 512", "at most 3", "at most 3"])
    rounded = {name: [round(taken, 3) for taken in some] for name, some in seconds.items()}
    publish("glance", rows, {"seconds": rounded, "bytes": sizes, "bertviz": rivals})


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

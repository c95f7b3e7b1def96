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

from __future__ import annotations

import contextlib
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

import torch
from playwright.sync_api import CDPSession, Page

from attention_core.hub.catalogue import FOLDERS_BELOW
from benchmarks.browser import settle, visitor
from benchmarks.report import publish
from benchmarks.server import running

NAME = "bert-base-random"
LENGTHS, RIVAL_LENGTHS = (64, 128, 256, 512), (64, 128, 256)
MOST_RIVAL_SECONDS, MOST_RIVAL_ROUNDS = 300, 2
OPEN = "open"
VIEW = {"width": 1440, "height": 1200}
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
SCRIPTS = {
    "https://cdnjs.cloudflare.com/ajax/libs/require.js/2.3.6/require.min.js": ("requirejs@2.3.6", "require.js"),
    "https://cdnjs.cloudflare.com/ajax/libs/d3/5.7.0/d3.min.js": ("d3@5.7.0", "dist/d3.min.js"),
    # BertViz asks for 2.0.0, which is not on npm
    "https://cdnjs.cloudflare.com/ajax/libs/jquery/2.0.0/jquery.min.js": ("jquery@2.1.1", "dist/jquery.min.js"),
}
PICTURE = "document.querySelector('.st-key-model_glance svg.marks image')"
SIGN = f"(image => image ? image.getAttribute('href') ?? image.getAttribute('xlink:href') : '')({PICTURE})"
WATCH = f"""() => {{
    const before = {SIGN};
    window.began = window.ended = null;
    window.addEventListener('keydown', event => {{
        if (event.key === 'Enter') window.began ??= performance.timeOrigin + performance.now();
    }}, {{ capture: true }});
    const look = () => {{
        if (window.began !== null && {SIGN} && {SIGN} !== before) {{ window.ended = true; return; }}
        requestAnimationFrame(look);
    }};
    requestAnimationFrame(look);
}}"""
THUMBNAILS = "document.querySelectorAll('#vis rect.attn_background').length"


def write_model(folder: Path) -> None:
    """Save a BERT of base widths with random weights, and a tokenizer of one token for a word."""
    import transformers as hf
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    words = [*SPECIAL, *(f"w{number}" for number in range(995))]
    built = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))
    built.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    built.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    named = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL, strict=True))
    hf.PreTrainedTokenizerFast(
        tokenizer_object=built,
        model_max_length=512,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        **named,
    ).save_pretrained(folder)
    torch.manual_seed(0)
    model = hf.BertForMaskedLM(hf.BertConfig(vocab_size=len(words)))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if ".query.weight" in name or ".key.weight" in name:
                parameter.mul_(3)
    model.save_pretrained(folder)


def text(n: int, turn: int) -> str:
    """Return a text of n tokens, the two that mark its ends among them."""
    draw = torch.Generator().manual_seed(1000 * turn + n)
    return " ".join(f"w{number}" for number in torch.randint(0, 995, (n - 2,), generator=draw).tolist())


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


def enter(page: Page, words: str) -> tuple[float, int]:
    """Give the model a text; returns seconds until all heads are painted, and bytes until the page is still."""
    box = page.get_by_label("Text", exact=True)
    box.fill(words)
    page.evaluate(WATCH)
    with received(page) as sizes:
        box.press("Control+Enter")
        page.wait_for_function("window.ended", polling="raf")
        ended = still(page, time.time() + 60)
        settle(page)
        began = page.evaluate("window.began") / 1000
        return ended - began, sum(sizes)


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
            small = enter(page, text(10, 10 * turn + n))
            first = enter(page, text(n, turn))
            enter(page, text(10, 10 * turn + n))
            again = enter(page, text(n, turn))
            if turn:  # the first is nobody's
                add("floor, 10 tokens", small)
                add(f"{n}, with the run", first)
                add(f"{n}, run kept", again)
    return seconds, sizes


def scripts(folder: Path) -> dict[str, bytes] | None:
    """Return what BertViz asks a network for, from npm; None where that cannot be had."""
    found = {}
    for address, (package, inside) in SCRIPTS.items():
        try:
            command = ["npm", "pack", "--silent", package]
            packed = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"BertViz is not measured: npm pack {package} failed ({error}).")
            return None
        with tarfile.open(folder / packed.stdout.strip().splitlines()[-1]) as archive:
            file = archive.extractfile(f"package/{inside}")
            assert file is not None
            found[address] = file.read()
            (folder / address.rpartition("/")[2]).write_bytes(found[address])
    return found


def rival_page(model: object, tokenizer: object, n: int, path: Path) -> float:
    """Write BertViz's page of all heads; returns the seconds that took, the model's run apart."""
    from bertviz import model_view

    inputs = tokenizer(text(n, 1), return_tensors="pt")  # type: ignore[operator]
    with torch.inference_mode():
        weights = model(**inputs, output_attentions=True).attentions  # type: ignore[operator]
    tokens = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])  # type: ignore[attr-defined]
    began = time.perf_counter()
    path.write_text(f"<!doctype html><body>{model_view(weights, tokens, html_action='return').data}</body>")
    return time.perf_counter() - began


def open_rival(path: Path) -> None:
    """Open BertViz's page, its scripts beside it; writes the seconds until all heads are painted to PATH.seconds."""
    with visitor() as page:
        page.set_viewport_size(VIEW)
        page.route(
            "https://cdnjs.cloudflare.com/**",
            lambda route: route.fulfill(path=path.with_name(route.request.url.rpartition("/")[2])),
        )
        began = time.time()
        page.goto(path.as_uri(), wait_until="commit", timeout=0)
        page.wait_for_function(f"{THUMBNAILS} >= 144", polling="raf", timeout=0)
        seconds = still(page, began + MOST_RIVAL_SECONDS) - began
        path.with_suffix(".seconds").write_text(f"{seconds:.2f}")


def opened(path: Path) -> float | None:
    """Open BertViz's page in a process of its own, which ends with the time; returns its seconds, None if too many."""
    result = path.with_suffix(".seconds")
    result.unlink(missing_ok=True)
    command = [sys.executable, "-m", "benchmarks.glance", OPEN, str(path)]
    with contextlib.suppress(subprocess.TimeoutExpired):  # a page that is busy for minutes answers nobody
        subprocess.run(command, timeout=MOST_RIVAL_SECONDS, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return float(result.read_text()) if result.exists() else None


def rival(folder: Path, rounds: int, lengths: Sequence[int]) -> dict[int, dict]:
    """Return what BertViz needs per length: bytes, seconds to write its page, seconds to painted."""
    try:
        import bertviz  # noqa: F401
    except ImportError:
        print("BertViz is not measured: pip install bertviz (see the head of this file).")
        return {}
    served = scripts(folder)
    if served is None:
        return {}
    import transformers as hf

    hf.logging.set_verbosity_error()
    hf.logging.disable_progress_bar()
    model = hf.BertModel.from_pretrained(folder / NAME, attn_implementation="eager", add_pooling_layer=False).eval()
    tokenizer = hf.AutoTokenizer.from_pretrained(folder / NAME)
    found: dict[int, dict] = {}
    for n in lengths:
        path = folder / f"bertviz-{n}.html"
        written = rival_page(model, tokenizer, n, path)
        n_bytes = path.stat().st_size + sum(map(len, served.values()))
        times = [opened(path)]
        if times[0] is not None:
            times += [opened(path) for _ in range(min(rounds, MOST_RIVAL_ROUNDS) - 1)]
        seconds = [taken for taken in times if taken is not None]
        found[n] = {"bytes": n_bytes, "written": round(written, 2), "seconds": seconds}
        path.unlink()
    return found


def estimate(found: dict[int, dict], n: int) -> tuple[float, float]:
    """Return bytes and seconds of BertViz at a length that was not measured; both grow with the square of n."""
    largest, painted = max(found), max((length for length in found if found[length]["seconds"]), default=None)
    seconds = statistics.median(found[painted]["seconds"]) * (n / painted) ** 2 if painted else float("nan")
    return found[largest]["bytes"] * (n / largest) ** 2, seconds


def table(seconds: dict, sizes: dict, found: dict[int, dict]) -> list[list[str]]:
    """Return the rows to print."""
    rows = [["12 x 12 heads", "n", "MB to the browser", "s to painted"]]
    for name, some in seconds.items():
        n, _, how = name.partition(", ")
        what = [f"ours, {how}", n] if n.isdigit() else ["ours, floor", "10"]
        painted = f"{statistics.median(some):.2f} ({min(some):.2f} to {max(some):.2f})"
        rows.append([*what, f"{statistics.median(sizes[name]) / 1e6:.2f}", painted])
    for n, rival_figures in found.items():
        times = rival_figures["seconds"]
        painted = f"{statistics.median(times):.1f}" if times else f"not in {MOST_RIVAL_SECONDS}"
        megabytes, written = f"{rival_figures['bytes'] / 1e6:.1f}", rival_figures["written"]
        rows.append(["BertViz model_view", str(n), megabytes, f"{painted} (written in {written})"])
    if found:
        n_bytes, spent = estimate(found, 512)
        rows.append(["BertViz, estimated by its growth", "512", f"{n_bytes / 1e6:,.0f}", f"{spent:,.0f}"])
    rows.append(["goal", "512", "at most 3", "at most 3"])
    return rows


def main(rounds: int = 3, *rival_lengths: int) -> None:
    """Measure, print, write results/glance.json."""
    with tempfile.TemporaryDirectory() as below:
        folder = Path(below)
        write_model(folder / NAME)
        os.environ[FOLDERS_BELOW] = below
        with visitor() as page, running("app.py") as url:
            page.set_viewport_size(VIEW)
            seconds, sizes = ours(page, url, rounds)
        found = rival(folder, rounds, rival_lengths or RIVAL_LENGTHS)
    figures = {
        "seconds": {name: [round(taken, 3) for taken in some] for name, some in seconds.items()},
        "bytes": sizes,
        "bertviz": {str(n): rival_figures for n, rival_figures in found.items()},
    }
    publish("glance", table(seconds, sizes, found), figures)


if __name__ == "__main__":
    if sys.argv[1:2] == [OPEN]:
        open_rival(Path(sys.argv[2]))
    else:
        main(*map(int, sys.argv[1:]))

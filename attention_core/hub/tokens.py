"""Tokens as people read them: without the marks by which a tokenizer writes spaces and single bytes."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from attention_core.bounds import visible

SPACE = "\u2581"
"""How SentencePiece writes a space."""
BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
ONLY_SPACES = "\u2423"


def readable(tokenizer: Any, ids: Sequence[int]) -> tuple[str, ...]:
    """Return one text per token: what a word begins with keeps its space, as in " car"; "##" goes on with a word.

    A character that takes several tokens, such as an emoji, stands at the first of them; the others say which part
    of it they are.
    """
    found = zip(ids, tokenizer.convert_ids_to_tokens(list(ids)), strict=True)
    raw = [f"[{number}]" if token is None else str(token) for number, token in found]  # models know more than some
    special = set(tokenizer.all_special_tokens)
    byte_level = _is_byte_level(tokenizer)
    texts: list[str] = []
    pending = b""  # bytes of a character that is not complete yet
    start = 0
    for token in raw:
        if token in special:
            texts, pending = _close(texts, pending, start), b""
            texts.append(token)
            continue
        piece = _as_bytes(token, byte_level)
        if not pending:
            start = len(texts)
        pending += piece
        texts.append("")
        try:
            whole = pending.decode("utf-8")
        except UnicodeDecodeError as error:
            if error.reason == "unexpected end of data":
                continue  # the next token may complete it
            texts, pending = _close(texts, pending, start), b""
            continue
        texts[start:] = _parts(whole, len(texts) - start)
        pending = b""
    texts = _close(texts, pending, start)
    first = next((place for place, token in enumerate(raw) if token not in special), None)
    if first is not None and raw[first].startswith(SPACE):
        texts[first] = texts[first].removeprefix(" ") or texts[first]
    return tuple(_visible(text) for text in texts)


def _close(texts: list[str], pending: bytes, start: int) -> list[str]:
    """Write bytes that never became a character as such."""
    if pending:
        texts[start:] = _parts(pending.decode("utf-8", errors="replace"), len(texts) - start)
    return texts


def _parts(whole: str, n_tokens: int) -> list[str]:
    if n_tokens == 1:
        return [whole]
    return [whole, *(f"{whole.strip()}\u00b7{number}" for number in range(2, n_tokens + 1))]


def _as_bytes(token: str, byte_level: bool) -> bytes:
    byte = BYTE.fullmatch(token)
    if byte:
        return bytes([int(byte[1], 16)])
    if byte_level:
        table = _bytes_of_signs()
        if all(sign in table for sign in token):
            return bytes(table[sign] for sign in token)
    return token.replace(SPACE, " ").encode("utf-8", errors="replace")


def _visible(text: str) -> str:
    if text and not text.strip(" "):
        return ONLY_SPACES * len(text)
    return visible(text)


@lru_cache(maxsize=1)
def _bytes_of_signs() -> dict[str, int]:
    """Return GPT-2's table backwards: every byte has a printable sign, 0x20 for example is U+0120.

    Source: Radford et al., Language Models are Unsupervised Multitask Learners, 2019, and its file encoder.py.
    """
    printable = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + n): byte for n, byte in enumerate(others)}


def _is_byte_level(tokenizer: Any) -> bool:
    """Return whether the tokens are written with GPT-2's signs for bytes."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return hasattr(tokenizer, "byte_encoder")
    return "ByteLevel" in str(backend.decoder) or "ByteLevel" in str(backend.pre_tokenizer)

import pytest

from attention_core.atlas import search

WORDPIECES = ["[CLS]", "the", "play", "##ing", "field", "Play", "s", "[SEP]"]
BYTE_PIECES = ["The", "Ġplay", "ing", "Ġfield", "Ċ", "▁play"]


@pytest.mark.parametrize(
    ("labels", "text", "positions"),
    [
        (WORDPIECES, "play", [2, 5]),
        (WORDPIECES, "PLAYING", [2]),
        (WORDPIECES, "playing field", [2]),
        (WORDPIECES, "field plays", [4]),
        (WORDPIECES, "ing", [3]),
        (WORDPIECES, "[sep]", [7]),
        (WORDPIECES, "pitch", []),
        (WORDPIECES, "", []),
        (WORDPIECES, "  ", []),
        (BYTE_PIECES, "the playing", [0]),
        (BYTE_PIECES, "field\nplay", [3]),
        (BYTE_PIECES, "Ġplay", [1, 5]),
        (["aa", "a"], "a", [0, 1]),
        (["straße"], "STRASSE", [0]),
        ([], "a", []),
    ],
)
def test_a_text_is_found_across_pieces_and_whatever_its_case(labels, text, positions):
    assert search(labels, text) == positions


def test_numbered_positions_are_found_by_their_number():
    labels = [str(position) for position in range(1000)]
    assert search(labels, "12") == [12]
    assert search(labels, "1000") == []


def test_a_long_text_is_searched_from_end_to_end():
    labels = [f"Ġword{position % 1000}" for position in range(131_072)]
    assert search(labels, "word999 word0")[:2] == [999, 1999]

"""What counts as a word that the app writes (benchmarks.words)."""

import pytest

from benchmarks.words import count_words, plain


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("**Softmax**: turns any scores into shares.", 6),
        ("Its sum is $\\sum_j A_{ij} = 1$, or 100 %.", 4),
        (":material/translate: In [other](https://example.org/a) notations :small[A]", 4),
        ("<style>.a { color: red }</style><p class='a'>One <b>look</b> at&nbsp;it</p>", 4),
        ('the <abbr title="how alike two directions are">cosine</abbr>', 7),
        ('<span aria-hidden="true">package_2</span>A value <div class="fr">La voiture est rouge.</div>', 2),
    ],
)
def test_words_are_those_that_are_read(text: str, n: int) -> None:
    assert count_words({text}, set()) == n, plain(text)


def test_what_a_person_typed_does_not_count() -> None:
    typed = {"The red car stops.", ""}
    assert count_words({"car", "red car", "Remove a word"}, typed) == 3
    assert count_words({"Without positions *The red car stops.* looks the same."}, typed) == 5


def test_each_text_counts_once_and_numbers_never() -> None:
    assert count_words({"17 of 256", "3 × 4", "Play"}, set()) == 2

"""Sentences to words to pieces and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_core.data.pieces import (
    UNKNOWN,
    Pieces,
    bare,
    english_words,
    french_spans,
    french_words,
    join_words,
    normalise,
    pieces,
)
from attention_core.topics.translate.translation import french_prefix, read_source, translation_of
from attention_core.weights import WeightsError


@pytest.mark.parametrize(
    ("cut", "sentence", "words"),
    [
        (english_words, "Don't go!", ["▁Do", "n't", "▁go", "!"]),
        (english_words, "I'm Tom's friend.", ["▁I", "'m", "▁Tom", "'s", "▁friend", "."]),
        (english_words, "  Two   spaces ", ["▁Two", "▁spaces"]),
        (english_words, "He said: “Hi”", ["▁He", "▁said", ":", '▁"', "Hi", '"']),
        (english_words, "a well-known man", ["▁a", "▁well", "-known", "▁man"]),
        (french_words, "Je l'aime !", ["▁Je", "▁l'", "aime", "▁!"]),
        (french_words, "Où est-il?", ["▁Où", "▁est", "-il", "▁?"]),
        (french_words, "Aujourd’hui, c’est bien.", ["▁Aujourd'hui", ",", "▁c'", "est", "▁bien", "."]),
    ],
)
def test_contractions_and_elided_words_are_kept_apart(cut, sentence, words):
    assert cut(sentence) == words


@given(st.text(max_size=60))
def test_joining_english_words_loses_nothing_but_the_first_letter_s_case(text):
    joined = join_words(english_words(text))
    plain = "".join(one for one in normalise(text))
    assert joined[:1].casefold() == plain[:1].casefold() or joined[:1] == plain[:1].upper()
    assert joined.replace(" ", "")[2:] in plain.replace(" ", "") or len(joined) < 3


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_kindly(text):
    if not english_words(text):
        with pytest.raises(ValueError, match="type an English sentence"):
            read_source(text)
        return
    source = read_source(text)
    assert len(source.ids) == len(source.labels) == len(source.word_of)
    assert source.word_of == sorted(source.word_of)
    assert source.word_of[-1] == len(source.words)
    assert set(source.word_of) == set(range(len(source.words) + 1))


def test_long_input_is_bounded_and_what_was_left_out_is_counted():
    source = read_source("word " * 200)
    assert len(source.words) == 40
    assert source.n_dropped == 160
    endless = read_source("x" * 100_000)
    assert len(endless.ids) == 100
    assert len(endless.words) == 1


def test_upper_case_reads_like_lower_case_and_shows_as_typed():
    loud, quiet = read_source("THE RED CAR"), read_source("the red car")
    assert loud.ids.tolist() == quiet.ids.tolist()
    assert loud.words == ["THE", "RED", "CAR"]


def test_signs_that_the_vocabulary_lacks_are_named_as_typed():
    source = read_source("I like 😀 and Привет")
    assert source.unknown == ["😀", "Привет"]
    assert "😀" in source.labels
    assert UNKNOWN in source.ids.tolist()


def test_a_rare_word_is_cut_into_pieces_that_join_to_it():
    source = read_source("an antidisestablishmentarian")
    own = [label for label, word in zip(source.labels, source.word_of, strict=True) if word == 1]
    assert len(own) > 1
    assert "".join(own) == "antidisestablishmentarian"


@pytest.mark.parametrize("sentence", ["La voiture rouge est devant la maison.", "Je n'aime pas l'école, et toi ?"])
def test_pieces_of_a_sentence_become_that_sentence_again(sentence):
    made = translation_of(french_prefix(sentence))
    assert made.text == sentence
    assert made.words == [bare(word) for word in french_words(sentence)]
    assert [sum(word == n for word in made.word_of) > 0 for n in range(len(made.words))] == [True] * len(made.words)


def test_a_forced_beginning_keeps_the_capital_of_names_only():
    assert french_prefix("La voiture") == french_prefix("la voiture")
    assert translation_of(french_prefix("Tom est là")).labels[0] == "Tom"


def test_french_spans_are_where_the_words_stand():
    text = "Je l'aime !"
    assert [text[start:end] for start, end in french_spans(text)] == ["Je", "l'", "aime", "!"]


def test_vocabulary_has_eight_thousand_pieces_and_says_when_it_is_missing_or_damaged(tmp_path):
    assert len(pieces()) == 8000
    with pytest.raises(WeightsError, match=r"attention_core\.data\.pieces"):
        Pieces.load(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(WeightsError, match="damaged"):
        Pieces.load(tmp_path / "bad.json")


def test_a_learned_vocabulary_cuts_frequent_words_whole_and_survives_saving(tmp_path):
    learned = Pieces.learn([["▁the", "▁cat"], ["▁the", "▁hat"]] * 50, size=40)
    assert learned.cut(["▁the"]).texts == ["▁the"]
    learned.save(tmp_path / "v.json")
    assert Pieces.load(tmp_path / "v.json").cut(["▁the", "▁cat"]) == learned.cut(["▁the", "▁cat"])

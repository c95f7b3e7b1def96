"""French words in English: the table learns what stands for what, glosses follow it and the source sentence."""

import hashlib
import re

import pytest

from attention_core.data.pieces import read_pairs, split_pairs
from attention_core.data.sentence_presets import LEARNED, LOST, READ_BACK
from attention_core.data.word_translations import (
    CONTRACTIONS,
    NAME,
    SHORT,
    expanded_english_words,
    gloss,
    gloss_figures,
    load_table,
    lost_words,
    lower_french_words,
    main,
    make_table,
    translation_probabilities,
)
from attention_core.evaluate.translation import read_alignments
from attention_core.weights import FOLDER, WeightsError, read_card
from tests.support import tiny_data

TABLE = {"chien": {"dog": 89, "hound": 11}, "le": {"the": 80, "it": 3}, "jean": {"John": 100}}


def test_one_iteration_agrees_with_counts_made_by_hand():
    probabilities = translation_probabilities([(["dog"], ["chien"]), (["black", "dog"], ["chien", "noir"])], 1)
    # of "chien": a half of the first dog, a third of the second and of black; "" is one of the candidates
    assert probabilities["chien"] == pytest.approx({"dog": (1 / 2 + 1 / 3) / (7 / 6), "black": (1 / 3) / (7 / 6)})
    assert probabilities["noir"] == pytest.approx({"black": 0.5, "dog": 0.5})


def test_pairs_teach_which_word_stands_for_which():
    pairs = [tuple(line.split("\t")) for line in tiny_data.pairs().splitlines()]
    table = make_table(pairs)
    for colour, french in tiny_data.COLOURS.items():
        assert next(iter(table[french])) == colour
    for probabilities in table.values():
        assert list(probabilities.values()) == sorted(probabilities.values(), reverse=True)
        assert sum(probabilities.values()) <= 101


def test_contractions_are_read_in_full():
    words = expanded_english_words("I can't say they're Tom's.")
    assert " ".join(words) == "I can not say they are Tom 's ."


def test_source_words_are_preferred_where_likely_and_unknown_words_stay():
    french = ["▁Le", "▁chien", "Zorglub", "."]
    assert gloss(french, table=TABLE) == ["the", "dog", "Zorglub", "."]
    assert gloss(french, "It is a hound.", TABLE) == ["the", "hound", "Zorglub", "."]
    assert gloss(["jean"], "", TABLE) == ["John"]
    assert gloss([], "dog", TABLE) == []


def test_presets_come_back_with_most_of_the_words_that_people_gave_them():
    n = n_right = 0
    for french, english in READ_BACK.items():
        expected = {word.strip(".,").lower() for word in english.split()}
        glosses = [word.lower() for word in gloss(lower_french_words(french)) if len(word) > 3]
        n, n_right = n + len(glosses), n_right + sum(word in expected for word in glosses)
    assert n_right > 0.7 * n


def test_sentences_with_a_translation_come_back_word_by_word():
    for english, french in LEARNED:
        meant = {word.lower() for word in expanded_english_words(english)}
        glosses = gloss(lower_french_words(french), english)
        assert sum(word.lower() in meant for word in glosses) >= 0.8 * len(glosses), glosses


def test_names_keep_their_capitals():
    assert gloss(["tom", "parle", "français", "et", "je", "parle", "anglais"])[::2] == ["Tom", "French", "I", "English"]


@pytest.mark.parametrize(("english", "french"), LOST)
def test_what_presets_lose_is_found(english, french):
    words = expanded_english_words(english)
    lost = {words[position].lower() for position in lost_words(lower_french_words(french), english)}
    named = {word for word in re.findall(r"\w+", LOST[english, french]) if len(word) > SHORT}
    assert named - {"the"} <= lost
    assert not lost & {"the", "car", "dog", "table", "uncle", "bought", "house"}


def test_most_french_words_get_an_english_word_that_people_aligned_with_them(root):
    n = n_right = 0
    for pair in read_alignments(root / "tests" / "data" / "alignments.txt"):
        english = [CONTRACTIONS.get(word, word) for word in pair.source]
        for position, word in enumerate(gloss(pair.target, " ".join(pair.source))):
            aligned = {english[source] for source, target in pair.possible if target == position}
            n += bool(aligned)
            n_right += word.lower() in aligned
    assert n_right / n > 0.8


def test_no_word_that_people_aligned_with_a_french_one_is_called_lost(root):
    for pair in read_alignments(root / "tests" / "data" / "alignments.txt"):
        english = [CONTRACTIONS.get(word, word) for word in pair.source]
        words, lost = expanded_english_words(" ".join(english)), lost_words(pair.target, " ".join(english))
        assert not {english[source] for source, _ in pair.possible} & {words[position].lower() for position in lost}


def test_nothing_is_called_lost_beside_an_unknown_french_word():
    french = lower_french_words("Le chien est sous la table.")
    assert lost_words(french, "The cat is under the table.")
    assert not lost_words([*french, "xyzzy"], "The cat is under the table.")
    assert lost_words([*french, "tatoeba"], "The cat of Tatoeba is under the table."), "a name stands for itself"


def test_the_table_is_small_and_its_card_has_its_checksum():
    content, card = (FOLDER / f"{NAME}.tsv.gz").read_bytes(), read_card(NAME)
    assert hashlib.sha256(content).hexdigest() == card["sha256"]
    assert len(content) <= 300_000
    assert len(load_table()) == card["french_words"]


@pytest.mark.data
def test_held_out_pairs_give_the_figures_of_the_card(data_folder):
    held_out = split_pairs(read_pairs(data_folder)).test
    assert gloss_figures(load_table(), held_out) == pytest.approx(read_card(NAME)["test"])


def test_the_command_writes_table_and_card_and_a_damaged_line_is_named(tmp_path, monkeypatch, capsys):
    (tmp_path / "pairs.tsv").write_text(tiny_data.pairs())
    assert main(["--data", str(tmp_path / "pairs.tsv"), "--weights", str(tmp_path)]) == 0
    assert read_card(NAME, tmp_path)["french_words"] > 5
    monkeypatch.setenv("ATTENTION_WEIGHTS", str(tmp_path))
    load_table.cache_clear()
    assert "voiture" in load_table()
    (tmp_path / f"{NAME}.tsv.gz").write_text("chien\tdog x\n")
    load_table.cache_clear()
    with pytest.raises(WeightsError, match="line 1"):
        load_table()
    load_table.cache_clear()

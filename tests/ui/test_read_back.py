"""What a translation says, put back into English: whole sentences that are known, and any other word by word."""

from attention_core.data.sentence_presets import READ_BACK, TRANSLATE
from attention_core.inference import glosses as core
from attention_core.weights import WeightsError
from ui.read_back import read_back

LOVE = "Je t'aime.", "I love you.", ["Je", "t'", "aime", "."]


def test_known_french_is_told_in_english_as_it_says_it():
    sentence = TRANSLATE["Adjective after noun"]
    told = read_back(next(iter(READ_BACK)), sentence)
    assert "The car is <mark>on the way</mark> of the house." in told, "what is lost is no word of it"


def test_other_french_has_its_english_below_every_word():
    told = read_back(*LOVE)
    for french, english in (("Je", "I"), ("t&#x27;", "you"), ("aime", "love")):
        assert f'<ruby>{french}<rt lang="en">{english}</rt></ruby>' in told
    assert "<s" not in told


def test_words_that_no_french_word_stands_for_are_struck_behind_it():
    assert read_back("Le chien dort.", "The black dog sleeps.", ["Le", "chien", "dort", "."]).endswith(
        '. <s lang="en">black</s></p>'
    )


def test_words_that_a_text_does_not_have_lose_nothing_of_it():
    marked = read_back("Il dort bien.", "He sleeps.", ["Il", "", "mange", "bien"], {2, 3})
    assert "</ruby> dort <mark><ruby>bien<" in marked
    assert marked.startswith('<p class="read-back" lang="fr"><ruby>Il<rt lang="en">He</rt>')


def test_without_the_table_of_words_the_french_stays(monkeypatch):
    def fail(*_):
        raise WeightsError("the table is not there")

    monkeypatch.setattr(core, "load_table", fail)
    assert read_back(*LOVE) == '<p class="read-back" lang="fr">Je t&#x27;aime.</p>'

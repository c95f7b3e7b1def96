"""Training and evaluating translators on a few made-up pairs."""

import itertools
import json
from functools import partial

import pytest
import torch
from torch.nn import functional as F

from attention_core.data.mnist import DataError
from attention_core.data.pieces import END, PAD, START
from attention_core.data.tatoeba import LONGEST, SHORTEST, read_pairs, split_pairs, words_of
from attention_core.evaluate.__main__ import main as evaluate
from attention_core.evaluate.translation import bleu, group_references
from attention_core.models import MODELS, Transformer, TransformerConfig, Translator, TranslatorConfig
from attention_core.train import translation
from attention_core.train.translation import Batch, epoch_of_batches, smoothed_cross_entropy, training_pairs
from attention_core.weights import read_card, read_weights
from tests import tiny_data
from tests.own_models import run_training, same, stop_and_resume

NAME = "translator-additive"


@pytest.fixture(scope="module")
def pairs_file(tmp_path_factory):
    """Sixty pairs of three to eight words."""
    file = tmp_path_factory.mktemp("data") / "pairs.tsv"
    file.write_text(tiny_data.pairs(), encoding="utf-8")
    return file


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Narrow models, small batches."""
    config = TranslatorConfig("additive", d_embedding=12, d_state=16, d_additive=8)
    monkeypatch.setitem(MODELS, NAME, lambda: Translator(config))
    tiny = TransformerConfig(n_layers=1, n_heads=2, d_model=16, d_ff=16)
    monkeypatch.setitem(MODELS, "translator-transformer", lambda: Transformer(tiny))
    monkeypatch.setattr(translation, "BATCH_SIZE", 8)
    monkeypatch.setattr(translation, "N_JOINED", 6)


@pytest.fixture
def run(pairs_file, tmp_path, capsys):
    """Train a few batches (1285 make an epoch); returns the exit code, standard error, the folder of the weights."""

    def train(*more, name=NAME, to="weights", batches=6):
        return run_training(tmp_path, capsys, name, pairs_file, batches / 1285, *more, to=to)

    return train


@pytest.mark.parametrize("name", [NAME, "translator-transformer"])
def test_a_stopped_and_resumed_training_equals_one_that_never_stopped(run, monkeypatch, name):
    _, _, whole = run(name=name, to="whole")
    loss = read_card(name, whole)["final_training_loss"]
    run = partial(run, name=name)
    met, (code, _, resumed) = stop_and_resume(run, monkeypatch, translation.TranslationTask, 4)
    assert code == 0
    assert met == [0, 1, 2, 3, 3, 4, 5]
    assert same(name, whole, resumed)
    assert read_card(name, resumed)["final_training_loss"] == loss


def test_weights_are_sixteen_bit_and_the_card_has_bleu_by_length(run):
    code, errors, folder = run()
    assert code == 0, errors
    assert {tensor.dtype for tensor in read_weights(NAME, folder).values()} == {torch.float16}
    card = read_card(NAME, folder)
    assert set(card["test"]) >= {"bleu", "bleu_by_length", "bleu_long", "n", "beam_width"}
    assert card["development"]["n"] > 0


def test_eight_snapshots_of_the_alignments_are_kept(run):
    _, _, folder = run(batches=110)
    snapshots = read_weights(f"{NAME}.snapshots", folder)
    assert [int(snapshots[f"{number}.step"]) for number in range(8)] == sorted(
        {round(share * 110) for share in translation.SNAPSHOTS}
    )
    for number in range(8):
        for sentence in range(3):
            weights = snapshots[f"{number}.weights.{sentence}"].float()
            torch.testing.assert_close(weights.sum(1), torch.ones(len(weights)), rtol=0, atol=2e-3)


def test_smoothed_cross_entropy_equals_torch_s_own():
    torch.manual_seed(0)
    features, vectors, bias = torch.randn(9, 5), torch.randn(11, 5), torch.randn(11)
    wanted = torch.randint(11, (9,))
    for one in (features, vectors, bias):
        one.requires_grad_()
    ours = smoothed_cross_entropy(features, vectors, bias, wanted)
    theirs = F.cross_entropy(features @ vectors.T + bias, wanted, label_smoothing=0.1)
    torch.testing.assert_close(ours, theirs)
    inputs = (features, vectors, bias)
    for own, other in zip(torch.autograd.grad(ours, inputs), torch.autograd.grad(theirs, inputs), strict=True):
        torch.testing.assert_close(own, other)


def test_an_epoch_meets_every_pair_once_in_batches_of_one_source_length(pairs_file):
    pairs = training_pairs(read_pairs(pairs_file), seed=0)
    batches = epoch_of_batches(pairs, torch.Generator().manual_seed(1))
    assert sorted(place for batch in batches for place in batch) == list(range(len(pairs)))
    assert all(len({len(pairs[place][0]) for place in batch}) == 1 for batch in batches)
    assert all(source[-1] == END for source, _ in pairs)


def test_a_batch_feeds_the_target_shifted_by_the_start_and_pads_what_is_short():
    batch = Batch([([9, END], [5, 6]), ([8, END], [7])], "cpu")
    assert batch.fed.tolist() == [[START, 5, 6], [START, 7, PAD]]
    assert batch.wanted.tolist() == [[5, 6, END], [7, END, PAD]]


def test_no_english_sentence_is_in_two_parts(pairs_file):
    split = split_pairs(read_pairs(pairs_file))
    parts = [{english.lower() for english, _ in part} for part in split]
    assert all(parts)
    assert all(not one & other for one, other in itertools.combinations(parts, 2))
    assert sum(map(len, split)) == 60


@pytest.mark.data
def test_held_out_parts_of_tatoeba_have_every_length_from_three_to_twenty():
    split = split_pairs(read_pairs())
    for part in (split.development, split.test):
        lengths = {len(english.split()) for english, _ in part}
        assert lengths == set(range(SHORTEST, LONGEST + 1))
    assert len(split.train) > 130_000


def test_targets_lose_the_capital_of_the_first_word_unless_it_is_a_name():
    pairs = [("Tom sleeps.", "Tom dort."), ("I see Tom.", "Je vois Tom."), ("He and I.", "Lui et je.")]
    assert [target[0] for _, target in words_of(pairs)] == ["▁Tom", "▁je", "▁lui"]


def test_pairs_that_cannot_be_read_are_told(tmp_path):
    with pytest.raises(DataError, match="No sentence pairs"):
        read_pairs(tmp_path / "none.tsv")
    for content, words in ((b"only English\n", "line 1"), (b"\xff\xfe\x00", "damaged")):
        (tmp_path / "bad.tsv").write_bytes(content)
        with pytest.raises(DataError, match=words):
            read_pairs(tmp_path / "bad.tsv")


def test_references_of_one_sentence_count_together():
    grouped = group_references([("Hello.", "Bonjour."), ("Hi.", "Salut."), ("Hello.", "Salut à toi.")])
    assert grouped == {"Hello.": ["Bonjour.", "Salut à toi."], "Hi.": ["Salut."]}
    made = ["salut à toi mon cher ami.", "Salut mon cher ami à toi."]
    references = [["Bonjour.", "Salut à toi mon cher ami."], ["salut mon cher ami à toi."]]
    assert bleu(made, references) == pytest.approx(100)
    assert bleu(["le chien dort là."], [["la voiture rouge."]]) < 20


def test_the_evaluation_command_prints_bleu_as_json(run, pairs_file, monkeypatch, capsys, root):
    _, _, folder = run()
    (folder / "translator-pieces.json").write_bytes((root / "weights" / "translator-pieces.json").read_bytes())
    monkeypatch.setenv("ATTENTION_WEIGHTS", str(folder))
    assert evaluate([NAME, str(pairs_file), "--json", "--device", "cpu"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert set(result) >= {"bleu", "bleu_by_length", "n", "seconds"}
    assert result["n"] == 60
    assert evaluate([NAME, str(root / "tests" / "data" / "alignments.txt"), "--json", "--device", "cpu"]) == 0
    assert 0 <= json.loads(capsys.readouterr().out)["aer"] <= 1
    assert evaluate([NAME, str(pairs_file.parent / "none.tsv"), "--device", "cpu"]) == 1
    assert "No sentence pairs" in capsys.readouterr().err

"""The training command: the seed decides, stopped runs go on exactly, processes share, errors are clear."""

import os
import subprocess
import sys
from contextlib import nullcontext
from functools import partial

import pytest
import torch

from attention_core import load
from attention_core.models import MODELS
from attention_core.models.transformer import Transformer, TransformerConfig
from attention_core.models.translator import Translator, TranslatorConfig
from attention_core.train import RECIPES, loop, next_word, sentiment, translation, vision
from attention_core.train.__main__ import main
from attention_core.train.loop import TrainingProgress
from attention_core.weights import read_card, read_weights, write_weights
from tests.support import tiny_data
from tests.support.own_models import evaluated, refusal, run_training, same, stop_and_resume
from tests.support.server import free_port

FFN, PIXELS, NOTES = "ffn-classifier", "pixel-classifier", "pixel-notes"
ADDITIVE, TRANSFORMER = "translator-additive", "translator-transformer"
SENTENCES = ("sentence-attention", "sentence-mean", "sentence-two-phase")
N_STEPS = {ADDITIVE: 6, TRANSFORMER: 6, **dict.fromkeys((*SENTENCES, "match3-simplicial"), 2)}
"""Batches of a tiny training, where they are not 8."""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """MNIST's four files with 40 + 20 blobs, 30 pen paths, sixty pairs of sentences, 120 reviews."""
    return tiny_data.write_all(tmp_path_factory.mktemp("data"))


@pytest.fixture(autouse=True)
def small(monkeypatch, tmp_path):
    """Tiny batches, few replays, narrow translators, nothing kept in the user's cache."""
    config = TranslatorConfig("additive", d_embedding=12, d_state=16, d_additive=8)
    monkeypatch.setitem(MODELS, ADDITIVE, lambda: Translator(config))
    tiny = TransformerConfig(n_layers=1, n_heads=2, d_model=16, d_ff=16)
    monkeypatch.setitem(MODELS, TRANSFORMER, partial(Transformer, tiny))
    tiny_data.shrink(monkeypatch, tmp_path, {})


@pytest.fixture
def run(data, tmp_path, capsys):
    """Train a few batches; returns exit code, standard error, folder of the weights."""

    def train(*more, name=FFN, to="weights", n_steps=None, seed=0, folder=data):
        epochs = (n_steps or N_STEPS.get(name, 8)) / RECIPES[name].batches_per_epoch
        return run_training(tmp_path, capsys, name, folder, epochs, "--seed", str(seed), *more, to=to)

    return train


def test_the_command_says_how_fast_it_learns(run):
    usual, slow = (
        run(*rate, to=to, n_steps=1)[2] for to, rate in (("usual", ()), ("slow", ("--learning-rate", "1e-9")))
    )
    assert not same(FFN, usual, slow)


@pytest.mark.parametrize("name", [FFN, PIXELS, NOTES])
def test_same_seed_gives_the_same_result_and_another_seed_another(run, name):
    folders = [run(name=name, to=to, n_steps=3, seed=seed)[2] for to, seed in (("a", 7), ("b", 7), ("c", 8))]
    assert same(name, folders[0], folders[1])
    assert not same(name, folders[0], folders[2])


def test_half_of_what_is_learned_may_be_a_teachers_answers(data):
    plain, taught = (vision.DigitTask(0, 1.0, teacher, data, 0, "cpu") for teacher in (None, FFN))
    model, progress = load(FFN, "cpu"), TrainingProgress(0, 1)
    own, both = (task.loss(model, progress, torch.Generator().manual_seed(3)) for task in (plain, taught))
    entropy = 2 * both - own  # of its own answers
    assert 0 < entropy < 2.3, "of ten answers"
    assert not torch.isclose(own, both)


@pytest.mark.parametrize(
    ("name", "task", "stop"),
    [
        *[(name, vision.DigitTask, 6) for name in (FFN, PIXELS, NOTES)],
        *[(name, translation.TranslationTask, 4) for name in (ADDITIVE, TRANSFORMER)],
        ("sentence-mean", sentiment.SentimentTask, 2),
        ("next-word-over-queries", next_word.NextWordTask, 4),
    ],
)
def test_stopped_and_resumed_run_equals_the_uninterrupted_one_exactly(run, monkeypatch, name, task, stop):
    _, _, whole = run(name=name, to="whole")
    met, (code, _, resumed) = stop_and_resume(partial(run, name=name), monkeypatch, task, stop)
    assert code == 0
    assert met == [*range(stop), *range(stop - 1, N_STEPS.get(name, 8))]  # the one that was stopped is done again
    assert same(name, whole, resumed)
    assert len({read_card(name, folder)["final_training_loss"] for folder in (whole, resumed)}) == 1
    if RECIPES[name].snapshot_at:
        assert same(f"{name}.snapshots", whole, resumed)


def test_eight_snapshots_of_the_attention_are_kept_from_untrained_to_trained(run):
    _, _, folder = run(name=PIXELS)
    snapshots, final = read_weights(f"{PIXELS}.snapshots", folder), read_weights(PIXELS, folder)
    steps = [int(snapshots[f"{number}.step"]) for number in range(8)]
    assert steps[0] == 0
    assert steps[-1] == 8
    assert steps == sorted(steps)
    kept = [name.removeprefix("7.") for name in snapshots if name.startswith("7.") and name != "7.step"]
    assert kept
    for name in kept:
        assert torch.equal(snapshots[f"7.{name}"], final[name].half())
    assert any(not torch.equal(snapshots[f"0.{name}"], snapshots[f"7.{name}"]) for name in kept)


def test_snapshots_of_the_plain_layer_hold_all_before_the_feed_forward_network(run):
    _, _, folder = run(name=NOTES)
    snapshots, final = read_weights(f"{NOTES}.snapshots", folder), read_weights(NOTES, folder)
    kept = {name.removeprefix("7.") for name in snapshots if name.startswith("7.") and name != "7.step"}
    assert kept == {name for name in final if not name.startswith("classify.")}
    for name in kept:
        assert torch.equal(snapshots[f"7.{name}"], final[name])
        assert not torch.equal(snapshots[f"0.{name}"], final[name])


def test_card_says_what_was_trained_how_and_how_well(run):
    _, _, folder = run(name=PIXELS, seed=3)
    card = read_card(PIXELS, folder)
    assert (card["seed"], card["batches"], card["name"]) == (3, 8, PIXELS)
    for figure in ("test_accuracy", "held_out_stroke_accuracy", "test_accuracy_with_uniform_attention"):
        assert 0 <= card[figure] <= 1
    for key in ("data", "parameters", "epochs", "wall_seconds", "device", "torch", "python", "sha256"):
        assert card[key] is not None, key
    assert card["command"].startswith(f"python -m attention_core.train {PIXELS} --epochs")


def test_another_form_of_a_model_is_trained_beside_it(run):
    usual, other = (run(*more, name=TRANSFORMER, n_steps=1)[2] for more in ((), ("--config", "n_heads=1", "d_ff=0")))
    names = {path.stem for path in other.glob("*.json")}
    assert names == {TRANSFORMER, name := f"{TRANSFORMER}-n_heads-1-d_ff-0"}
    without = 2 * (16 * 16 + 16 + 16 * 16 + 16 + 2 * 16)  # two layers' feed-forward networks with what normalises them
    assert read_card(TRANSFORMER, usual)["parameters"] - read_card(name, other)["parameters"] == without
    assert not any("feed_forward" in tensor for tensor in read_weights(name, other))


def test_training_lowers_the_loss(run):
    folders = [run(to=f"e{n_batches}", n_steps=n_batches)[2] for n_batches in (1, 150)]
    short, long = (read_card(FFN, folder)["final_training_loss"] for folder in folders)
    assert long < short


@pytest.mark.parametrize("name", SENTENCES)
def test_training_on_sentences_writes_weights_and_an_honest_card(name, run):
    code, _, folder = run(name=name)
    assert code == 0
    card = read_card(name, folder)
    assert card["training_sentences"] + card["development_sentences"] == 120
    assert 0 <= card["development_accuracy"] <= 1
    assert {tensor.dtype for tensor in read_weights(name, folder).values()} == {torch.float16}
    load(name, "cpu", folder)


def test_training_on_numbers_writes_a_head_that_can_be_loaded(run):
    _, _, folder = run(name="match3-simplicial")
    assert load("match3-simplicial", "cpu", folder).trace([1, 2, 28]).n_keys == 16
    assert read_card("match3-simplicial", folder)["batches"] == 2


def test_weights_of_translators_are_sixteen_bit_and_the_card_has_bleu_by_length(run):
    code, errors, folder = run(name=ADDITIVE)
    assert code == 0, errors
    assert {tensor.dtype for tensor in read_weights(ADDITIVE, folder).values()} == {torch.float16}
    card = read_card(ADDITIVE, folder)
    assert set(card["test"]) >= {"bleu", "bleu_by_length", "bleu_long", "n", "beam_width"}
    assert card["development"]["n"] > 0


def test_eight_snapshots_of_the_alignments_are_kept(run):
    _, _, folder = run(name=ADDITIVE, n_steps=80)
    snapshots = read_weights(f"{ADDITIVE}.snapshots", folder)
    steps = [int(snapshots[f"{number}.step"]) for number in range(8)]
    assert steps == sorted({round(share * 80) for share in translation.SNAPSHOTS})
    for number in range(8):
        for sentence in range(3):
            weights = snapshots[f"{number}.weights.{sentence}"].float()
            torch.testing.assert_close(weights.sum(1), torch.ones(len(weights)), rtol=0, atol=2e-3)


def test_the_evaluation_command_prints_bleu_as_json(run, data, monkeypatch, capsys, root):
    _, _, folder = run(name=ADDITIVE)
    (folder / "translator-pieces.json").write_bytes((root / "weights" / "translator-pieces.json").read_bytes())
    monkeypatch.setenv("ATTENTION_WEIGHTS", str(folder))
    result = evaluated(capsys, ADDITIVE, data)
    assert set(result) >= {"bleu", "bleu_by_length", "n", "seconds"}
    assert result["n"] == 60
    assert 0 <= evaluated(capsys, ADDITIVE, root / "tests" / "data" / "alignments.txt")["aer"] <= 1
    assert "No sentence pairs" in refusal(capsys, ADDITIVE, data / "none.tsv")


def test_init_starts_from_committed_weights(run, monkeypatch, tmp_path):
    start = tmp_path / "committed"
    torch.manual_seed(99)
    model = loop.build(FFN)
    write_weights(FFN, model.half().state_dict(), {}, start)
    monkeypatch.setenv("ATTENTION_WEIGHTS", str(start))
    monkeypatch.setattr(loop, "learning_rate", lambda *_: 0.0)
    code, _, folder = run("--init", FFN, to="warm")
    assert code == 0
    assert same(FFN, start, folder)  # at a rate of zero nothing but the start is left


def test_what_is_frozen_stays_as_it_was_and_the_rest_learns():
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 3))
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    loop._freeze(model.train(), ("0.", "1."))
    recipe = loop.Recipe(lambda *_: None, "", 4, 1, 0.1)
    optimiser = loop._optimiser(model, recipe)
    for _ in range(3):
        model(torch.rand(5, 3)).square().sum().backward()
        optimiser.step()
    changed = {name for name, tensor in model.state_dict().items() if not torch.equal(tensor, before[name])}
    assert changed == {"2.weight", "2.bias"}


def test_the_command_freezes_by_the_beginnings_of_names(run, monkeypatch, tmp_path):
    start = tmp_path / "committed"
    write_weights(FFN, loop.build(FFN).half().state_dict(), {}, start)
    monkeypatch.setenv("ATTENTION_WEIGHTS", str(start))
    first, *others = read_weights(FFN)
    _, _, folder = run("--init", FFN, "--freeze", first, n_steps=1)
    before, after = read_weights(FFN), read_weights(FFN, folder)
    assert [name for name in before if torch.equal(before[name], after[name])] == [first]
    assert others


def complaint(told):
    """The user's error, of what a run returns: nothing but progress bars comes before it, and no traceback."""
    code, errors, _ = told
    assert code == 1
    assert "Traceback" not in errors
    return errors.replace("\r", "\n").strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--init", PIXELS], "error: "),
        (["--resume"], "error: Nothing to resume"),
        (["--config", "n_wings=2"], "error: The config of ffn-classifier has not all of these fields: n_wings."),
        (
            ["--device", "cuda"],
            "error: No cuda device on this machine. Use --device cpu, or auto to take the best there is.",
        ),
    ],
)
def test_what_cannot_be_begun_is_refused_in_one_line(run, monkeypatch, tmp_path, options, told):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert complaint(run(*options)).startswith(told)
    assert not (tmp_path / "weights").exists()


def test_damaged_checkpoint_is_refused_in_one_line(run, tmp_path):
    run(to="first")
    path = tmp_path / "first-checkpoints" / f"{FFN}.pt"
    path.write_bytes(path.read_bytes()[:1000])
    assert "is damaged" in complaint(run("--resume", to="first"))


def test_missing_data_is_told_in_one_line(run, tmp_path):
    assert "--data" in complaint(run(folder=tmp_path / "nowhere"))
    assert not (tmp_path / "weights").exists()


@pytest.mark.parametrize(("n_bytes", "words"), [(None, "pendigits"), (-5, "cut short")])
def test_missing_strokes_and_data_cut_short_are_told_in_one_line(run, data, tmp_path, n_bytes, words):
    for path in data.glob("*ubyte"):
        (tmp_path / path.name).write_bytes(path.read_bytes()[:n_bytes])
    assert words in complaint(run(folder=tmp_path))


def test_unknown_model_is_refused_with_the_list(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["nonsense"])
    assert stopped.value.code == 2
    assert PIXELS in capsys.readouterr().err


def test_every_recipe_names_a_model_that_can_be_built():
    for name in RECIPES:
        assert sum(parameter.numel() for parameter in loop.build(name).parameters()) > 0


def test_learning_rate_warms_up_and_comes_down():
    rates = [loop.learning_rate(1.0, step, 1000) for step in range(1000)]
    assert rates[0] < 0.02
    assert max(rates) == pytest.approx(1, abs=0.05)
    assert rates[-1] == pytest.approx(0.02, abs=0.01)
    assert rates.index(max(rates)) <= 200


NAME, N_BATCHES, N_HALF = "match3-pairwise", 12, 6
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
TRAIN = """
import os, sys
from attention_core.train.__main__ import main

port, one, other = sys.argv[1:]
assert main(one.split()) == 0
os.environ |= {"MASTER_PORT": port, "TORCHELASTIC_USE_AGENT_STORE": "False"}  # another group of the same processes
assert main(other.split()) == 0
"""


@pytest.fixture
def options(tmp_path):
    """The command's arguments for a tiny training that is kept in a folder of its own."""

    def given(place: str, n_batches: int, *more: str) -> list[str]:
        epochs = str(n_batches / RECIPES[NAME].batches_per_epoch)
        places = ["--weights", str(tmp_path / place), "--checkpoints", str(tmp_path / place)]
        return [NAME, "--epochs", epochs, "--device", "cpu", *places, *more]

    return given


def by_two(folder, *trainings: list[str]) -> str:
    """Do two trainings, one after the other, in the same two processes; returns what they say."""
    (folder / "both.py").write_text(TRAIN)
    command = [*TORCHRUN, str(folder / "both.py"), str(free_port()), *map(" ".join, trainings)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": "."}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def equal(one, other) -> None:
    first, second = read_weights(NAME, one), read_weights(NAME, other)
    for name in first:
        torch.testing.assert_close(first[name], second[name], rtol=1e-4, atol=1e-6)
    losses = [read_card(NAME, folder)["final_training_loss"] for folder in (one, other)]
    assert losses[0] == pytest.approx(losses[1], abs=2e-4)


def test_two_processes_reach_what_one_reaches_and_go_on_with_what_it_began(options, tmp_path, monkeypatch):
    assert main(options("one", N_BATCHES, "--at-once", "2")) == 0
    assert main(options("single", N_BATCHES)) == 0
    with pytest.raises(AssertionError):
        equal(tmp_path / "single", tmp_path / "one")  # a step for every batch is another training
    state = tmp_path / "stopped" / f"{NAME}.pt"
    original = loop._save

    def stopping(path, run, model, optimiser):
        original(path, run, model, optimiser)
        if run.step == N_HALF:
            raise KeyboardInterrupt

    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1)  # a checkpoint after every step
    monkeypatch.setattr(loop, "_save", stopping)
    with pytest.raises(KeyboardInterrupt):
        main(options("stopped", N_BATCHES, "--at-once", "2"))
    monkeypatch.setattr(loop, "_save", original)
    kept = state.read_bytes()
    assert torch.load(state, weights_only=True)["run"]["step"] == N_HALF
    told = by_two(tmp_path, options("two", N_BATCHES), options("stopped", N_BATCHES, "--resume"))
    assert told.count("wrote ") == 2
    assert read_card(NAME, tmp_path / "two")["batches"] == N_BATCHES
    for place in ("two", "stopped"):
        equal(tmp_path / "one", tmp_path / place)
    state.write_bytes(kept)
    assert main(options("stopped", N_BATCHES, "--resume")) == 0
    equal(tmp_path / "one", tmp_path / "stopped")


def test_processes_that_cannot_share_alike_are_told(options, capsys, monkeypatch):
    monkeypatch.setattr(loop, "process_group", lambda device: nullcontext(loop.Worker(0, 2)))
    monkeypatch.setattr(loop.dist, "barrier", lambda: None)
    assert main(options("three", N_BATCHES, "--at-once", "3")) == 1
    assert "2 processes cannot share 3 batches alike" in capsys.readouterr().err

"""What the project takes from inside torch is still there and says what it said; a plain sentence where it is not."""

import pytest
import torch

MOVED = "Torch has moved what attention_core/attention/inside_torch.py reaches for"


@pytest.fixture
def inside():
    try:
        from attention_core.attention import inside_torch
    except (ImportError, AttributeError) as error:
        pytest.fail(f"{MOVED}: {error}")
    return inside_torch


@pytest.mark.parametrize(
    ("name", "given", "answer"),
    [
        ("is_transformed", [torch.ones(2)], False),
        ("is_composite_only", [torch.ops.aten.matmul.default], True),
        ("is_composite_only", [torch.ops.aten.mm.default], False),
        ("is_only_mode", [None], False),
        ("computes_gradients", [], False),
        ("is_jit_tracing", [], False),
    ],
)
def test_what_it_says_of_plain_things(inside, name, given, answer):
    try:
        said = getattr(inside, name)(*given)
    except AttributeError as error:
        pytest.fail(f"{MOVED} for {name}: {error}")
    assert said is answer, f"{MOVED} for {name}"


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
def test_what_it_says_inside(inside):
    said = []
    torch.func.vmap(lambda one: said.append(inside.is_transformed(one)) or one)(torch.ones(2))
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda grad: said.append(inside.computes_gradients()))
    x.sum().backward()
    torch.jit.trace(lambda one: said.append(inside.is_jit_tracing()) or one, torch.ones(2), check_trace=False)

    class Mode(inside.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    seen = []
    with Mode() as mode:
        said.append(inside.is_only_mode(mode))
        for block in (inside.unseen, inside.unseen_operations):
            with block():
                torch.ones(2) + 1
        assert not seen, f"{MOVED}: a mode sees what it should not"
        torch.ones(2) + 1
    assert seen
    assert said == [True] * 4, MOVED


def test_changes_of_a_tensor_are_counted(inside):
    one, other = torch.ones(2), torch.ones(2)
    before = inside.version_of(one)
    one.add_(1)
    assert inside.version_of(one) == before + 1, f"{MOVED} for version_of"
    assert inside.storage_of(one) == inside.storage_of(one[1:]) != inside.storage_of(other), f"{MOVED} for storage_of"
    with torch.inference_mode():
        assert inside.version_of(torch.ones(2)) == 0

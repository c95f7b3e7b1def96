"""Where tensors live is decided in one place, and spelled one way."""

import numpy as np
import pytest
import torch

from attention_core.device import choose_device, describe_device, to_array
from attention_core.explain.heads import head_numbers
from attention_core.hub.outputs import cosine_change
from attention_core.inference.word_influence import similar_dimensions_first


def test_auto_takes_the_best_and_a_device_that_is_not_there_says_what_to_do(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choose_device() == "cuda"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert choose_device() == "mps"
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert choose_device() == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match=r"No cuda device on this machine\. Use --device cpu"):
        choose_device("cuda")


@pytest.mark.parametrize("name", ["gpu", "cuda:0", "", "CPU"])
def test_other_spellings_are_refused(name):
    with pytest.raises(ValueError, match="auto, cuda, mps or cpu"):
        choose_device(name)


def test_device_is_described_in_words():
    assert describe_device("cpu").startswith("CPU, ")


class WithoutDoubles(torch.Tensor):
    """A tensor as on MPS: what is computed with it there has no float64; its copy on the CPU is like any other."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        result = super().__torch_function__(func, types, args, kwargs or {})
        if func is torch.Tensor.cpu:
            return result.as_subclass(torch.Tensor)
        if isinstance(result, torch.Tensor) and result.dtype == torch.float64:
            raise TypeError(
                "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64."
            )
        return result


def test_what_is_summed_exactly_works_where_there_is_no_float64():
    plain = torch.randn(6, 4, generator=torch.Generator().manual_seed(0))
    device = plain.as_subclass(WithoutDoubles)
    with pytest.raises(TypeError, match="float64"):
        device.double()
    assert torch.equal(cosine_change(device, device.flip(0)), cosine_change(plain, plain.flip(0)))
    assert similar_dimensions_first(device) == similar_dimensions_first(plain)
    rows, special = torch.arange(6), torch.zeros(4, dtype=torch.bool)
    numbers = (head_numbers(one.softmax(-1), rows, special, False) for one in (device, plain))
    torch.testing.assert_close(*map(torch.Tensor.tolist, numbers), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.float32, torch.float64])
def test_arrays_have_the_type_and_the_numbers_of_the_tensor(dtype):
    tensor = torch.tensor([[0, 1], [2, 3]]).to(dtype)
    array = to_array(tensor.T)
    assert array.dtype == np.asarray(tensor.tolist(), str(dtype).removeprefix("torch.")).dtype
    assert array.tolist() == tensor.T.tolist()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_leaves_as_float32(dtype):
    array = to_array(torch.tensor([0.5, -3.0], dtype=dtype, requires_grad=True))
    assert array.dtype == np.float32
    assert array.tolist() == [0.5, -3.0]

"""The pretend GPU refuses what a real one refuses, and lets pass what a real one does."""

import copy
import threading

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attention_core.device import to_array

HERE = torch.arange(12.0, device="cuda").view(3, 4)
CPU = torch.arange(12.0).view(3, 4)
ROWS = torch.tensor([0, 2])
LIKE_KEYS = torch.ones(1, 1, 4, 2, device="cuda")


def put(target, index, value):
    target[index] = value


REFUSED = {
    "arithmetic of both devices": lambda: HERE + CPU,
    "a single number from the GPU in CPU arithmetic": lambda: CPU + HERE[0, 0],
    "in place": lambda: CPU.clone().add_(HERE),
    "matrix product": lambda: HERE @ CPU.T,
    "a CPU number among tensors that are joined": lambda: torch.stack([HERE[0, 0], torch.tensor(1.0)]),
    "join": lambda: torch.cat([HERE, CPU]),
    "a result of another device": lambda: torch.add(HERE, HERE, out=torch.empty(3, 4)),
    "mask of another device": lambda: HERE.masked_fill(CPU > 3, 0),
    "choice of another device": lambda: torch.where(HERE > 3, HERE, CPU),
    "module that stayed behind": lambda: nn.Linear(4, 2)(HERE),
    "input that stayed behind": lambda: nn.Linear(4, 2).to("cuda")(CPU),
    "recurrent module that stayed behind": lambda: nn.GRU(4, 2)(HERE),
    "words that stayed behind": lambda: nn.Embedding(5, 2).to("cuda")(ROWS),
    "targets of another device": lambda: F.cross_entropy(HERE, torch.tensor([0, 1, 2])),
    "numpy": lambda: HERE.numpy(),
    "numpy of an attribute": lambda: HERE.T.numpy(),
    "numpy by the back door": lambda: np.asarray(HERE),
    "numpy of a list of tensors": lambda: np.stack([HERE[0], HERE[1]]),
    "CPU tensor by rows of the GPU": lambda: CPU[ROWS.to("cuda")],
    "CPU tensor by a mask of the GPU": lambda: CPU[HERE > 3],
    "CPU tensor put by rows of the GPU": lambda: put(CPU.clone(), ROWS.to("cuda"), 0),
    "values of another device put one by one": lambda: put(HERE.clone(), ROWS, CPU[:2]),
    "values of another device put by a list": lambda: put(CPU.clone(), [0, 2], HERE[:2]),
    "CPU generator for numbers of the GPU": lambda: torch.rand(3, generator=torch.Generator(), device="cuda"),
    "generator of the GPU for CPU numbers": lambda: torch.randint(5, (3,), generator=torch.Generator("cuda")),
    "CPU generator in place": lambda: HERE.clone().normal_(generator=torch.Generator()),
    "CPU generator for choices": lambda: torch.multinomial(HERE[0], 1, generator=torch.Generator()),
    "kernel that is for CPUs": lambda: torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(*[LIKE_KEYS] * 3),
    "operator without a kernel": lambda: torch.histogram(HERE, 3),
    "lengths on the GPU": lambda: pack_padded_sequence(HERE[None], torch.tensor([3], device="cuda"), batch_first=True),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_is_refused(call):
    with pytest.raises((RuntimeError, TypeError, NotImplementedError), match="pretend GPU"):
        call()


def test_results_stay_where_their_inputs_are():
    made = [HERE * 2, HERE[0], HERE.T, HERE.max(0).values, HERE[ROWS], HERE + torch.tensor(1.0), torch.zeros_like(HERE)]
    made += [HERE.new_zeros(2), torch.rand(2, generator=torch.Generator("cuda"), device="cuda"), HERE.half().float()]
    made += [torch.as_tensor(np.ones(2), device="cuda"), torch.as_tensor(CPU, device="cuda"), *HERE, *HERE.unbind()]
    assert {str(one.device) for one in made} == {"cuda:0"}
    assert all(one.is_cuda and not one.is_cpu for one in made)
    left = [HERE.cpu(), HERE.to("cpu"), HERE.to(CPU), torch.zeros_like(HERE, device="cpu"), torch.tensor(HERE.tolist())]
    left += [CPU.clone().copy_(HERE), CPU[HERE.argmax() - 9], torch.nonzero(CPU)]
    assert {str(one.device) for one in left} == {"cpu"}
    assert to_array(HERE.T.bfloat16()).sum() == HERE.numpy(force=True).sum() == float(HERE.sum()) == 66


def test_a_move_copies():
    moved = CPU.to("cuda")
    moved[0] = -1
    assert CPU[0, 0] == 0
    assert moved.to("cuda") is moved
    assert moved.cpu()[0, 0] == -1


def test_modules_move_and_learn():
    model = nn.ModuleDict({"read": nn.GRU(4, 3, batch_first=True), "say": nn.Linear(3, 2)}).to("cuda")
    packed = pack_padded_sequence(HERE[None].repeat(2, 1, 1), torch.tensor([3, 1]), batch_first=True)
    states, lengths = pad_packed_sequence(model["read"](packed)[0], batch_first=True)
    model["say"](states).sum().backward()
    assert (states.device, lengths.device) == (torch.device("cuda:0"), torch.device("cpu"))
    assert {str(one.grad.device) for one in model.parameters()} == {"cuda:0"}
    assert {str(one.device) for one in copy.deepcopy(model).parameters()} == {"cuda:0"}
    assert {str(one.device) for one in model.to("cpu").state_dict().values()} == {"cpu"}


def test_every_thread_has_the_gpu():
    seen = []
    thread = threading.Thread(target=lambda: seen.append(torch.ones(2, device="cuda").device))
    thread.start()
    thread.join()
    assert seen == [torch.device("cuda:0")]

# SPDX-License-Identifier: GPL-3.0-or-later
"""The model's structure in the C++ agent's form and in msprobe's, recorded without touching the training."""

import copy
import json
import pickle

import pytest
import torch
from recordedgpt import GPT, train
from telltale.agent.structrecorder import StructRecorder, module_keys
from telltale.pytorch.framework import PyTorch
from telltale.pytorch.structure import structure_json
from torch import nn
from torch.utils.checkpoint import checkpoint

TORCH = PyTorch()


def recorded(model, *args, backward=True, **kwargs):
    keys = module_keys(TORCH, [model])
    recorder = StructRecorder(TORCH, keys, report=lambda what, error: pytest.fail(f"{what}: {error!r}"))
    recorder.install()
    out = model(*args, **kwargs)
    if backward:
        out = out[0] if isinstance(out, tuple) else out
        out.sum().backward()
    recorder.remove()
    return json.loads(recorder.to_json())


def test_the_tree_has_the_cpp_agents_form():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(2, dtype=torch.bfloat16), requires_grad=False)
            self.body = nn.Sequential(nn.Linear(2, 3, bias=False), nn.ReLU())

    assert structure_json(Net()) == (
        '{"name":"","type":"Net","parameters":[{"name":"scale","shape":[2],"dtype":"bfloat16","trainable":false,"device":"cpu"}],'
        '"children":[{"name":"body","type":"Sequential","parameters":[],"children":['
        '{"name":"body.0","type":"Linear","parameters":'
        '[{"name":"body.0.weight","shape":[3,2],"dtype":"float32","trainable":true,"device":"cpu"}],"children":[]},'
        '{"name":"body.1","type":"ReLU","parameters":[],"children":[]}]}]}'
    )


def test_odd_models_have_a_tree_too():
    model = nn.ModuleDict({"a": nn.LazyLinear(3), "b": nn.Linear(2, 2, device="meta")})
    model["again"] = model["b"]
    model["complex"] = nn.ParameterList([torch.ones(1, dtype=torch.complex64)])
    model["b"]._modules["loop"] = model
    model["b"].register_module("none", None)
    tree = json.loads(structure_json(model))
    assert [child["name"] for child in tree["children"]] == ["a", "b", "again", "complex"]
    assert tree["children"][0]["parameters"][0]["shape"] == []
    assert [p["device"] for p in tree["children"][1]["parameters"]] == ["meta", "meta"]
    assert [p["shared"] for p in tree["children"][2]["parameters"]] == ["b.weight", "b.bias"]
    assert "shared" not in tree["children"][1]["parameters"][0]
    assert tree["children"][3]["parameters"][0]["dtype"] == "unknown"
    sharded = nn.Linear(2, 2)
    sharded.weight.ds_shape = torch.Size((8, 2))
    assert json.loads(structure_json(sharded))["parameters"][0]["shape"] == [8, 2]


HIDDEN = "size=(8, 64, 128), dtype=torch.float32"
HEADS = "size=(8, 64, 4, 32), dtype=torch.float32"
RECORDED = {
    "0:tok": {
        "input": {"config": "list[1]", "0": "size=(8, 64), dtype=torch.int64"},
        "output": {"config": "tensor", "tensor": HIDDEN},
        "input_grad": {"config": "tuple[1]", "0": "<class 'NoneType'>"},
        "output_grad": {"config": "tuple[1]", "0": HIDDEN},
    },
    "0:blocks.0.attn.core": {
        "input": {"config": "list[3]", "0": HEADS, "1": HEADS, "2": HEADS},
        "output": {"config": "tensor", "tensor": HEADS},
        "input_grad": {"config": "tuple[3]", "0": HEADS, "1": HEADS, "2": HEADS},
        "output_grad": {"config": "tuple[1]", "0": HEADS},
    },
    "0:": {
        "input": {"config": "list[1]", "0": "size=(8, 64), dtype=torch.int64"},
        "output": {"config": "tensor", "tensor": "size=(8, 64, 256), dtype=torch.float32"},
        "input_grad": {"config": "tuple[1]", "0": "<class 'NoneType'>"},
        "output_grad": {"config": "tuple[1]", "0": "size=(8, 64, 256), dtype=torch.float32"},
    },
}


def test_module_struct_is_what_msprobe_recorded():
    made = []

    def prepare(model):
        made.append(StructRecorder(TORCH, module_keys(TORCH, [model])))
        made[0].install()

    train(2, prepare)
    text = made[0].to_json()
    assert text.startswith('{\n  "0:tok": {\n    "input": {\n      "config": "list[1]",\n')
    struct = json.loads(text)
    for key, wanted in RECORDED.items():
        assert struct[key] == wanted and list(struct[key]) == list(wanted)
    block = [f"0:blocks.{i}." for i in range(4)]
    inner = ["ln1", "attn.qkv", "attn.core", "attn.proj", "attn", "ln2", "mlp.0", "mlp.1", "mlp.2", "mlp"]
    order = [name for prefix in block for name in [*(prefix + part for part in inner), prefix[:-1]]]
    assert list(struct) == ["0:tok", "0:pos", *order, "0:lnf", "0:head", "0:"]


class Several(nn.Module):
    """Named inputs, numbers among them, several outputs of which one is not used."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 4)

    def forward(self, x, flag, *, other=None):
        return self.inner(x) + other, x.long(), None, self.inner(x) * 2


def test_several_values_are_described_one_by_one():
    x = torch.ones(2, 3, requires_grad=True)
    struct = recorded(Several(), x, True, other=torch.ones(4))["0:"]
    assert struct["input"] == {
        "config": "list[2]",
        "0": "size=(2, 3), dtype=torch.float32",
        "1": "size=(4,), dtype=torch.float32",
    }
    assert struct["output"]["config"] == "tuple[4]" and struct["output"]["2"] == "<class 'NoneType'>"
    assert struct["input_grad"] == {
        "config": "tuple[2]",
        "0": "size=(2, 3), dtype=torch.float32",
        "1": "<class 'NoneType'>",
    }
    assert [struct["output_grad"][str(i)][:4] for i in range(4)] == ["size", "<cla", "<cla", "<cla"]
    assert not x._backward_hooks, "the hook on a tensor that lives on is gone"


def test_without_backward_there_are_no_gradients_and_other_outputs_give_their_type():
    class Dict(nn.Module):
        def forward(self, x):
            return {"y": x}

    assert list(recorded(nn.Linear(3, 3), torch.ones(1, 3), backward=False)["0:"]) == ["input", "output"]
    assert recorded(Dict(), torch.ones(1), backward=False)["0:"]["output"] == {"config": "<class 'dict'>"}
    assert recorded(nn.Linear(3, 3).eval(), torch.ones(1, 3), backward=False) == {}


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpointed_modules_are_recorded_once_with_their_gradients(reentrant):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = nn.Linear(3, 3)

        def forward(self, x):
            return checkpoint(self.block, x, use_reentrant=reentrant)

    struct = recorded(Net(), torch.ones(2, 3, requires_grad=True))
    assert list(struct) == ["0:block", "0:"]
    assert struct["0:block"]["output_grad"]["0"] == "size=(2, 3), dtype=torch.float32"


def test_in_place_modules_and_three_consumers_train_bitwise_the_same():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Sequential(nn.Linear(6, 6), nn.ReLU(inplace=True))
            self.three = nn.ModuleList(nn.Linear(6, 6) for _ in range(3))

        def forward(self, x):
            x = self.first(x)
            return sum(layer(x) for layer in self.three)

    def run(watched):
        torch.manual_seed(7)
        model = Net()
        recorder = StructRecorder(TORCH, module_keys(TORCH, [model]))
        if watched:
            recorder.install()
        for _ in range(3):
            model(torch.randn(4, 6)).square().mean().backward()
        return [p.grad for p in model.parameters()], recorder

    (bare, _), (watched, recorder) = run(False), run(True)
    assert all(torch.equal(a, b) for a, b in zip(bare, watched))
    assert len(json.loads(recorder.to_json())) == 7


def test_a_copy_of_a_watched_model_is_silent_and_can_be_pickled():
    model = nn.Sequential(nn.Linear(2, 2))
    recorder = StructRecorder(TORCH, module_keys(TORCH, [model]))
    recorder.install()
    pickle.loads(pickle.dumps(model))(torch.ones(1, 2))
    copy.deepcopy(model)(torch.ones(1, 2))
    assert recorder.entries == {}


def test_keys_carry_the_chunk():
    keys = [key for key, _ in module_keys(TORCH, [nn.Sequential(nn.ReLU()), GPT(n=1)])]
    assert keys[:4] == ["0:", "0:0", "1:", "1:tok"]

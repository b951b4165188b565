# SPDX-License-Identifier: GPL-3.0-or-later
"""The faults that a demo training can have, and what those of tensors do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from .model import Attention, CoreAttention
from .moe import Router


@dataclass(frozen=True)
class Kind:
    """where: "output" of a module in the forward pass, "weights" before it, "gradients" of its parameters before they
    are reduced over ranks, "module" and "training" for what Fault does itself."""

    where: str
    act: Callable[[Any], Any] = lambda target: target
    fits: Callable[[Any], bool] = lambda module: True
    usual: str = ""  # how the name of a module ends that has it when none is named
    advice: str = ""  # where no module fits
    what: str = ""  # that belongs to no module
    needs: str = ""  # of the training: see Fault
    is_lasting: bool = False  # not at one step alone
    is_of_one_rank: bool = False


def _is(kind: type) -> Callable[[Any], bool]:
    return lambda module: isinstance(module, kind)


def _computes(module: Any) -> bool:
    return not isinstance(module, (torch.nn.ModuleList, torch.nn.Dropout))


def _has_parameters(module: Any) -> bool:
    return any(True for _ in module.parameters())


def _has_matrix(module: Any) -> bool:
    weight = getattr(module, "weight", None)
    return isinstance(weight, torch.Tensor) and weight.dim() > 1


def _add(value: float) -> Callable[[torch.Tensor], torch.Tensor]:
    def add(output: torch.Tensor) -> torch.Tensor:
        addend = torch.zeros_like(output)
        addend.view(-1)[0] = value
        return output + addend

    return add


def _times_hundred(gradient: torch.Tensor) -> torch.Tensor:
    return gradient * 100.0


class _NanBackward(torch.autograd.Function):
    """Nothing forward, one NaN backward."""

    @staticmethod
    def forward(_context: Any, output: torch.Tensor) -> torch.Tensor:
        return output.view_as(output)

    @staticmethod
    def backward(_context: Any, gradient: torch.Tensor) -> torch.Tensor:
        return _add(float("nan"))(gradient)


def _flip_exponent(output: torch.Tensor) -> torch.Tensor:
    """Flips the exponent's top bit of one element: below 1 it becomes 2^128 times as large. A negative one, since GELU
    and ReLU send that to 0 again: what follows is bounded, as most flipped bits are that a job survives."""
    out = output.clone()
    flat = out.view(-1)
    small = ((flat > -1) & (flat < 0)).nonzero()
    bits = flat.view({4: torch.int32, 2: torch.int16}[out.element_size()])
    top = 30 if out.element_size() == 4 else 14
    bits[int(small[0]) if len(small) else 0] ^= 1 << top
    return out


def _local_weight(module: Any) -> torch.Tensor:
    return getattr(module.weight, "_local_tensor", module.weight).detach().view(-1)


def _flip_weight(module: Any) -> None:
    """Flips bit 26 of the smallest weight that has it, which becomes 256 times smaller: no norm shows that."""
    weight = _local_weight(module)
    bits = weight.view(torch.int32)
    size = weight.abs().where((bits >> 26) & 1 == 1, torch.inf)
    bits[int(size.argmin())] ^= 1 << 26


def _break_weight(module: Any) -> None:
    _local_weight(module)[0] = float("nan")


def _grow_queries(module: Any) -> None:
    rows = module.qkv.weight
    rows[: rows.shape[0] // 3] *= 1.02


def _favor_expert(module: Any) -> None:
    module.bias[0] += 30.0


_TEXT = "; say a --model other than cnn"

KINDS = {
    "nan": Kind("output", _add(float("nan")), _computes, "mlp.fc1"),
    "inf": Kind("output", _add(float("inf")), _computes, "mlp.fc1"),
    "spike": Kind("output", lambda output: output * 1000.0, _computes, "mlp.fc1"),
    "flip-output": Kind("output", _flip_exponent, _has_matrix, "mlp.fc1"),
    "zero": Kind("output", lambda output: output * 0.0, _computes, "mlp", is_lasting=True),
    "nan-backward": Kind("output", _NanBackward.apply, _computes, "mlp.fc2"),
    "nan-weight": Kind("weights", _break_weight, _has_matrix, "mlp.fc2"),
    "flip-weight": Kind("weights", _flip_weight, _has_matrix, "mlp.fc1", needs="dp", is_of_one_rank=True),
    "query-growth": Kind("weights", _grow_queries, _is(Attention), advice=_TEXT, is_lasting=True),
    "dead-experts": Kind("weights", _favor_expert, _is(Router), advice="; say --model moe"),
    "grad-spike": Kind("gradients", _times_hundred, _has_parameters, "mlp.fc1", needs="dp", is_of_one_rank=True),
    "drop-reduce": Kind("gradients", fits=_has_parameters, usual="mlp", needs="dp", is_of_one_rank=True),
    "freeze": Kind("module", fits=_has_parameters, usual="mlp", is_lasting=True),
    "entropy-collapse": Kind("module", fits=_is(CoreAttention), advice=_TEXT, is_lasting=True),
    "logit-growth": Kind("module", fits=_is(CoreAttention), advice=_TEXT, is_lasting=True),
    "lr": Kind("training", what="a learning rate", is_lasting=True),
    "lull": Kind("training", what="a lull"),
    "repeated-token": Kind("training", what="a batch", needs="text"),
    "reset-moments": Kind("training", what="a restart"),
    "loss-scale": Kind("training", what="a loss scale", needs="amp"),
    "slow-rank": Kind("training", what="a slow rank", needs="ranks", is_lasting=True, is_of_one_rank=True),
    "same-seed": Kind("training", what="a seed", needs="tp"),
    "clip-one-rank": Kind("training", what="clipping", needs="tp", is_lasting=True, is_of_one_rank=True),
}

# SPDX-License-Identifier: GPL-3.0-or-later
"""DeepSpeed ZeRO 0 to 3. The optimizer steps flat float32 partitions; the tables that ZeRO keeps say which parameter
lies where in them. No safe_get_full_*: those communicate."""

from __future__ import annotations

from typing import Any

import torch

from ...agent.clock import Clock
from ...agent.sources import Unit
from ...kinds import Form
from ..sources import FlatSlice, GradientHook, ParameterSource
from .base import Adapter, Context


class _ZeroSource(FlatSlice):
    """The unreduced gradient is on the model's own parameter, everything else in the partition."""

    def watch_unreduced(self, engine: Clock, number: int) -> list[Any]:
        if not self.tensor.requires_grad:
            return []
        return [self.tensor.register_post_accumulate_grad_hook(GradientHook(engine.reference, number, True))]


class DeepSpeedAdapter(Adapter):
    """Knows an engine, or an optimizer of DeepSpeed's, by what it carries."""

    framework = "deepspeed"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._engine = next((chunk for chunk in context.chunks if _is_engine(chunk)), None)
        self._zero = _zero_optimizer(context, self._engine)
        self._stage = self._stage_in_use()
        self._groups: dict[int, int] = {}  # id(parameter) -> its group in the optimizer's tables
        self._flats: list[Any] = []
        if self._zero is not None:
            self._read_tables()
            self.framework = f"deepspeed zero {self._stage}"
        self._keys: list[int] = []

    def _stage_in_use(self) -> int:
        if hasattr(self._zero, "grad_position"):
            return 3
        if hasattr(self._zero, "single_partition_of_fp32_groups"):
            return 2 if getattr(self._zero, "partition_gradients", True) else 1
        return 1 if self._zero is not None else 0

    def _read_tables(self) -> None:
        zero = self._zero
        for groups_name, flats_name in (
            ("fp16_groups", "fp32_partitioned_groups_flat"),
            ("bit16_groups", "single_partition_of_fp32_groups"),
            ("bf16_groups", "fp32_groups_flat_partition"),
        ):
            groups, flats = getattr(zero, groups_name, None), getattr(zero, flats_name, None)
            if groups and flats:
                self._flats = list(flats)
                for number, group in enumerate(groups):
                    for parameter in group:
                        self._groups[id(parameter)] = number
                return
        self.context.note(
            f"the tables of {type(zero).__name__} were not found: only its flat partitions could be read, and they are "
            "not; unreduced gradients are observed"
        )

    @property
    def is_in_use(self) -> bool:
        return self._engine is not None or self._zero is not None

    def sources(self, name: str, parameter: Any, chunk: int) -> list[ParameterSource] | None:
        number = self._groups.get(id(parameter))
        if self._zero is None or number is None or number >= len(self._flats):
            return None
        flat = self._flats[number]
        shape = tuple(getattr(parameter, "ds_shape", parameter.shape))
        start, count, offset = self._range_of(parameter, shape)
        optimizer = self.context.owners.get(id(flat)) or self._inner()
        source = _ZeroSource(name, parameter, optimizer, chunk, flat, start, count, offset, shape)
        if self._stage >= 2:
            source.form_unreduced |= Form.MICRO  # sums are kept in the partitions
        if _scales_loss(self._zero):
            source.form_unreduced |= Form.SCALED
        if float(getattr(self._zero, "clip_grad", 0.0) or 0.0) > 0:
            source.form_reduced |= Form.CLIPPED
        if self._stage == 3 or hasattr(self._zero, "single_partition_of_fp32_groups"):
            source.unit_key = id(flat)  # its step() is called once for each flat partition
            if id(flat) not in self._keys:
                self._keys.append(id(flat))
        return [source]

    def _inner(self) -> Any:
        optimizers = self.context.found.optimizers
        return optimizers[0] if optimizers else None

    def _range_of(self, parameter: Any, shape: tuple[int, ...]) -> tuple[int, int, int]:
        """(start in the flat partition, elements here, first of them in the parameter)."""
        if self._stage == 3:
            _, start, part = self._zero.grad_position[self._zero.get_param_id(parameter)]
            rank = _rank_in(getattr(parameter, "ds_process_group", None))
            total = 1
            for size in shape:
                total *= size
            first = rank * part
            return start, max(0, min(part, total - first)), min(first, total)  # the last part is padded
        mapping = getattr(parameter, "_hp_mapping", None)
        if mapping is None:
            return 0, 0, 0
        low, high = mapping.lp_fragment_address, mapping.hp_fragment_address
        return int(high.start), int(high.numel), int(low.start)

    def finish(self) -> None:
        found = self.context.found
        steps = getattr(self._engine, "gradient_accumulation_steps", None)
        if callable(steps):
            found.grad_acc_steps = max(1, int(steps()))
        clips = getattr(self._engine, "gradient_clipping", None)
        if callable(clips) and float(clips() or 0.0) > 0:
            for source in found.sources:
                source.form_reduced |= Form.CLIPPED
        if self._keys:
            others = [opt for opt in found.optimizers if opt is not self._inner()]
            found.units = [Unit(self._inner(), key) for key in self._unit_order()] + [Unit(opt) for opt in others]
        if self._zero is None:
            return
        parameters = [parameter for chunk in self.context.chunks for parameter in chunk.parameters()]
        if not any(hasattr(parameter, "_hp_mapping") or hasattr(parameter, "ds_id") for parameter in parameters):
            self.context.note(
                "this DeepSpeed keeps no map from parameters to its flat partitions (_hp_mapping): reduced gradients, "
                "parameters and moments are not observed by name"
            )

    def _unit_order(self) -> list[int]:
        return [id(flat) for flat in self._flats if id(flat) in self._keys]


def _is_engine(chunk: Any) -> bool:
    return hasattr(chunk, "zero_optimization_stage") and hasattr(chunk, "module") and hasattr(chunk, "optimizer")


def _zero_optimizer(context: Context, engine: Any) -> Any:
    """DeepSpeed's own optimizer: in the chain, in the engine, or named by the parameters themselves."""
    candidates = list(context.chain)
    if engine is not None:
        candidates.append(engine.optimizer)
    for chunk in context.chunks:
        for parameter in chunk.parameters():
            candidates += [getattr(parameter, name, None) for name in ("_z3_optimizer", "_zero_optimizer")]
            break
    tables = ("grad_position", "single_partition_of_fp32_groups", "fp32_groups_flat_partition")
    for candidate in candidates:
        if candidate is not None and any(hasattr(candidate, table) for table in tables):
            return candidate
    return None


def _scales_loss(zero: Any) -> bool:
    try:
        scaler = getattr(zero, "loss_scaler", None)
        return bool(getattr(scaler, "dynamic", False)) or float(getattr(scaler, "cur_scale", 1.0)) != 1.0
    except (TypeError, ValueError):
        return False


def _rank_in(group: Any) -> int:
    if not torch.distributed.is_available() or not torch.distributed.is_initialized():
        return 0
    return torch.distributed.get_rank(group)

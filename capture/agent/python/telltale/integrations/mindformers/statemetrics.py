# SPDX-License-Identifier: GPL-3.0-or-later
"""What TrainingStateMonitor and TopkBiasBalanceCallback watch: local norms and losses, moments, weights, throughput
over its baseline, attention logits, stable ranks, the experts' load."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from . import modelmetrics as model
from .jobview import Beside, StepOutput
from .localnorms import LocalNorms
from .numbers import original
from .outlet import BOARD, BOTH, NOWHERE, Outlet
from .settings import BoardSettings, MonitorSettings
from .transport import Transport, Written

_MAIN = "lm"
_MOST_EXPERTS = 512  # of all layers, that have a curve each in the dashboard


def put_loads(outlet: Outlet, step: int, loads: Mapping[str, list[float]], formats: frozenset[str]) -> None:
    """expert_load/{layer} with a curve an expert; where there are very many, the dashboard gets their ends."""
    are_many = sum(map(len, loads.values())) > _MOST_EXPERTS
    if are_many:
        outlet.tell_once(
            f"the model has more than {_MOST_EXPERTS} experts: the dashboard gets the largest and smallest load of "
            "each layer"
        )
    for router, shares in loads.items():
        named = {f"ep_{i}": share for i, share in enumerate(shares)}
        shown = {"max": float(np.max(shares)), "min": float(np.min(shares))} if are_many else named
        outlet.curves(step, f"expert_load/{router}", named, formats, shown)


class StateMetrics:
    """Thread: training."""

    def __init__(
        self,
        settings: MonitorSettings,
        board: BoardSettings,
        beside: Beside,
        norms: LocalNorms | None,
        transport: Transport | None,
    ) -> None:
        """norms, transport: where gradients before reduction come from."""
        self._settings = settings
        self._board = board
        self._beside = beside
        self._norms = norms
        self._transport = transport
        self._last = self._last_rank = 0
        # MindFormers' loss function writes each micro batch's to files; of other trainings the step's is all there is.
        self._has_loss_files = original("parallel_core.training_graph.loss_func") is not None

    def step(
        self, outlet: Outlet, step: int, args: Any, output: StepOutput, rates: Mapping[str, float], optimizer: Any
    ) -> None:
        """A step has ended."""
        self.take_transport(outlet)
        if not 0 < step - self._last < self._settings.step_interval:
            self._last = step
            self._of_model(outlet, step, args, optimizer)
            self._of_step(outlet, step, output, rates)
        elif self._norms is not None:
            self._norms.take()
        rank = self._settings.stable_rank
        if rank.format and not 0 < step - self._last_rank < rank.step_interval:
            self._last_rank = step
            formats = self._formats(outlet, rank.format)
            for tag, value in model.stable_ranks(args.train_network, rank).items():
                outlet.put(tag, value, formats)

    def put_loads(self, outlet: Outlet, step: int, network: Any) -> None:
        """expert_load/{router}, whether or not the monitor is on."""
        is_written = self._board.log_expert_load_to_tensorboard and self._beside.balance is None and outlet.has_files
        put_loads(outlet, step, model.expert_loads(network), BOARD if is_written else NOWHERE)

    def close(self) -> None:
        if self._norms is not None:
            self._norms.close()
            self._norms = None

    def _formats(self, outlet: Outlet, asked: frozenset[str]) -> frozenset[str]:
        """Where something goes beside the dashboard: nowhere when TrainingStateMonitor itself sends it there."""
        return NOWHERE if self._beside.state is not None else outlet.formats(asked)

    def _of_model(self, outlet: Outlet, step: int, args: Any, optimizer: Any) -> None:
        settings = self._settings
        if asked := settings.format("optimizer_state"):
            for tag, value in model.moment_norms(optimizer, settings).items():
                outlet.put(tag, value, self._formats(outlet, asked))
        if asked := settings.format("weight_state"):
            outlet.put("weight_norm", model.weight_norm(args.network), self._formats(outlet, asked))
        if asked := settings.format("max_attention_logit"):
            self._put_logits(outlet, step, args.train_network, self._formats(outlet, asked))

    def _of_step(self, outlet: Outlet, step: int, output: StepOutput, rates: Mapping[str, float]) -> None:
        settings = self._settings
        if "throughput_linearity" in rates:
            linearity = rates["throughput_linearity"]
            outlet.put("throughput_linearity", linearity, self._formats(outlet, BOTH))
        own = {_MAIN: output.loss} if output.loss is not None else {}
        if asked := settings.format("device_local_loss"):
            for of, value in (model.device_losses() or own).items():
                outlet.put(outlet.tags.device_loss(of), value, self._formats(outlet, asked))
        if (asked := settings.format("local_loss")) and not (self._transport and self._has_loss_files):
            for of, value in own.items():
                outlet.put(outlet.tags.local_loss(of), value, self._formats(outlet, asked))
        if self._norms is not None:
            sums = self._norms.take()
            total = float(np.linalg.norm(list(sums.values()))) if sums else None
            for tag, value, formats in self._norms_of(outlet, Written(step, sums, total)):
                outlet.put(tag, value, formats)

    def _norms_of(self, outlet: Outlet, found: Written) -> list[tuple[str, float, frozenset[str]]]:
        listed = []
        each, device = self._settings.format("local_norm"), self._settings.format("device_local_norm")
        formats = self._formats(outlet, each)
        for name, value in found.local_norms.items() if each else ():
            if self._settings.selects(name):
                listed.append((f"local_norm/{name}", value, formats))
        if device and found.device_local_norm is not None:
            listed.append(("device_local_norm", found.device_local_norm, self._formats(outlet, device)))
        return listed

    def take_transport(self, outlet: Outlet) -> None:
        """What a static graph has written since it was looked at last."""
        for found in self._transport.take() if self._transport is not None else ():
            if found.local_norms:
                self.close()  # hooks would say the same
            self._has_loss_files |= bool(found.losses)
            if found.step % self._settings.step_interval:
                continue
            together: dict[frozenset[str], dict[str, float]] = {}
            for tag, value, formats in self._norms_of(outlet, found):
                together.setdefault(formats, {})[tag] = value
            for formats, values in together.items():
                outlet.late(found.step, values, formats)
            asked = self._settings.format("local_loss")
            formats = self._formats(outlet, asked)
            for of, losses in found.losses.items() if asked else ():
                outlet.late(found.step, {outlet.tags.local_loss(of): float(np.mean(losses))}, formats - {"log"})
                for value in losses if "log" in formats else ():
                    outlet.say(outlet.tags.micro_loss(of), value)

    def _put_logits(self, outlet: Outlet, step: int, network: Any, formats: frozenset[str]) -> None:
        everything: list[float] = []
        for name, values in model.attention_logits(network).items():
            heads = {f"head_{i}": value for i, value in enumerate(values)}
            outlet.curves(step, f"max_attention_logit/{name}", heads, formats, heads)
            everything += values
        if everything:
            outlet.put("max_attention_logit/mean", float(np.mean(everything)), formats)
            outlet.put("max_attention_logit/max", float(np.max(everything)), formats)

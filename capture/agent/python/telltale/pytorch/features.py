# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts that a config asks for beside weights and gradients: a row of FEATURES each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch

from ..config import MonitorConfig
from ..flightrecorder import is_left_out, kept_config
from ..series import Extra
from .activations import Activations, Wants
from .attentionpart import AttentionPart, attention_modules
from .clock import Clock
from .commpart import CommPart
from .linear import matrix_name
from .optimizerparts import DirectionPart, UpdatePart
from .part import Part
from .recordparts import StackPart, StructPart
from .targets import TargetSet
from .weightparts import LinearPart, RouterPart

Modules = list[tuple[str, int, torch.nn.Module]]  # name, chunk, module


@dataclass
class Asked:
    """What a feature is made from. The engine has its sinks by now: dispatcher.wants says what they want."""

    engine: Clock
    chunks: list[torch.nn.Module]
    targets: TargetSet
    config: MonitorConfig  # the engine's, or what the flight recorder keeps

    def modules(self) -> Modules:
        """All modules."""
        return [(name, vpp, module) for vpp, chunk in enumerate(self.chunks) for name, module in chunk.named_modules()]

    def listed(self, what: str) -> list[str] | None:
        """A list of l2_targets, None where there is none."""
        config = self.config
        return config.l2_targets.get(what) if config.recording_l2_features else None

    def named(self, what: str) -> Modules:
        """The modules that a list of l2_targets names itself (not what lies below them)."""
        names = self.listed(what)
        if not names:
            return []
        modules = self.modules()
        chosen = TargetSet(names, [(vpp, name) for name, vpp, _ in modules])
        found = [(name, vpp, module) for name, vpp, module in modules if name and chosen.names(name, vpp)]
        for sentence in chosen.unmatched_sentences((name for name, _, _ in modules), "module"):
            self.engine.tell(f"{what}: {sentence}; nothing is collected for it")
        if chosen.reading():
            self.engine.tell(f"{what}: {chosen.reading()}")
        return found


def _activations(asked: Asked) -> Iterable[Part]:
    config, targets = asked.config, asked.targets
    modules = [
        (name, vpp, module, Wants(config, targets, name, vpp))
        for name, vpp, module in asked.modules()
        if type(module).__name__ != "FullyShardedDataParallel"
        and type(module).forward is not torch.nn.Module.forward  # ModuleList and the like: nobody calls them
        and (targets.selects(name, vpp) or config.all_xy)
    ]
    return [Activations(asked.engine, modules)] if modules else []


def _attention(asked: Asked) -> Iterable[Part]:
    engine, config = asked.engine, asked.config
    attention = asked.named("attention_hook")
    if asked.listed("attention_hook") == [] and not config.attention_hook:
        engine.tell(
            "l2_targets.attention_hook is empty, which means no attention module; telltale.attention_hook: true "
            "measures all of them"
        )
    if config.attention_hook:
        known = {id(module) for _, _, module in attention}
        for vpp, chunk in enumerate(asked.chunks):
            for name, module in attention_modules(chunk):
                if id(module) not in known and asked.targets.selects(name, vpp):
                    attention.append((name, vpp, module))
    mapped = _mapped(asked, attention)
    with_head_0 = asked.listed("attention_hook") is not None and bool(engine.dispatcher.wants & Extra.HEAD_0)
    return [AttentionPart(engine, attention, with_head_0, mapped)] if attention else []


def _mapped(asked: Asked, attention: Modules) -> dict[str, list[int]]:
    """The attention modules of which maps are asked for, each with its heads; they join `attention`."""
    wanted = asked.config.attention_maps
    if not wanted:
        return {}
    modules = asked.modules()
    found = [(name, vpp, module) for vpp, chunk in enumerate(asked.chunks) for name, module in attention_modules(chunk)]
    mapped: dict[str, list[int]] = {}
    for target, heads in wanted.items():
        chosen = TargetSet([target], [(vpp, name) for name, vpp, _ in modules])
        # What is found to be attention at or below it; else what is named itself, whatever it is called.
        hit = [one for one in found if chosen.selects(one[0], one[1])]
        for name, vpp, module in hit or [one for one in modules if one[0] and chosen.names(one[0], one[1])]:
            mapped[name] = sorted({*mapped.get(name, []), *heads})
            if all(module is not other for _, _, other in attention):
                attention.append((name, vpp, module))
        for sentence in [] if hit else chosen.unmatched_sentences((name for name, _, _ in modules), "module"):
            asked.engine.tell(f"attention_maps: {sentence}; it has no maps")
    return mapped


def _linear(asked: Asked) -> Iterable[Part]:
    linear = asked.named("linear_hook")
    if asked.listed("linear_hook") == []:
        linear = [entry for entry in asked.modules() if matrix_name(entry[2])]
    return [LinearPart(asked.engine, linear)] if linear else []


def _routers(asked: Asked) -> Iterable[Part]:
    routers = asked.named("moe_router_logit_hook"), asked.named("moe_router_weight_hook")
    return [RouterPart(asked.engine, *routers)] if any(routers) else []


# In the order in which they have their turn: what the config must ask for, and who makes it.
FEATURES: tuple[tuple[Callable[[Any], bool], Callable[[Asked], Iterable[Part]]], ...] = (
    (lambda config: config.xy_distribution, _activations),
    (lambda config: True, _attention),
    (lambda config: True, _linear),
    (lambda config: True, _routers),
    (lambda config: config.cc_distribution.enable, lambda asked: [CommPart(asked.engine)]),
    (lambda config: config.stack_info, lambda asked: [StackPart(asked.engine, asked.chunks)]),
    (lambda config: config.print_struct, lambda asked: [StructPart(asked.engine, asked.chunks)]),
    (lambda config: config.mg_direction, lambda asked: [DirectionPart(asked.engine)]),
    (lambda config: config.ur_distribution, lambda asked: [UpdatePart(asked.engine)]),
)


def make_features(engine: Clock, chunks: list[torch.nn.Module], targets: TargetSet) -> list[Part]:
    """The parts that the config asks for, and those that the flight recorder does."""
    found: list[Part] = []
    kept = kept_config(engine.config, engine.rank)
    for config in (None if is_left_out(engine.config, engine.rank) else engine.config, kept):
        if config is None:
            continue
        asked = Asked(engine, chunks, targets, config)
        parts = [part for is_asked, make in FEATURES if is_asked(config) for part in make(asked)]
        for part in parts:
            part.is_kept = config is kept
        found += parts
    return found

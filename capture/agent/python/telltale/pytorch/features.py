# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts that a config asks for beside weights and gradients: a row of FEATURES each."""

from __future__ import annotations

from collections.abc import Iterable

from ..agent.activations import activations
from ..agent.features import Asked, Feature, Modules
from ..agent.optimizerparts import DirectionPart
from ..agent.part import Part
from ..agent.recordparts import StackPart, StructPart
from ..agent.targets import TargetSet
from ..agent.weightparts import linear, routers
from ..series import Extra
from .attentionpart import AttentionPart, attention_modules
from .commpart import CommPart
from .matrices import TorchMatrices
from .optimizerparts import UpdatePart


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


_MATRICES = TorchMatrices()
# In the order in which they have their turn.
FEATURES: tuple[Feature, ...] = (
    (lambda config: config.xy_distribution, activations),
    (lambda config: True, _attention),
    (lambda config: True, lambda asked: linear(asked, _MATRICES)),
    (lambda config: True, lambda asked: routers(asked, _MATRICES)),
    (lambda config: config.cc_distribution.enable, lambda asked: [CommPart(asked.engine)]),
    (lambda config: config.stack_info, lambda asked: [StackPart(asked.engine, asked.chunks)]),
    (lambda config: config.print_struct, lambda asked: [StructPart(asked.engine, asked.chunks)]),
    (lambda config: config.mg_direction, lambda asked: [DirectionPart(asked.engine)]),
    (lambda config: config.ur_distribution, lambda asked: [UpdatePart(asked.engine)]),
)

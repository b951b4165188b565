# SPDX-License-Identifier: GPL-3.0-or-later
"""Chooses the parts that watch more than parameters and activations: attention, weights, routers, collectives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from ..sinks.csv import CsvSink
from .attentionpart import AttentionPart, attention_modules
from .commpart import CommPart
from .linear import matrix_name
from .optimizerparts import DirectionPart, UpdatePart
from .recordparts import StackPart, StructPart
from .targets import TargetSet
from .weightparts import LinearPart, RouterPart

if TYPE_CHECKING:
    from .engine import Engine


def make_features(engine: Engine, chunks: list[torch.nn.Module], targets: TargetSet) -> list[Any]:
    """The parts that the config asks for."""
    config = engine.config
    parts: list[Any] = []
    wanted = dict(config.l2_targets) if config.recording_l2_features else {}
    # Files in msprobe's layout have its own rows.
    plain_files = any(isinstance(sink, CsvSink) for sink in engine.dispatcher.sinks)
    attention = _named(engine, chunks, wanted.get("attention_hook", []), "attention_hook")
    if wanted.get("attention_hook") == [] and not config.attention_hook:
        engine.tell(
            "l2_targets.attention_hook is empty, which means no attention module; telltale.attention_hook: true "
            "measures all of them"
        )
    if config.attention_hook:
        known = {id(module) for _, _, module in attention}
        for vpp, chunk in enumerate(chunks):
            for name, module in attention_modules(chunk):
                if id(module) not in known and targets.selects(name, vpp):
                    attention.append((name, vpp, module))
    if attention:
        parts.append(AttentionPart(engine, attention, "attention_hook" in wanted and plain_files))
    linear = _named(engine, chunks, wanted.get("linear_hook", []), "linear_hook")
    if wanted.get("linear_hook") == []:
        linear = [
            (name, vpp, module)
            for vpp, chunk in enumerate(chunks)
            for name, module in chunk.named_modules()
            if matrix_name(module)
        ]
    if linear:
        parts.append(LinearPart(engine, linear, plain_files))
    routers = [
        _named(engine, chunks, wanted.get(f"moe_router_{what}_hook", []), f"moe_router_{what}_hook")
        for what in ("logit", "weight")
    ]
    if any(routers):
        parts.append(RouterPart(engine, *routers))
    if config.cc_distribution.enable:
        parts.append(CommPart(engine, plain_files))
    if config.stack_info:
        parts.append(StackPart(engine, chunks))
    if config.print_struct:
        parts.append(StructPart(engine, chunks))
    if config.mg_direction:
        parts.append(DirectionPart(engine))
    if config.ur_distribution:
        parts.append(UpdatePart(engine))
    return parts


def _named(
    engine: Engine, chunks: list[torch.nn.Module], names: list[str], what: str
) -> list[tuple[str, int, torch.nn.Module]]:
    """The modules that a list of l2_targets names itself (not what lies below them)."""
    if not names:
        return []
    modules = [(name, vpp, module) for vpp, chunk in enumerate(chunks) for name, module in chunk.named_modules()]
    chosen = TargetSet(names, [(vpp, name) for name, vpp, _ in modules])
    found = [(name, vpp, module) for name, vpp, module in modules if name and chosen.names(name, vpp)]
    for sentence in chosen.unmatched_sentences((name for name, _, _ in modules), "module"):
        engine.tell(f"{what}: {sentence}; nothing is collected for it")
    if chosen.reading():
        engine.tell(f"{what}: {chosen.reading()}")
    return found

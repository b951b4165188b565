# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of modules and parameters. Pure Python, no torch. Thread: any."""

from __future__ import annotations

# Put into names by torch.compile, FSDP and activation checkpointing: no model has children called so.
_INNER_WRAPPERS = frozenset({"_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"})
# Put in front of names by DataParallel, DDP, DeepSpeed and Megatron.
_OUTER_WRAPPER = "module"


def components(name: str) -> list[str]:
    """Dotted components; one trailing dot is ignored, as model/config does."""
    parts = name.split(".")
    if parts[-1] == "":
        parts.pop()
    return parts


def bare_name(name: str) -> str:
    """`name` without what wrappers put into it: "module.blocks.0._checkpoint_wrapped_module.fc" -> "blocks.0.fc"."""
    parts = [part for part in components(name) if part not in _INNER_WRAPPERS]
    first = 0
    while first < len(parts) and parts[first] == _OUTER_WRAPPER:
        first += 1
    return ".".join(parts[first:])

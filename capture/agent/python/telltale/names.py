# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of modules and parameters. Pure Python, no torch. Thread: any."""

from __future__ import annotations

# Put into names by torch.compile, FSDP and activation checkpointing: no model has children called so.
_INNER_WRAPPERS = frozenset({"_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"})
# Put in front of names by DataParallel, DDP, DeepSpeed and Megatron.
_OUTER_WRAPPER = "module"

# msprobe's rules, first that applies wins: a component that is one of these (or starts with it), and must it have more
# behind it?
_SQUASH_RULES = (
    (("layer", "layers"), True),
    (("embedding", "embeddings"), True),
    (("final",), False),
    (("output",), False),
    (("norm",), False),
)


def components(name: str) -> list[str]:
    """Dotted components; one trailing dot is ignored, as model/config does."""
    parts = name.split(".")
    if parts[-1] == "":
        parts.pop()
    return parts


def listed(names: list[str]) -> str:
    """The first names of a list that may be long, as the series have them, and how many more there are."""
    rest = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(bare_name(name) or name for name in names[:5]) + rest


def bare_name(name: str) -> str:
    """`name` without what wrappers put into it: "module.blocks.0._checkpoint_wrapped_module.fc" -> "blocks.0.fc"."""
    parts = [part for part in components(name) if part not in _INNER_WRAPPERS]
    first = 0
    while first < len(parts) and parts[first] == _OUTER_WRAPPER:
        first += 1
    return ".".join(parts[first:])


def wrapper_of(name: str) -> str | None:
    """Name of what torch.compile, FSDP or activation checkpointing wrapped the module `name` in, None where none did:
    "fc._checkpoint_wrapped_module" -> "fc"."""
    outer, _, last = name.rpartition(".")
    return outer if last in _INNER_WRAPPERS else None


def squash_name(name: str) -> str:
    """msprobe's short form of a name: from the last component that is layer(s) or embedding(s), else that starts with
    final, output or norm; a name without one stays as it is. The first component never counts."""
    parts = name.split(".")
    for words, is_whole in _SQUASH_RULES:
        for i in range(len(parts) - 1, 0, -1):
            if (parts[i] in words and i + 1 < len(parts)) if is_whole else parts[i].startswith(words):
                return ".".join(parts[i:])
    return name

# SPDX-License-Identifier: GPL-3.0-or-later
"""Which parameters and modules the config's targets select, by the rules of model/config: a target selects the object
it names and everything below it by dotted component; `*` and `?` are globs within one component. Names match with and
without what wrappers put into them. Pure Python, no torch. Thread: any."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping

from ..names import bare_name, components

_CHUNK = re.compile(r"(\d+):")
_NUMBER = re.compile(r"-?\d+")

# msprobe's rules, first that applies wins: a component that is one of these (or starts with it), and must it have more
# behind it?
_SQUASH_RULES = (
    (("layer", "layers"), True),
    (("embedding", "embeddings"), True),
    (("final",), False),
    (("output",), False),
    (("norm",), False),
)


def component_matches(glob: str, text: str) -> bool:
    """Glob of one dotted component: `*` any run, `?` any one character. Never worse than len(glob) * len(text): globs
    come from the network too."""
    if "*" not in glob and "?" not in glob:
        return glob == text
    g = t = resume = 0
    star = -1
    while t < len(text):
        if g < len(glob) and glob[g] == "*":
            star = g
            g += 1
            resume = t
        elif g < len(glob) and glob[g] in ("?", text[t]):
            g += 1
            t += 1
        elif star >= 0:
            g = star + 1
            resume += 1
            t = resume
        else:
            return False
    return not glob[g:].strip("*")


def target_matches(target: str, name: str) -> bool:
    """Does dotted `name` fall under `target`, both taken as written? Equal to telltale::config::targetMatches."""
    wanted = components(target)
    have = components(name)
    return len(wanted) <= len(have) and all(map(component_matches, wanted, have))


def split_chunk(name: str) -> tuple[int | None, str]:
    """ "1:blocks.0" -> (1, "blocks.0"); a name without a chunk -> (None, name)."""
    found = _CHUNK.match(name)
    return (int(found.group(1)), name[found.end() :]) if found else (None, name)


def squash_name(name: str) -> str:
    """msprobe's short form of a name: from the last component that is layer(s) or embedding(s), else that starts with
    final, output or norm; a name without one stays as it is. The first component never counts."""
    parts = name.split(".")
    for words, is_whole in _SQUASH_RULES:
        for i in range(len(parts) - 1, 0, -1):
            if (parts[i] in words and i + 1 < len(parts)) if is_whole else parts[i].startswith(words):
                return ".".join(parts[i:])
    return name


def squashed_names(names: Iterable[str]) -> dict[str, str]:
    """Full name -> short name for names in registration order; a name whose short form is already taken keeps its full
    form, as msprobe names parameters (so the result depends on the order)."""
    short: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        squashed = squash_name(name)
        short[name] = name if squashed in taken else squashed
        taken.add(short[name])
    return short


def _number_after(text: str, mark: str) -> int:
    """The number after the last `mark`, 0 without one: "output_2" after "_", "tuple[3]:2" after ":"."""
    head, found, tail = text.rpartition(mark)
    number = _NUMBER.match(tail) if found else None
    return int(number.group()) if number else 0


def selects_slot(selection: Mapping[str, str], slot: str, gradient: bool) -> bool:
    """Does a target's selection ask for this slot ("input", "output_1") or for its gradient? {} asks for everything,
    {"output": "tuple[2]:1"} for output_1 alone. Equal to telltale::config::selectsSlot."""
    if not selection:
        return True
    side = slot.partition("_")[0] + ("_grad" if gradient else "")
    spec = selection.get(side)
    return isinstance(spec, str) and _number_after(spec, ":") == _number_after(slot, "_")


class _Target:
    """One key of `targets`, taken apart once."""

    __slots__ = ("text", "chunk", "forms", "selection", "has_matched")

    def __init__(self, text: str, selection: Mapping[str, str]) -> None:
        self.text = text
        self.chunk, path = split_chunk(text)
        bare = bare_name(path)
        # A target that is nothing but wrapper names keeps them: it must not turn into "everything".
        self.forms = {path, bare} if bare or not path else {path}
        self.selection = selection
        self.has_matched = False

    def matches(self, forms: Iterable[str], chunk: int) -> bool:
        if self.chunk is not None and self.chunk != chunk:
            return False
        return any(target_matches(mine, name) for mine in self.forms for name in forms)

    def names_itself(self, forms: Iterable[str], chunk: int) -> bool:
        """Matches the object itself, not something above it."""
        return self.matches(forms, chunk) and any(
            len(components(mine)) == len(components(name)) for mine in self.forms for name in forms
        )


class TargetSet:
    """The config's `targets` (or one list of `l2_targets`). An empty set selects everything."""

    def __init__(self, targets: Mapping[str, Mapping[str, str]] | Iterable[str], squash: bool = False) -> None:
        """squash: also match msprobe's short names, for configs that were written with them."""
        pairs: Iterable[tuple[str, Mapping[str, str]]]
        pairs = targets.items() if isinstance(targets, Mapping) else ((name, {}) for name in targets)
        self._targets = [_Target(text, selection or {}) for text, selection in pairs]
        self._squash = squash

    def __len__(self) -> int:
        return len(self._targets)

    def _forms(self, name: str) -> set[str]:
        forms = {name, bare_name(name)}
        if self._squash:
            forms |= {squash_name(form) for form in tuple(forms)}
        return forms

    def selects(self, name: str, vpp_stage: int = 0) -> bool:
        """Is the parameter or module `name` of this model chunk selected? Remembers which targets matched."""
        if not self._targets:
            return True
        forms = self._forms(name)
        is_selected = False
        for target in self._targets:
            if target.matches(forms, vpp_stage):
                target.has_matched = True
                is_selected = True
        return is_selected

    def selects_slot(self, name: str, slot: str, gradient: bool = False, vpp_stage: int = 0) -> bool:
        """Is this slot of module `name` selected? The selection of a target that names the module exactly decides; else
        those of globs that name it, any of them; a module below a target has all its slots."""
        if not self.selects(name, vpp_stage):
            return False
        forms = self._forms(name)
        naming = [target for target in self._targets if target.names_itself(forms, vpp_stage)]
        exact = [target for target in naming if target.forms & forms] or naming
        return not exact or any(selects_slot(target.selection, slot, gradient) for target in exact)

    def names(self, name: str, vpp_stage: int = 0) -> bool:
        """Does a target name this object itself, not something above it? Remembers which targets matched."""
        forms = self._forms(name)
        naming = [target for target in self._targets if target.names_itself(forms, vpp_stage)]
        for target in naming:
            target.has_matched = True
        return bool(naming)

    def unmatched(self) -> list[str]:
        """Targets that have matched nothing so far, as the user wrote them."""
        return [target.text for target in self._targets if not target.has_matched]

    def unmatched_sentences(self, names: Iterable[str], what: str = "parameter or module") -> list[str]:
        """A sentence for each target that matched nothing, with the nearest of `names` (those asked about)."""
        known = list(dict.fromkeys(bare_name(name) for name in names if name))
        sentences = []
        for text in self.unmatched():
            near = nearest_names(bare_name(split_chunk(text)[1]) or text, known)
            hint = f"; near it: {', '.join(near)}" if near else ""
            sentences.append(f'the target "{text}" matches no {what}{hint}')
        return sentences


def nearest_names(wrong: str, names: Iterable[str], limit: int = 3) -> list[str]:
    """Up to `limit` of `names` that look most like `wrong`: those that end in it or contain its last component first,
    then by likeness of the text."""
    known = list(names)
    tail = components(wrong)[-1] if components(wrong) else wrong
    same_end = [name for name in known if name.endswith("." + wrong)]
    close = difflib.get_close_matches(wrong, known, n=limit, cutoff=0.6)
    same_tail = [name for name in known if tail in components(name)] if not close else []
    return list(dict.fromkeys(same_end + close + same_tail))[:limit]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Which parameters and modules the config's targets select, by the rules of model/config: a target selects the object
it names and everything below it by dotted component; `*` and `?` are globs within one component. Names match with and
without what wrappers put into them. Pure Python, no torch. Thread: any."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..names import bare_name, components, squash_name
from ..slots import Slot

_CHUNK = re.compile(r"(\d+):")
_NUMBER = re.compile(r"-?\d+")

# What names.squash_name() was before msprobe 8.2: anywhere in the name, first that applies wins; a group is kept, else
# what matches.
_OLD_SQUASH = (r"layers?\.(.*)", r"embeddings?\.(.*)", r"final.*", r"output.*", r"norm.*")


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


def old_squash_name(name: str) -> str:
    """msprobe's short form before 8.2: "layers.63.mlp.linear_fc2" -> "63.mlp.linear_fc2"."""
    for pattern in _OLD_SQUASH:
        found = re.search(pattern, name)
        if found:
            return found.group(found.re.groups) or name
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


def _number_after_colon(text: str) -> int:
    """2 of "tuple[3]:2", 0 without a colon."""
    _, found, tail = text.rpartition(":")
    number = _NUMBER.match(tail) if found else None
    return int(number.group()) if number else 0


@dataclass(frozen=True)
class Place:
    """Where a tensor stands among what a module was given or gave."""

    position: int  # as the training code wrote it: 1 for the tensor of (None, t)
    ordinal: int  # among the tensors alone, which is how slots are numbered


def selects_slot(selection: Mapping[str, str], slot: Slot, gradient: bool, place: Place | None = None) -> bool:
    """Does a target's selection ask for this input or output, or for its gradient? {} asks for everything,
    {"output": "tuple[2]:1"} for element 1 alone. Without a place the slot's number stands for it, as in
    telltale::config::selectsSlot."""
    if not selection:
        return True
    side = slot.role.word + ("_grad" if gradient else "")
    spec = selection.get(side)
    if not isinstance(spec, str):
        return False
    if place is None:
        return _number_after_colon(spec) == max(slot.number, 0)
    # print_struct writes "list[n]" of inputs, in which tensors alone are counted; "tensor" is the first one.
    by_tensors = spec == "tensor" or (spec.startswith("list") and side.startswith("input"))
    return _number_after_colon(spec) == (place.ordinal if by_tensors else place.position)


Forms = tuple[frozenset[str], ...]  # a name as it is, as msprobe shortens it, as it did before 8.2


class _Target:
    """One key of `targets`, taken apart once."""

    __slots__ = ("text", "chunk", "forms", "selection", "has_matched", "generation")

    def __init__(self, text: str, selection: Mapping[str, str]) -> None:
        self.text = text
        self.chunk, path = split_chunk(text)
        bare = bare_name(path)
        # A target that is nothing but wrapper names keeps them: it must not turn into "everything".
        self.forms = {path, bare} if bare or not path else {path}
        self.selection = selection
        self.has_matched = False
        self.generation = 0

    def matches(self, forms: Forms, chunk: int) -> bool:
        return self.matches_as(self.generation, forms, chunk)

    def matches_as(self, generation: int, forms: Forms, chunk: int) -> bool:
        """With names read in one of the ways that _Forms has."""
        if self.chunk is not None and self.chunk != chunk:
            return False
        return any(target_matches(mine, name) for mine in self.forms for name in forms[generation])

    def names_itself(self, forms: Forms, chunk: int) -> bool:
        """Matches the object itself, not something above it."""
        return self.matches(forms, chunk) and any(
            len(components(mine)) == len(components(name)) for mine in self.forms for name in forms[self.generation]
        )


class TargetSet:
    """The config's `targets` (or one list of `l2_targets`). An empty set selects everything."""

    def __init__(
        self,
        targets: Mapping[str, Mapping[str, str]] | Iterable[str],
        names: Iterable[tuple[int, str]] = (),
    ) -> None:
        """names: (chunk, name) of all parameters and modules. A target that matches none of them as they are is read
        as one of msprobe's short names, since configs are written from its output: of today's, else of those before
        8.2."""
        pairs: Iterable[tuple[str, Mapping[str, str]]]
        pairs = targets.items() if isinstance(targets, Mapping) else ((name, {}) for name in targets)
        self._targets = [_Target(text, selection or {}) for text, selection in pairs]
        self._known: dict[str, Forms] = {}
        if self._targets:
            self._choose_generations(list(names))

    def _choose_generations(self, names: list[tuple[int, str]]) -> None:
        for target in self._targets:
            for generation in range(3):
                if any(target.matches_as(generation, self._forms(name), chunk) for chunk, name in names):
                    target.generation = generation
                    break

    def reading(self) -> str:
        """A sentence on targets that were taken for msprobe's short names, "" when none was."""
        short = [target.text for target in self._targets if target.generation]
        if not short:
            return ""
        names = f'"{short[0]}"' + (f" and {len(short) - 1} more" if len(short) > 1 else "")
        return f"{names} match no name as they stand and are read as the short names that msprobe writes"

    def __len__(self) -> int:
        return len(self._targets)

    def _forms(self, name: str) -> Forms:
        forms = self._known.get(name)
        if forms is None:
            plain = frozenset((name, bare_name(name)))
            short = frozenset(map(squash_name, plain))
            forms = self._known[name] = (plain, short, frozenset(map(old_squash_name, plain)))
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

    def selects_slot(
        self, name: str, slot: Slot, gradient: bool = False, vpp_stage: int = 0, place: Place | None = None
    ) -> bool:
        """Is this slot of module `name` selected? The selection of a target that names the module exactly decides; else
        those of globs that name it, any of them; a module below a target has all its slots."""
        if not self.selects(name, vpp_stage):
            return False
        selections = self.selections(name, vpp_stage)
        return not selections or any(selects_slot(selection, slot, gradient, place) for selection in selections)

    def selections(self, name: str, vpp_stage: int = 0) -> list[Mapping[str, str]]:
        """What the targets that name this module itself ask for."""
        forms = self._forms(name)
        naming = [target for target in self._targets if target.names_itself(forms, vpp_stage)]
        exact = [target for target in naming if target.forms & forms[target.generation]] or naming
        return [target.selection for target in exact]

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

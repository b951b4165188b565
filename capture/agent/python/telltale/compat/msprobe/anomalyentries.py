# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads rank{R}/anomaly.json, msprobe's or Telltale's, an entry at a time."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TextIO

FILE_NAME = "anomaly.json"
_PIECE = 1 << 20  # characters read at once
_LONGEST = 1 << 24  # characters that one entry may have
_SPACE = re.compile(r"[ \t\n\r]*")


class Entry(NamedTuple):
    """One alert. The fields, their order and their defaults are msprobe's."""

    rank: int = 0
    step: int = 0
    micro_step: int = 0
    pp_stage: int = 0
    vpp_stage: int = 0
    call_id: int = 0
    tag_name: str = ""
    message: str = ""
    group_mates: Any = None

    @property
    def key(self) -> str:
        return f"{self.tag_name}_step_{self.step}_call_{self.call_id}"


_WHOLE = Entry._fields[:6]
_TEXTS = ("tag_name", "message")


class Damage(Exception):
    """Says from where on a file is no anomaly.json."""


def files_below(folder: str) -> list[str]:
    """Every */anomaly.json of a folder, by rank. OSError when the folder cannot be read."""
    names = [name for name in os.listdir(folder) if os.path.exists(os.path.join(folder, name, FILE_NAME))]

    def by_number(name: str) -> tuple[int, str]:
        digits = re.search(r"\d+$", name)
        return (int(digits[0]) if digits else -1, name)

    return [os.path.join(folder, name, FILE_NAME) for name in sorted(names, key=by_number)]


def read_entries(path: str, complain: Callable[[str], object]) -> Iterator[Entry]:
    """The entries of one file as far as they can be read; one sentence for what cannot. Other fields than msprobe's are
    passed over. Memory: one entry's."""
    count, left_out, example = 0, 0, ""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for key, value in _pairs(file):
                count += 1
                fault = _fault(value)
                if fault:
                    left_out += 1
                    example = example or f'"{_short(key)}" {fault}'
                else:
                    yield Entry(**{name: value[name] for name in Entry._fields if name in value})
    except Damage as damage:
        complain(f"{path} {damage}; the {count} entries before that are analysed")
    except OSError as error:
        complain(f"{path} cannot be read: {error.strerror or error}; it is left out")
    if left_out:
        complain(f"{path}: {left_out} of {count} entries are left out, the first because {example}")


def _fault(value: Any) -> str:
    if not isinstance(value, dict):
        return "is no object"
    if "step" not in value or "tag_name" not in value:
        return "has no step or no tag_name"
    for name in _WHOLE:
        number = value.get(name, 0)
        if type(number) is not int or abs(number) >= 1 << 53:
            return f"has the {name} {_short(json.dumps(number))}, which is no whole number that counts anything"
    for name in _TEXTS:
        if not isinstance(value.get(name, ""), str):
            return f"has a {name} that is no text"
    return ""


def _short(text: str) -> str:
    return text if len(text) <= 100 else text[:100] + "..."


def _pairs(file: TextIO) -> Iterator[tuple[str, Any]]:
    """(key, value) of a JSON object, read piece by piece; a piece that ends inside an entry grows until it does not."""
    text = file.read(_PIECE)
    at = _skip(text, 0)
    if text[at : at + 1] != "{":
        raise Damage("is empty" if at == len(text) else "does not begin with { as a JSON object does")
    at += 1
    first = True
    while True:
        try:
            found = _pair(text, at, first)
        except RecursionError:
            raise Damage("is nested too deeply") from None
        except (ValueError, IndexError):
            more = file.read(max(_PIECE, len(text) - at)) if len(text) - at <= _LONGEST else ""
            if not more:
                ended = len(text) - at <= _LONGEST and not file.read(1)
                raise Damage(
                    "ends in the middle or is damaged" if ended else f"has no entry's end in {_LONGEST} characters"
                ) from None
            text, at = text[at:] + more, 0
            continue
        if found is None:
            return
        key, value, at = found
        first = False
        yield key, value


_decode = json.JSONDecoder().raw_decode


def _pair(text: str, at: int, first: bool) -> tuple[str, Any, int] | None:
    """The next key, value and end; None at the object's end. ValueError or IndexError when the text does not hold it
    whole."""
    at = _skip(text, at)
    if text[at] == "}":
        return None
    if not first:
        at = _skip(text, _after(text, at, ","))
    key, at = _decode(text, at)
    if not isinstance(key, str):
        raise ValueError
    value, at = _decode(text, _skip(text, _after(text, _skip(text, at), ":")))
    at = _skip(text, at)
    if text[at : at + 1] not in (",", "}") and (at < len(text) or not isinstance(value, dict)):
        raise ValueError  # a number at the text's end may go on
    return key, value, at


def _after(text: str, at: int, sign: str) -> int:
    if text[at] != sign:
        raise ValueError
    return at + 1


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever people keep their settings in, as plain JSON of bounded size that says the same from run to run."""

from __future__ import annotations

import dataclasses
import math
import re
import sys
from collections.abc import Mapping
from typing import Any

MOST_LEAVES = 4000
MOST_BYTES = 256 << 10
_DEEPEST = 8
_LONGEST_TEXT = 400
_LONGEST_LIST = 64
_LARGEST = 1 << 53
_HIDDEN = "***"
# What is called so is no setting but a key to something. A pad_token or max_tokens is not.
_SECRET = re.compile(
    r"(api|access|secret|private|auth|hub|hf|wandb|login|bearer)[_-]?(key|token)|^token$|passw(or)?d|^passwd$"
    r"|secret|credential",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
# In a command line: --token=x, "--api-key x", telltale://host#token=x, https://user:password@host
_INLINE = re.compile(r"(?i)\b(token|password|passwd|secret|api[_-]?key|access[_-]?key)=[^&\s#]+")
_USER = re.compile(r"(://)[^/@\s]+@")


def is_secret(name: str) -> bool:
    """Whether a setting of this name is one that nobody should read in a run."""
    return _SECRET.search(name) is not None


def without_secrets(text: str) -> str:
    """Text whose parts that look like keys and passwords are hidden."""
    return _USER.sub(r"\1***@", _INLINE.sub(lambda found: f"{found.group(1)}={_HIDDEN}", text))


class Plain:
    """Makes values plain, at most so many leaves and bytes over all calls. Thread: any one at a time."""

    def __init__(self) -> None:
        self.left_out = 0  # values for which there was no room
        self._leaves = 0
        self._bytes = 0

    def mapping(self, values: Any) -> dict[str, Any] | None:
        """A dict, Namespace, dataclass or the like as plain dicts; None where it is nothing of the kind."""
        fields = _fields_of(values)
        return None if fields is None else self._mapping(fields, 0, ())

    def _mapping(self, fields: Mapping[Any, Any], depth: int, above: tuple[int, ...]) -> dict[str, Any]:
        above += (id(fields),)
        plain: dict[str, Any] = {}
        for key, value in fields.items():
            name = key if isinstance(key, str) else _text(key)
            plain[name[:_LONGEST_TEXT]] = (
                _HIDDEN if isinstance(value, str) and value and is_secret(name) else self._value(value, depth, above)
            )
            self._bytes += len(name)
            if self._leaves > MOST_LEAVES or self._bytes > MOST_BYTES:
                del plain[name[:_LONGEST_TEXT]]
                self.left_out += 1
        return plain

    def _value(self, value: Any, depth: int, above: tuple[int, ...]) -> Any:
        if id(value) in above:
            return self._leaf("(itself)")
        inside = None if isinstance(value, type) else _fields_of(value)
        if inside is not None:
            return self._mapping(inside, depth + 1, above + (id(value),)) if depth < _DEEPEST else self._leaf("{...}")
        if isinstance(value, (list, tuple, set, frozenset)) and depth < _DEEPEST:
            entries = sorted(value, key=_text) if isinstance(value, (set, frozenset)) else list(value)
            plain = [self._value(one, depth + 1, above + (id(value),)) for one in entries[:_LONGEST_LIST]]
            if len(entries) > _LONGEST_LIST:
                plain.append(f"... {len(entries) - _LONGEST_LIST} more")
            return plain
        return self._leaf(_scalar(value))

    def _leaf(self, value: Any) -> Any:
        self._leaves += 1
        self._bytes += len(value) if isinstance(value, str) else 8
        return value


def merge(into: dict[str, Any], more: dict[str, Any]) -> None:
    """Adds plain values; of what both have the later counts, dicts are merged."""
    for name, value in more.items():
        known = into.get(name)
        if isinstance(known, dict) and isinstance(value, dict):
            merge(known, value)
        else:
            into[name] = value


def _fields_of(value: Any) -> Mapping[Any, Any] | None:
    try:
        if isinstance(value, Mapping):
            return value
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        if type(value).__name__ in ("Namespace", "SimpleNamespace", "Values"):
            return dict(vars(value))
        if type(value).__name__ in ("DictConfig", "ConfigDict", "EasyDict", "AttrDict"):
            return dict(value.items())
    except Exception:  # noqa: BLE001 - whatever it is, it becomes text
        return None
    return None


def _scalar(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    try:
        if isinstance(value, int):
            return int(value) if abs(value) <= _LARGEST else _text(int(value))
        if isinstance(value, float):
            number = float(value)
            return number if math.isfinite(number) else repr(number)
        if isinstance(value, str):
            return str.__str__(value)[:_LONGEST_TEXT]
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(value, numpy.generic):
            return _scalar(value.item())
    except Exception:  # noqa: BLE001
        pass
    return _text(value)


def _text(value: Any) -> str:
    """An odd value in words; a tensor's elements are not looked at, since that would wait for its device."""
    try:
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(value, torch.Tensor):
            return f"tensor {list(value.shape)} {value.dtype}"
        if isinstance(value, type) or callable(value) and hasattr(value, "__qualname__"):
            return f"{value.__module__}.{value.__qualname__}"[:_LONGEST_TEXT]
        if hasattr(value, "shape") and hasattr(value, "dtype"):
            return f"array {list(value.shape)} {value.dtype}"
        return _ADDRESS.sub("", str(value))[:_LONGEST_TEXT]
    except Exception:  # noqa: BLE001 - a value whose own text fails
        return f"({type(value).__name__})"

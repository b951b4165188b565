# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether what a row names is in the code now, and how a page names it. Needs neither torch nor MindSpore: functions
are looked up in the source, not imported."""

from __future__ import annotations

import ast
import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parents[1] / "telltale"
ROOT = PACKAGE.parents[3]
REFERENCE = {"en": "config.md", "zh_CN": "config.zh_CN.md"}


def exists(place: str) -> bool:
    """Whether all of a row's places are there."""
    return all(_exists(*one.split(":", 1)) for one in place.split(" + "))


def _exists(kind: str, what: str) -> bool:
    if kind == "none":
        return False
    if kind == "field":
        return field(what) is not None
    if kind == "python":
        return found(what) is not None
    if kind == "argument":
        function, _, name = what.partition(":")
        return name in arguments(function)
    if kind == "monitor":
        return what in _documented_arguments()
    if kind == "verb":
        verb, *flags = what.split()
        path = ROOT / "app" / "main" / f"verb_{verb}.cpp"
        return path.is_file() and all(f'{{ "{flag}", ' in _text(path) for flag in flags)
    if kind == "module":
        module, *flags = what.split()
        path = module_file(module)
        return path is not None and all(f'"{flag}"' in _text(path) for flag in flags)
    if kind == "word":
        return any(re.search(rf"(?<!\w){re.escape(what)}(?!\w)", one) for one in _texts_in("**/*.py"))
    if kind == "metric":
        texts = _texts_in("integrations/mindformers/*.py") | _texts_in("rates.py")
        return any(one == what or one.startswith(what + "/") for one in texts)
    raise ValueError(f"no kind of place is called {kind!r}")


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def _texts_in(pattern: str) -> frozenset[str]:
    """Every text that modules have in them, what describes them apart."""
    found_texts: set[str] = set()
    for path in PACKAGE.glob(pattern):
        tree = ast.parse(_text(path))
        said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
                found_texts.add(node.value)
    return frozenset(found_texts)


@cache
def schema() -> dict[str, Any]:
    return json.loads(_text(PACKAGE / "monitor-config.schema.json"))


def field(name: str) -> dict[str, Any] | None:
    """A field of the config by its path ("alert.dump"), also of what a list has ("alert.rules.rule_name")."""
    at: dict[str, Any] | None = schema()
    for part in name.split("."):
        at = None if at is None else at.get("items", at).get("properties", {}).get(part)
    return at


@cache
def headings(language: str) -> frozenset[str]:
    """Of the reference of fields."""
    lines = _text(ROOT / "resources" / "reference" / REFERENCE[language]).splitlines()
    return frozenset(line[4:] for line in lines if line.startswith("### "))


def anchor(name: str, language: str) -> str:
    """Where a field is in the reference, as GitHub and its like name headings: its own, or that of what it is in."""
    while name not in headings(language) and "." in name:
        name = name.rpartition(".")[0]
    return name.replace(".", "")


def module_file(name: str) -> Path | None:
    path = PACKAGE.parent / Path(*name.split("."))
    return next((one for one in (path.with_suffix(".py"), path / "__init__.py") if one.is_file()), None)


def found(name: str, depth: int = 0) -> ast.AST | None:
    """The definition of a dotted name, through the names that packages pass on and the classes beneath a class."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        path = module_file(".".join(parts[:cut]))
        if path is not None:
            package = parts[:cut] if path.name == "__init__.py" else parts[: cut - 1]
            return _in_module(path, package, parts[cut:], depth)
    return None


def _in_module(path: Path, package: list[str], names: list[str], depth: int) -> ast.AST | None:
    tree: ast.AST = ast.parse(_text(path))
    if not names or depth > 8:
        return tree if not names else None
    passed_on: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            passed_on |= {alias.asname or alias.name: f"{base}.{alias.name}" for alias in node.names}
    for node in getattr(tree, "body", []):
        if getattr(node, "name", None) == names[0]:
            return _inside(node, names[1:], passed_on, depth)
    if names[0] in passed_on:
        return found(".".join([passed_on[names[0]], *names[1:]]), depth + 1)
    return None


def _inside(node: ast.AST, names: list[str], passed_on: dict[str, str], depth: int) -> ast.AST | None:
    if not names:
        return node
    for child in getattr(node, "body", []):
        targets = [getattr(child, "target", None), *getattr(child, "targets", [])]
        if names[0] in (getattr(child, "name", None), *(getattr(one, "id", None) for one in targets)):
            if names[0] == "__init__" and not _named(child):
                break  # it passes everything on to the class above
            return child
    for base in getattr(node, "bases", []):
        word = base.id if isinstance(base, ast.Name) else ""
        inherited = found(".".join([passed_on[word], *names]), depth + 1) if word in passed_on else None
        if inherited is not None:
            return inherited
    return None


def arguments(function: str) -> list[str]:
    """Of a function, a class's __init__, or the fields of a dataclass."""
    node = found(function)
    if isinstance(node, ast.ClassDef):
        fields = [one.target.id for one in node.body if isinstance(one, ast.AnnAssign) and hasattr(one.target, "id")]
        return _named(found(f"{function}.__init__")) or fields
    return _named(node)


def _named(node: ast.AST | None) -> list[str]:
    given = getattr(node, "args", None)
    names = [one.arg for one in (*given.args, *given.kwonlyargs)] if given is not None else []
    return [name for name in names if name not in ("self", "cls")]


@cache
def _documented_arguments() -> frozenset[str]:
    """What set_monitor() takes by name, which Python's signature of it does not say."""
    tree = ast.parse(_text(next(PACKAGE.rglob("arguments.py"))))
    values = [node.value for node in tree.body if isinstance(node, ast.Assign)]
    return frozenset({"model", *(name for value in values for name in ast.literal_eval(value))})


def shown(place: str, language: str) -> str:
    """How a page names a place."""
    return "<br>".join(_shown(*one.split(":", 1), language) for one in place.split(" + "))


def _shown(kind: str, what: str, language: str) -> str:
    if kind == "field":
        default = (field(what) or {}).get("default")
        words = {"en": "default", "zh_CN": "默认"}[language]
        link = f"[`{what}`](../../../../../resources/reference/{REFERENCE[language]}#{anchor(what, language)})"
        return f"config {link}" + ("" if default is None else f", {words} `{json.dumps(default)}`")
    if kind == "argument":
        function, _, name = what.partition(":")
        return f"`{function}({name}=)`"
    if kind == "monitor":
        return f"`telltale.pytorch.TrainerMon.set_monitor({what}=)`"
    if kind == "python":
        return f"`{what}`"
    if kind == "verb":
        return f"`telltale {what}`"
    if kind == "module":
        return f"`python -m {what}`"
    return f"`{what}`"


if __name__ == "__main__":  # for who wants to know of one
    print(exists(sys.argv[1]))

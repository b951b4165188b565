# SPDX-License-Identifier: GPL-3.0-or-later
"""Every module of the package can be imported first, and no module imports itself by a detour."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import telltale

ROOT = Path(telltale.__file__).parent
OPTIONAL = ("telltale.integrations", "telltale.demo", "telltale.mindspore")  # of frameworks that need not be there


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


def imported(name: str, tree: ast.AST, is_package: bool) -> set[str]:
    """The package's modules that one names: at its top, inside a function, or for its types alone (TYPE_CHECKING). What
    two modules need of each other, be it a type, belongs into one beneath both."""
    found: set[str] = set()
    package = name if is_package else name.rpartition(".")[0]
    left = [tree]
    while left:
        node = left.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            # `from . import x` asks for the module x, where there is one, and for nothing else of the package.
            found |= {f"{base}.{alias.name}" if f"{base}.{alias.name}" in MODULES else base for alias in node.names}
        left += list(ast.iter_child_nodes(node))
    return (found & MODULES.keys()) - {name}


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Modules that import each other in turn; [] where there are none."""
    done: set[str] = set()

    def visit(name: str, way: list[str]) -> list[str]:
        if name in way:
            return [*way[way.index(name) :], name]
        if name in done:
            return []
        for other in sorted(graph[name]):
            if found := visit(other, [*way, name]):
                return found
        done.add(name)
        return []

    return next(filter(None, (visit(name, []) for name in graph)), [])


def test_no_module_imports_itself_by_a_detour() -> None:
    graph = {
        name: imported(name, ast.parse(path.read_text("utf-8")), path.name == "__init__.py")
        for name, path in MODULES.items()
    }
    assert len(graph["telltale.pytorch.engine"]) > 5  # the graph has edges
    assert imported("a.b", ast.parse("if TYPE_CHECKING:\n from telltale import kinds"), False) == {"telltale.kinds"}
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert circle(graph) == []


def test_every_module_can_be_the_first_one_imported() -> None:
    code = """
import sys, torch
for name in sys.argv[1:]:
    for known in [known for known in sys.modules if known.startswith("telltale")]:
        del sys.modules[known]
    try:
        __import__(name)
    except BaseException as error:
        print(name, type(error).__name__, error)
"""
    names = [n for n in MODULES if not n.startswith(OPTIONAL) and not n.endswith(("__main__", "telltale.msprobe"))]
    assert len(names) > 60
    done = subprocess.run([sys.executable, "-c", code, *names], capture_output=True, text=True, check=True)
    assert done.stdout == "" and done.stderr == ""

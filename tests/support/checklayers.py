#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares what each folder includes with what its target links, and both with the dependency rule; finds whoever
writes standard error past the logger, and classes that belong to one thread and do not assert it.

usage: checklayers.py SOURCE_DIR. Prints one line a finding; exit 1 when there is any.
"""

import re
import sys
from pathlib import Path

TOP = ("model", "capture", "views", "app")
MAY_USE = {"model": {"model"}, "capture": {"model", "capture"}, "views": {"model", "views"}, "app": set(TOP)}
QT_FREE = ["model/core", "model/stats", "model/config", "model/store", "model/series", "model/analysis", "model/judge", "model/lab",
           "model/exchange", "model/alerts", "model/archive",
           "capture/protocol", "capture/agent"]
# Who may write standard error: the logger, the line that says how far a verb is, the end of a program, the agent's one line, a demo that is a program itself.
SPEAKERS = ("app/main/log.cpp", "app/main/main.cpp", "app/main/progressline.cpp", "capture/agent/core/say.h", "capture/agent/demo/")
SPEAKS = re.compile(r"std::(?:cerr|clog)\b|\bstderr\b")
# Classes whose comment names one thread, and what of them is no class of its own: a value, or nothing but an interface.
THREADED = re.compile(r"((?:^[ ]*///[^\n]*\n)+)^class (\w+)[^;{]*\{(.*?)^\};", re.M | re.S)
ONE_THREAD = re.compile(r"Thread: (?:store|sender|capture(?! writes)|query|owned by one)\b")
GUI_THREAD = re.compile(r"Thread: (?:gui|main(?! makes))\b")
INCLUDE = re.compile(r'^\s*#\s*include\s*<([^>]+)>', re.M)
LIBRARY = re.compile(r'(?:telltale_library|telltale_headers|add_library|add_executable)\s*\(\s*([\w-]+)([^)]*)\)', re.S)
LINKS = re.compile(r'target_link_libraries\s*\(\s*([\w-]+)([^)]*)\)', re.S)


def folder_name(folder: Path) -> str:
    """The include prefix <telltale/NAME/...> of a folder."""
    special = {("agent", "core"): "agent", ("agent", "torch"): "torch", ("agent", "demo"): "demo"}
    return special.get((folder.parent.name, folder.name), folder.name)


def folders(root: Path) -> list[Path]:
    found = []
    for top in TOP:
        for cmake in sorted((root / top).rglob("CMakeLists.txt")):
            if cmake.parent != root / top and re.search(r"telltale_library|add_library|add_executable", cmake.read_text()):
                found.append(cmake.parent)
    return found


def linked(folder: Path) -> set[str]:
    """Names of the project's own targets that the folder's CMake files mention as dependencies."""
    names = set()
    for cmake in [folder / "CMakeLists.txt", *folder.glob("*.cmake")]:
        if not cmake.exists():
            continue
        text = re.sub(r"#.*", "", cmake.read_text())
        for _, body in LIBRARY.findall(text):
            names.update(re.findall(r"\btelltale_(\w+)\b", body))
        for _, body in LINKS.findall(text):
            names.update(re.findall(r"\btelltale_(\w+)\b", body))
    return names - {"options"}


def unguarded(header: str, own: str, code: str) -> list[str]:
    """Classes of a header that name their one thread and do not ask at any entry whether they are on it: in the source
    file beside the header, or, who has a ThreadHome, anywhere in the folder."""
    found = []
    for comment, name, body in THREADED.findall(header):
        thread = re.sub(r"\n\s*///\s*", " ", comment)
        if GUI_THREAD.search(thread) and "assertGuiThread();" not in body + own:
            found.append(name)
        if not ONE_THREAD.search(thread):
            continue
        if re.search(r"=\s*0;", body) and not re.search(r"\bm_\w+", body):
            continue
        home = re.search(r"^\s*ThreadHome (m_\w+);", body, re.M)
        if not home or home[1] + ".check()" not in body + code:
            found.append(name)
    return found


def main() -> int:
    root = Path(sys.argv[1])
    findings = []
    known = {folder_name(f): f for f in folders(root)}
    # The target of capture/agent/torch is telltale_agent_torch; its include prefix is torch.
    alias = {"agent_torch": "torch", "agentcore": "agent", "verbs": "main"}
    edges = {name: {alias.get(x, x) for x in linked(f)} for name, f in known.items()}

    def reach(name: str, seen: set[str]) -> set[str]:
        for other in edges.get(name, set()):
            if other not in seen:
                seen.add(other)
                reach(other, seen)
        return seen

    for name, folder in known.items():
        top = folder.relative_to(root).parts[0]
        usable = reach(name, {name})
        for other in sorted(usable - {name}):
            if other in known and known[other].relative_to(root).parts[0] not in MAY_USE[top]:
                findings.append(f"{folder.relative_to(root)} links telltale_{other}: {top} must not use "
                                f"{known[other].relative_to(root).parts[0]}")
        qt_free = any(folder.relative_to(root).as_posix().startswith(q) for q in QT_FREE)
        code = "".join(source.read_text() for source in folder.glob("*.cpp"))
        for source in sorted([*folder.glob("*.h"), *folder.glob("*.cpp")]):
            text = source.read_text()
            place = source.relative_to(root).as_posix()
            beside = source.with_suffix(".cpp")
            own = beside.read_text() if beside.exists() else ""
            for guilty in unguarded(text, own, code) if source.suffix == ".h" else []:
                findings.append(f"{place}: {guilty} names one thread and asserts none (threadhome.h, guithread.h)")
            if SPEAKS.search(re.sub(r"//.*", "", text)) and not place.startswith(SPEAKERS):
                findings.append(f"{place} writes standard error: writeLog() does, and agent::say() in a training")
            for header in INCLUDE.findall(text):
                where = f"{place} includes <{header}>"
                if header.startswith("telltale/"):
                    other = header.split("/")[1]
                    if other not in usable:
                        findings.append(f"{where}, but telltale_{name} does not link telltale_{other}")
                elif qt_free and re.match(r"Q[A-Z]|Qt", header):
                    findings.append(f"{where}, but {folder.relative_to(root)} is free of Qt")
                elif header.startswith("spdlog/") and place != "app/main/log.cpp":
                    findings.append(f"{where}: app/main/log.h is the way to it")
                elif header.startswith("torch/") and folder.name not in ("torch", "demo"):
                    findings.append(f"{where}: LibTorch belongs to capture/agent/torch and the demo")
    for finding in findings:
        print(finding)
    print(f"{len(known)} folders checked, {len(findings)} findings")
    return 1 if findings or not known else 0


if __name__ == "__main__":
    sys.exit(main())

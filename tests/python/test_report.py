# SPDX-License-Identifier: GPL-3.0-or-later
"""`telltale report`: one HTML file that says what the run says, and needs nothing else."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from serving import TELLTALE, Server
from twoattempts import record_two_attempts


class Page(HTMLParser):
    """What a page holds; fails where a tag is closed that was not open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def pictures(self) -> list[tuple[str, bytes]]:
        sources = [attributes["src"] or "" for tag, attributes in self.tags if tag == "img"]
        parts = [re.fullmatch(r"data:(image/[a-z+]+);base64,(.*)", source) for source in sources]
        return [(part[1], base64.b64decode(part[2], validate=True)) for part in parts if part]


def report(run: Path, out: Path, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(TELLTALE), "report", str(run), "-o", str(out), *words],
        capture_output=True, text=True, timeout=120,
        env=dict(os.environ, QT_QPA_PLATFORM="offscreen", XDG_RUNTIME_DIR=str(run.parent)),
    )  # fmt: skip
    assert done.returncode == code, done.stderr + done.stdout
    return done


def asked(*words: str) -> Any:
    return json.loads(subprocess.run([str(TELLTALE), *words, "--json"], capture_output=True, check=True).stdout)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record_two_attempts(tmp_path_factory.mktemp("run"))


def test_a_report_says_what_the_run_says_and_needs_nothing_else(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    report(run, out)
    text = out.read_text(encoding="utf-8")
    page = Page(text)
    [incident] = asked("incidents", str(run))[:1]
    assert incident["sentence"] in page.text and "demo-gpt" in page.text
    # Nothing goes on in a run that is not recorded any more: the window says so, too.
    for one in asked("incidents", str(run)):
        state = f"nothing new since step {one['last_step']}" if one["over"] else "not over at the run's end"
        assert f"rule {one['rule']}, {state}" in page.text
    assert "goes on" not in page.text
    assert '"wg_distribution": true' in page.text and "blocks.0" in page.text
    for record in asked("log", str(run)):
        assert record["text"] in page.text
    shown = page.pictures()
    assert len(shown) == 3 and len(shown) == len(re.findall("<img", text))
    for kind, data in shown:
        if kind == "image/png":
            assert data.startswith(b"\x89PNG")
        else:
            assert ElementTree.fromstring(data).tag.endswith("svg")
    assert "Heat map" in page.text and "Curves of blocks.0.mlp.fc1" in page.text
    # No address, no script, and a policy that would stop one.
    assert not re.search(r"(src|href)=\"(?!data:)", text) and "<script" not in text
    assert any("default-src 'none'" in (attributes.get("content") or "") for tag, attributes in page.tags)
    assert out.stat().st_size < 2_000_000


def test_one_incident_can_be_asked_for(run: Path, tmp_path: Path) -> None:
    incidents = asked("incidents", str(run))
    out = tmp_path / "one.html"
    report(run, out, "--incident", str(incidents[-1]["id"]))
    page = Page(out.read_text(encoding="utf-8"))
    assert incidents[-1]["sentence"] in page.text
    assert all(one["sentence"] not in page.text.split("About the run")[0] for one in incidents[:-1])
    refused = report(run, tmp_path / "none.html", "--incident", "4711", code=2)
    assert "no incident 4711" in refused.stderr and not (tmp_path / "none.html").exists()
    refused = report(run, tmp_path / "nowhere" / "x.html", code=1)
    assert "cannot write" in refused.stderr


def test_names_from_outside_stay_text(tmp_path: Path) -> None:
    hostile = "</title><script>alert(1)</script>\" onload='x' \x1b[31m\u202e & <b>"
    server = Server(tmp_path / "data")
    try:
        script = (
            "import sys, torch, telltale\n"
            "model = torch.nn.Linear(4, 4); optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
            "telltale.watch(model, optimizer, name=sys.argv[1], tags=[sys.argv[1][:40]], notes=sys.argv[1])\n"
            "telltale.hyperparameters({sys.argv[1]: sys.argv[1]})\n"
            "for step in range(4):\n"
            "    model(torch.ones(2, 4)).sum().backward(); optimizer.step()\n"
            "    telltale.log({sys.argv[1]: 1.0}, step=step)\n"
            "telltale.finish()\n"
        )
        environment = dict(os.environ, TELLTALE_JOIN=server.join, TELLTALE_DIR=str(tmp_path / "spool"))
        subprocess.run([sys.executable, "-c", script, hostile], check=True, env=environment, timeout=120)
    finally:
        server.stop()
    [run] = (tmp_path / "data").rglob("*.telltale")
    out = tmp_path / "report.html"
    report(run, out)
    text = out.read_text(encoding="utf-8")
    page = Page(text)
    assert "script" not in {tag for tag, _ in page.tags}
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert "\x1b" not in text and "\u202e" not in text and "alert(1)" in page.text

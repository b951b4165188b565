# SPDX-License-Identifier: GPL-3.0-or-later
"""What shells complete, and the manual page, are made of the same table as the verbs."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from serving import TELLTALE


def made(what: str) -> str:
    return subprocess.run([str(TELLTALE), "completions", what], capture_output=True, text=True, check=True).stdout


def verbs() -> list[str]:
    said = subprocess.run([str(TELLTALE), "--help"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^  ([a-z]+(?: [a-z]+)?) {2,}", said, re.MULTILINE)


def completed(folder: Path, *words: str) -> set[str]:
    """What bash offers for the last of the words."""
    script = folder / "complete.bash"
    script.write_text(
        made("bash") + "\n" + 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _telltale; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", str(script), "telltale", *words], capture_output=True, text=True, check=True, cwd=folder,
        env={"PATH": f"{TELLTALE.parent}:/usr/bin:/bin", "TELLTALE_DATA_DIR": str(folder)},
    )  # fmt: skip
    return set(done.stdout.split())


def test_bash_completes_verbs_options_and_files(tmp_path: Path) -> None:
    assert len(verbs()) > 15
    assert completed(tmp_path, "") >= {verb.split()[0] for verb in verbs()}
    assert completed(tmp_path, "config", "") >= {verb.split()[1] for verb in verbs() if verb.startswith("config ")}
    assert completed(tmp_path, "export", "--st") == {"--stat", "--steps"}
    (tmp_path / "mine.telltale").write_text("")
    assert completed(tmp_path, "show", "mi") == {"mine.telltale"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_verb_is_in_every_shell_and_its_syntax_is_right(shell: str, tmp_path: Path) -> None:
    text = made(shell)
    for verb in verbs():
        for word in verb.split():
            assert word in text, verb
    program = shutil.which(shell)
    if program:
        script = tmp_path / f"completions.{shell}"
        script.write_text(text)
        subprocess.run([program, "-n", str(script)], check=True)


def test_the_manual_page_has_every_verb_and_option() -> None:
    page = made("man")
    assert page.startswith(".TH TELLTALE 1")
    for verb in verbs():
        assert f"\n.SH {verb}\n" in page
        said = subprocess.run(
            [str(TELLTALE), *verb.split(), "--help"], capture_output=True, text=True, check=True
        ).stdout
        for option in re.findall(r"^  (--?[a-z-]+)", said, re.MULTILINE):
            assert option.replace("-", "\\-") in page, (verb, option)
    # Nothing but macros that are known begins a line with a point.
    assert {line.split()[0] for line in page.splitlines() if line.startswith(".")} <= {
        ".TH", ".SH", ".B", ".I", ".br", ".PP", ".nf", ".fi", ".TP",
    }  # fmt: skip
    refused = subprocess.run([str(TELLTALE), "completions", "csh"], capture_output=True, text=True)
    assert refused.returncode == 2 and "bash, zsh, fish or man" in refused.stderr

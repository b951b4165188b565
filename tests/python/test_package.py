# SPDX-License-Identifier: GPL-3.0-or-later
"""What pip makes of the package: with the native library, without it, and where it cannot be built."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import telltale

PACKAGE = Path(telltale.__file__).parents[1]


def build(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Builds a wheel into the folder, with its build tree beside it."""
    options = ["--no-deps", "--no-build-isolation", "--no-index", f"--config-settings=build-dir={folder / 'build'}"]
    return subprocess.run(
        [sys.executable, "-m", "pip", "wheel", *options, "-w", str(folder), str(PACKAGE)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )


def opened(folder: Path) -> zipfile.ZipFile:
    (wheel,) = folder.glob("*.whl")
    return zipfile.ZipFile(wheel)


def test_a_wheel_without_the_library_is_whole_but_for_it(tmp_path: Path) -> None:
    made = build(tmp_path, TELLTALE_WITHOUT_NATIVE="1")
    assert made.returncode == 0, made.stdout + made.stderr
    wheel = opened(tmp_path)
    names = set(wheel.namelist())
    sources = {path.relative_to(PACKAGE).as_posix() for path in (PACKAGE / "telltale").rglob("*.py")}
    assert sources <= names and {"telltale/py.typed", "telltale/monitor-config.schema.json"} <= names
    assert not [name for name in names if name.endswith(".so")]
    metadata = wheel.read(f"telltale-{telltale.__version__}.dist-info/METADATA").decode()
    needed = [line for line in metadata.splitlines() if line.startswith("Requires-Dist") and "extra" not in line]
    # Who trains with PyTorch has it, who trains with MindSpore wants none.
    assert needed == ["Requires-Dist: numpy>=1.20"]


def test_where_it_cannot_be_built_pip_says_what_to_install(tmp_path: Path) -> None:
    made = build(tmp_path, PKG_CONFIG_LIBDIR=str(tmp_path))
    assert made.returncode != 0
    said = " ".join((made.stdout + made.stderr).split())
    assert "missing libzstd-dev libpcre2-dev. On Debian 12: apt-get install libzstd-dev libpcre2-dev" in said
    assert "TELLTALE_WITHOUT_NATIVE=1" in said


@pytest.mark.long
def test_the_wheel_carries_a_library_that_needs_no_build_tree(tmp_path: Path) -> None:
    made = build(tmp_path)
    assert made.returncode == 0, made.stdout + made.stderr
    opened(tmp_path).extractall(tmp_path / "site")
    libraries = ("TELLTALE_AGENT_LIBRARY", "TELLTALE_READER_LIBRARY")
    environment = {name: value for name, value in os.environ.items() if name not in libraries}
    script = (
        "from telltale import native; from telltale.reading import binding\n"
        "print(native.library()._name, binding.library()._name); native.read_config('{}')"
    )
    said = subprocess.run(
        [sys.executable, "-c", script],
        env={**environment, "PYTHONPATH": str(tmp_path / "site")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    built = tmp_path / "site" / "telltale"
    assert said.split() == [str(built / "libtelltale_agent.so"), str(built / "libtelltale_reader.so")]

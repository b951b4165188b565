# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing of PyTorch is needed, and every module can be the first one imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import telltale

_CODE = """
import sys
import mindspore
for name in sys.argv[1:]:
    for known in [known for known in sys.modules if known.startswith("telltale")]:
        del sys.modules[known]
    try:
        __import__(name)
    except BaseException as error:
        print(name, type(error).__name__, error)
print("torch" in sys.modules)
"""


def test_no_module_needs_torch() -> None:
    root = Path(telltale.__file__).parent
    folders = ("agent", "mindspore", "sinks", "reading")
    names = [
        ".".join(("telltale", *path.relative_to(root).with_suffix("").parts)).removesuffix(".__init__")
        for folder in folders
        for path in sorted((root / folder).rglob("*.py"))
    ]
    assert len(names) > 50 and "telltale.mindspore" in names
    done = subprocess.run([sys.executable, "-c", _CODE, "telltale", *names], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"], done.stdout

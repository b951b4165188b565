# SPDX-License-Identifier: GPL-3.0-or-later
"""Records the trainings that a detector is judged by: real ones, into capsules, as scenarios.json lists them.

python tests/judge/record.py --scenario nan-weight --seed 3 --out DIR
python tests/judge/record.py --clean gpt --steps 1000 --seed 3 --out DIR
python tests/judge/record.py --demo cpp --scenario all --out DIR
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "python"))

from serving import BUILD, Server  # noqa: E402

TABLE = json.loads((Path(__file__).parent / "scenarios.json").read_text("utf-8"))


def attempts_of(entry: dict[str, Any]) -> list[list[str]]:
    """The arguments of each training of a run; most have one. A program of its own has its own model."""
    first = [] if "program" in entry else TABLE["arguments"]
    return [first + own for own in entry.get("attempts", [entry.get("arguments", [])])]


def of_cpp(entry: dict[str, Any]) -> dict[str, Any] | None:
    """The same scenario in the C++ demo, which trains one transformer alone: as its "cpp" says where that is another;
    nothing where it has none. Its model has other names."""
    mine = {key: value for key, value in entry.items() if key not in ("cpp", "attempts" if "cpp" in entry else "")}
    mine |= entry.get("cpp", {})
    if {"attempts", "program"} & mine.keys() or {"--ranks", "--model", "--amp"} & set(mine.get("arguments", [])):
        return None
    text = json.dumps(mine).replace("blocks.", "layers.").replace(".attn.core", ".attn")
    renamed: dict[str, Any] = json.loads(text)
    return renamed


def config_of(arguments: list[str], entry: dict[str, Any]) -> dict[str, Any]:
    """Everything, at every step; of a mixture of experts the routers, too."""
    if entry.get("gradients_alone"):
        return {"wg_distribution": True}
    config = TABLE["config"] | entry.get("config", {})
    if "moe" in arguments:
        layers = int([value for key, value in zip(arguments, arguments[1:]) if key == "--layers"][-1])
        routers = [f"blocks.{layer}.mlp.router" for layer in range(layers)]
        config["recording_l2_features"] = True
        config["l2_targets"] = {"moe_router_logit_hook": routers, "moe_router_weight_hook": routers}
    return config


def record(
    name: str,
    entry: dict[str, Any],
    seed: int,
    out: Path,
    steps: int | None = None,
    demo: str = "python",
    is_small: bool = False,
) -> list[Path]:
    """The capsules, named NAME-seedSEED.telltale."""
    program = [sys.executable, "-m", "telltale", "train-demo"]
    if "program" in entry:
        program = [sys.executable, str(Path(__file__).parent / entry["program"])]
    if demo == "cpp":
        program = [str(BUILD / "bin" / "telltale-demo-trainer")]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        places = {"folder": temporary, "most": str(3 * (steps or 0) // 4), "half": str((steps or 0) // 2)}
        server = Server(folder / "data")
        try:
            for number, arguments in enumerate(attempts_of(entry)):
                if is_small:
                    arguments = [*arguments, *TABLE["small"]]
                if steps and "{most}" not in arguments:
                    arguments = [*arguments, "--steps", str(steps)]
                config = folder / "config.json"
                config.write_text(json.dumps(config_of(arguments, entry)))
                arguments = [argument.format_map(places) for argument in arguments]
                command = [*program, *arguments, "--config", str(config), "--seed", str(seed)]
                _train(command, name, number, server, folder)
        finally:
            server.stop()
        out.mkdir(parents=True, exist_ok=True)
        made = []
        for number, capsule in enumerate(sorted((folder / "data").rglob("*.telltale"))):
            made.append(out / f"{name}-seed{seed}{f'-{number + 1}' if number else ''}.telltale")
            shutil.copyfile(capsule, made[-1])
        return made


def _train(command: list[str], name: str, number: int, server: Server, folder: Path) -> None:
    environment = dict(
        os.environ,
        TELLTALE_JOIN=server.join,
        TELLTALE_DIR=str(folder / "spool"),
        TELLTALE_RUN_ID=name,
        TORCHELASTIC_RESTART_COUNT=str(number),
        OMP_NUM_THREADS="1",
    )
    environment.setdefault("TELLTALE_AGENT_LIBRARY", str(BUILD / "lib" / "libtelltale_agent.so"))
    environment["PYTHONPATH"] = str(ROOT / "capture" / "agent" / "python")
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"record.py: {name}: the training ended with exit code {done.returncode}\n{done.stderr}")
    for line in done.stdout.splitlines():
        try:
            summary = json.loads(line)
        except ValueError:
            continue  # collectives by call site are printed as a document of several lines
        if isinstance(summary, dict) and (summary.get("dropped") or summary.get("in_flight")):
            raise SystemExit(f"record.py: {name}: not everything was stored: {line}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--scenario", choices=["all", *TABLE["scenarios"]])
    which.add_argument("--clean", choices=["all", *TABLE["clean"]])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=1000, help="of a clean training (1000)")
    parser.add_argument("--small", action="store_true", help="a clean training of 2 layers of width 32")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--demo", choices=["python", "cpp"], default="python", help="which training program (python)")
    options = parser.parse_args()
    if options.small and options.scenario:
        parser.error("--small is for clean trainings: the scenarios name modules of the whole model")
    table = TABLE["scenarios" if options.scenario else "clean"]
    if options.demo == "cpp":
        table = {name: mine for name, entry in table.items() if (mine := of_cpp(entry))}
    wanted = options.scenario or options.clean
    if wanted not in ("all", *table):
        parser.error(f"the C++ demo does not have {wanted}; choose from {', '.join(table)}")
    for name in table if wanted == "all" else [wanted]:
        steps = options.steps if options.clean else None
        label = ("cpp-" if options.demo == "cpp" else "") + ("clean-" if options.clean else "") + name
        for path in record(label, table[name], options.seed, options.out, steps, options.demo, options.small):
            print(path, flush=True)


if __name__ == "__main__":
    main()

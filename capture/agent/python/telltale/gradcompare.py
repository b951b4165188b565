# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m telltale.gradcompare A B`: compares the signs of the gradients that grad_probe wrote of two trainings, and
says where msprobe's rule finds them suspicious."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import uuid
from dataclasses import asdict

from .gradprobe.comparator import compare_all, write
from .gradprobe.probeconfig import ProbeConfig
from .gradprobe.probestream import ProbeStream
from .gradprobe.signfile import ProbeError
from .gradprobe.signrule import LEAST_AT_FIRST, MOST_DROP
from .gradprobe.similarity import Similarities, findings
from .series import SeriesDesc


def main(arguments: list[str]) -> int:
    """The exit code: 0, 1 when something failed (and, with --fail, where something is suspicious), 2 for bad input."""
    parser = argparse.ArgumentParser(
        prog="python -m telltale.gradcompare",
        description="Compares the signs of two trainings' gradients: two dump_paths of grad_probe, or two rank folders "
        "in them. Suspicious by msprobe's rule are weights of whose signs less than a share of "
        f"{LEAST_AT_FIRST} is the same at the first step, and those where this share falls by more than {MOST_DROP} "
        "from one step to the next.",
    )
    parser.add_argument("a", metavar="A", help="a dump_path, or rank0 in it")
    parser.add_argument("b", metavar="B", help="the other one")
    parser.add_argument("-o", metavar="DIR", dest="out", help="writes similarities.csv and pictures there")
    parser.add_argument("--send", action="store_true", help="sends the shares to the dashboard, as a run")
    parser.add_argument("--fail", action="store_true", help="ends with 1 where something is suspicious")
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    options = parser.parse_args(arguments)
    try:
        by_rank, notes = compare_all(options.a, options.b)
        found = findings(by_rank)
        for rank, of in by_rank.items() if options.out else ():
            write(of, options.out if rank is None else os.path.join(options.out, f"rank{rank}"))
        if options.send:
            send(by_rank, options.a, options.b)
    except ProbeError as error:
        return _fail(str(error), options.json, 2)
    except ConnectionError as error:
        return _fail(str(error), options.json, 1)
    except OSError as error:
        return _fail(f"{error.filename} cannot be written: {error.strerror or error}", options.json, 1)
    for sentence in notes:
        print(f"telltale: {sentence}", file=sys.stderr)
    judged = sum(len(of.parameters) for of in by_rank.values())
    if options.json:
        totals = {
            "all" if rank is None else str(rank): {
                step: value if math.isfinite(value) else None for step, value in zip(of.steps, of.total)
            }
            for rank, of in by_rank.items()
        }
        suspicious = [{"rank": one.rank, "name": one.name, **asdict(one.verdict)} for one in found]
        print(json.dumps({"parameters": judged, "suspicious": suspicious, "total": totals, "notes": notes}, indent=2))
    else:
        # The words of `telltale compare`, which says the same of runs.
        words = f"(below {LEAST_AT_FIRST} at first, or a drop over {MOST_DROP})"
        print(f"signs: {len(found)} of {judged} suspicious {words}")
        print(*(f"  {one.sentence}" for one in found), sep="\n", end="\n" if found else "")
    return 1 if found and options.fail else 0


def send(by_rank: dict[int | None, Similarities], a: str, b: str) -> None:
    """The shares of every rank as a run of its own, called by the second folder. ConnectionError where it does not come
    there."""
    if not os.environ.get("TELLTALE_JOIN"):
        raise ConnectionError("--send needs a dashboard: TELLTALE_JOIN holds its join string")
    run = {"run_id": f"signs-{uuid.uuid4().hex}", "run_name": f"signs of {os.path.basename(os.path.abspath(b))}"}
    for rank, of in by_rank.items():
        try:
            stream = ProbeStream(
                ProbeConfig(reference=a), rank or 0, len(by_rank), "grad_probe", lambda _: None, **run
            )
        except (ValueError, RuntimeError) as error:
            raise ConnectionError(str(error)) from None
        for i, step in enumerate(of.steps):
            found = [(SeriesDesc(name), [values[i]]) for name, values in of.parameters.items()]
            stream.similarities(step, [one for one in found if math.isfinite(one[1][0])])
            if i % 64 == 63:
                stream.flush(60.0)
        if not stream.close():
            raise ConnectionError("not everything has come to the dashboard; the spool keeps it (`telltale import`)")


def _fail(sentence: str, is_json: bool, code: int) -> int:
    print(f"telltale: {sentence}", file=sys.stderr)
    if is_json:
        print(json.dumps({"error": sentence}))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from serving import Server
from telltale import doctor, native
from telltale.__main__ import main


def _findings(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, dict[str, Any]]]:
    code = main(["doctor", "--json", *arguments])
    document = json.loads(capsys.readouterr().out)
    assert document["ok"] == (code == 0)
    return code, {finding["name"]: finding for finding in document["findings"]}


def test_on_a_machine_that_is_ready_everything_is_well(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = _findings(capsys)
    assert code == 0
    assert found["kernel"]["text"] == native.kernel_name()
    assert "libtelltale_agent.so" in found["native library"]["text"]
    assert found["private names"]["state"] == "ok"
    assert found["dashboard"]["state"] == "note" and "TELLTALE_JOIN" in found["dashboard"]["text"]


def test_the_rank_is_the_launchers(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "8")
    assert _findings(capsys)[1]["rank"]["text"] == "3 of 8 (RANK=3, WORLD_SIZE=8)"


def test_a_dashboard_that_knows_the_token_is_well_and_a_wrong_token_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = Server(tmp_path / "data")
    try:
        code, found = _findings(capsys, "--join", server.join)
        assert code == 0 and "knows the token" in found["dashboard"]["text"]
        code, found = _findings(capsys, "--join", server.join.split("#")[0] + "#token=" + "0" * 64)
        assert code == 1 and "refuses the token" in found["dashboard"]["text"]
        assert "copy the join string again" in found["dashboard"]["text"]
        assert not list(server.folder.rglob("*.telltale")), "to try is not to begin a run"
    finally:
        assert server.stop() == 0


def test_another_program_on_the_port_and_an_empty_port_are_bad(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def answer() -> None:
            for _ in range(2):
                connection, _address = server.accept()
                with connection:
                    connection.recv(1000)
                    connection.sendall(b"HTTP/1.1 400 Not a websocket\r\nContent-Length: 0\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        code, found = _findings(capsys, "--join", f"telltale://127.0.0.1:{port}#token=abc")
        thread.join()
    assert code == 1 and "400 Not a websocket" in found["dashboard"]["text"]
    code, found = _findings(capsys, "--join", f"telltale://127.0.0.1:{port}#token=abc")
    assert code == 1 and "cannot be reached" in found["dashboard"]["text"]
    assert "abc" not in found["dashboard"]["text"]


@pytest.mark.parametrize("join", ["telltale://", "nonsense", "telltale://host:99999999"])
def test_a_wrong_join_string_is_bad(join: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = _findings(capsys, "--join", join)
    assert code == 1 and "join string" in found["dashboard"]["text"]


def test_without_the_library_it_says_what_still_works(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> Any:
        raise native.LibraryMissing("there is no library")

    monkeypatch.setattr(native, "library", missing)
    code, found = _findings(capsys)
    assert code == 1 and "csv and tensorboard work without it" in found["native library"]["text"]


def test_a_missing_private_name_is_named_with_what_is_lost(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "PRIVATE_NAMES", (*doctor.PRIVATE_NAMES, ("torch._C._no_such_name", "nothing at all")))
    code, found = _findings(capsys)
    assert code == 0 and found["private names"]["state"] == "note"
    assert "torch._C._no_such_name is missing: nothing at all" == found["private names"]["text"]


def test_without_json_it_is_a_list_to_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("ok    kernel") for line in lines)


def test_unknown_commands_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dokter"]) == 2
    assert 'unknown command "dokter"' in capsys.readouterr().err


def test_a_config_is_judged_before_a_training_reads_it(tmp_path: Path) -> None:
    texts = {
        "good": ('{"wg_distribution": true}', "ok", "good"),
        "nothing": ('{"targets": {"fc": {}}}', "bad", "selects nothing"),
        "wrong": ('{"wg_distribution": true, "opts": ["norm"]}', "bad", "opts"),
        "broken": ("{", "bad", "broken"),
        "probe": ('{"task": "grad_probe", "dump_path": "out"}', "ok", "(grad_probe)"),
        "bad probe": ('{"task": "grad_probe", "dump_path": "out", "step": 3}', "bad", "/step: it is 3"),
    }
    for name, (text, state, words) in texts.items():
        path = tmp_path / name
        path.write_text(text)
        found = [finding for finding in doctor.examine("", str(path)) if finding.name == "config"]
        assert [finding.state for finding in found] == [state], name
        assert words in found[0].text

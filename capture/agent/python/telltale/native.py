# SPDX-License-Identifier: GPL-3.0-or-later
"""libtelltale_agent.so through ctypes: statistics kernel, config reading, ring, spool and wire.

Struct layouts follow model/stats/stats.h and capture/agent/core/telltale_agent.h.
"""

from __future__ import annotations

import ctypes as c
import json
import os
from collections.abc import Sequence
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import Any

from . import nativelibrary
from .series import STATS, SeriesDesc
from .slots import Slot

ABI = 7


class Tensor(c.Structure):
    """tt_tensor"""

    _fields_ = [("data", c.c_void_p), ("numel", c.c_uint64), ("dtype", c.c_uint32), ("reserved", c.c_uint32)]


class Options(c.Structure):
    """tt_options"""

    _fields_ = [
        ("size", c.c_uint32),
        ("join", c.c_char_p),
        ("mode", c.c_char_p),
        ("run_id", c.c_char_p),
        ("run_name", c.c_char_p),
        ("role", c.c_char_p),
        ("spool_dir", c.c_char_p),
        ("framework", c.c_char_p),
        ("device", c.c_char_p),
        ("config_text", c.c_char_p),
        ("rank", c.c_int32),
        ("world_size", c.c_int32),
        ("dp", c.c_int32),
        ("tp", c.c_int32),
        ("pp", c.c_int32),
        ("ep", c.c_int32),
        ("restart_count", c.c_int32),
        ("ring_bytes", c.c_uint64),
        ("spool_cap_bytes", c.c_uint64),
        ("flush_ms", c.c_uint32),
        ("batch_ms", c.c_uint32),
        ("takes_configs", c.c_uint32),
    ]


class SlotFields(c.Structure):
    """tt_slot"""

    _fields_ = [
        ("role", c.c_uint32),
        ("number", c.c_int32),
        ("head", c.c_int32),
        ("expert", c.c_int32),
        ("call", c.c_uint32),
        ("word", c.c_char_p),
        ("position", c.c_char_p),
    ]


class Series(c.Structure):
    """tt_series"""

    _fields_ = [
        ("name", c.c_char_p),
        ("slot", c.POINTER(SlotFields)),
        ("vpp_stage", c.c_int32),
        ("micro_step", c.c_int32),
        ("form", c.c_uint32),
        ("dtype", c.c_uint32),
        ("numel", c.c_uint64),
        ("shape", c.POINTER(c.c_int64)),
        ("ndim", c.c_uint32),
        ("full_ndim", c.c_uint32),
        ("shard_offset", c.c_int64),
        ("full_shape", c.POINTER(c.c_int64)),
        ("definition", c.c_char_p),
    ]


class EventFields(c.Structure):
    """tt_event_fields"""

    _fields_ = [
        ("size", c.c_uint32),
        ("kind", c.c_char_p),
        ("step", c.c_int64),
        ("last_step", c.c_int64),
        ("text", c.c_char_p),
        ("json", c.c_char_p),
        ("rule", c.c_char_p),
        ("phase", c.c_char_p),
        ("cause", c.c_char_p),
        ("author", c.c_char_p),
        ("rev", c.c_uint64),
        ("ref", c.c_uint64),
    ]


class ConfigFields(c.Structure):
    """tt_config"""

    _fields_ = [("rev", c.c_uint64), ("apply_at_step", c.c_int64), ("json", c.c_char_p)]


class Counters(c.Structure):
    """tt_counters: produced = acked + dropped + in_flight, in samples."""

    _fields_ = [
        ("produced", c.c_uint64),
        ("acked", c.c_uint64),
        ("dropped", c.c_uint64),
        ("in_flight", c.c_uint64),
        ("scalars_produced", c.c_uint64),
        ("scalars_acked", c.c_uint64),
        ("scalars_dropped", c.c_uint64),
        ("batches_sent", c.c_uint64),
        ("batches_acked", c.c_uint64),
        ("bytes_sent", c.c_uint64),
        ("reconnects", c.c_uint64),
        ("ring_bytes", c.c_uint64),
        ("spool_bytes", c.c_uint64),
        ("internal_errors", c.c_uint64),
        ("monitor_ns", c.c_uint64),
        ("step_ns", c.c_uint64),
        ("steps", c.c_uint64),
        ("connected", c.c_uint32),
        ("mode", c.c_uint32),
    ]


# tt_error: what an error is about.
Trouble = IntEnum("Trouble", "NONE BAD_INPUT CONNECTION REJECTED SPOOL LOST INTERNAL NOTICE", start=0)


class LibraryMissing(RuntimeError):
    """The native library is not there, or is another version's."""


_FILE, _VARIABLE = "libtelltale_agent.so", "TELLTALE_AGENT_LIBRARY"


def candidates() -> list[Path]:
    """Where the library is looked for, in order: TELLTALE_AGENT_LIBRARY, the package, a source tree's build."""
    return nativelibrary.candidates(_FILE, _VARIABLE)


@cache
def library() -> Any:
    """The loaded library; raises LibraryMissing with a sentence that says what to do."""
    return nativelibrary.load(_FILE, _VARIABLE, _declare, "tt_abi_version", ABI, LibraryMissing)


def available() -> bool:
    """Whether the native library can be used."""
    return not trouble()


def trouble() -> str:
    """Why the native library cannot be used, in a sentence; "" where it can."""
    try:
        library()
    except LibraryMissing as error:
        return str(error)
    return ""


def _declare(lib: Any) -> None:
    pointer = c.c_void_p
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "tt_abi_version": (c.c_uint32, []),
        "tt_version": (c.c_char_p, []),
        "tt_agent_open": (pointer, [c.POINTER(Options), c.c_char_p, c.c_size_t]),
        "tt_join_try": (c.c_int, [c.c_char_p, c.c_uint32, c.c_char_p, c.c_size_t]),
        "tt_agent_close": (c.c_int, [pointer, c.c_char_p]),
        "tt_agent_counters": (None, [pointer, c.POINTER(Counters)]),
        "tt_agent_cost": (None, [pointer, c.c_uint64, c.c_uint64, c.c_uint64]),
        "tt_agent_thinning": (None, [pointer, c.c_uint64, c.c_uint64]),
        "tt_agent_flush": (c.c_int, [pointer, c.c_uint32]),
        "tt_agent_error": (c.c_uint32, [pointer, c.c_char_p, c.c_size_t]),
        "tt_agent_spool_dir": (None, [pointer, c.c_char_p, c.c_size_t]),
        "tt_crc32c": (c.c_uint32, [c.c_char_p, c.c_size_t]),
        "tt_layout_add": (c.c_uint32, [pointer, c.c_uint32, c.c_char_p, c.c_uint32, c.POINTER(Series), c.c_uint32]),
        "tt_layout_add_histograms": (
            c.c_uint32,
            [pointer, c.c_uint32, c.POINTER(c.c_double), c.c_uint32, c.POINTER(Series), c.c_uint32],
        ),
        "tt_step_begin": (pointer, [pointer, c.c_int64]),
        "tt_step_stats": (pointer, [pointer, c.c_uint32]),
        "tt_step_floats": (pointer, [pointer, c.c_uint32, c.POINTER(pointer)]),
        "tt_step_doubles": (pointer, [pointer, c.c_uint32, c.POINTER(pointer)]),
        "tt_step_counts": (pointer, [pointer, c.c_uint32, c.POINTER(pointer)]),
        "tt_step_commit": (None, [pointer]),
        "tt_step_abandon": (None, [pointer]),
        "tt_step_dropped": (None, [pointer, c.c_int64, c.c_uint64, c.c_uint64]),
        "tt_event_add": (c.c_int, [pointer, c.POINTER(EventFields)]),
        "tt_blob": (c.c_int, [pointer, c.c_char_p, c.c_char_p, c.c_int64, c.c_char_p, c.c_size_t]),
        "tt_config_due": (pointer, [pointer, c.c_int64]),
        "tt_recorder_asked": (c.c_char_p, [pointer]),
        "tt_config_words": (None, [pointer, c.POINTER(pointer), c.POINTER(pointer)]),
        "tt_config_in_force": (None, [pointer, c.c_uint64, c.c_int64, c.c_char_p, c.c_char_p]),
        "tt_config_is_offered": (c.c_int, [pointer, c.c_char_p]),
        "tt_config_refuse": (None, [pointer, c.c_uint64, c.c_int64, c.c_char_p]),
        "tt_stats_compute": (c.c_int, [pointer, c.c_size_t, c.c_double, pointer, c.c_int]),
        "tt_stats_bins": (c.c_int, [pointer, c.c_size_t, c.c_double, pointer, pointer, c.c_int]),
        "tt_stats_tensor_bins": (
            c.c_int,
            [pointer, c.c_uint64, c.c_uint32, c.c_double, pointer, pointer, c.c_int],
        ),
        "tt_stats_kernel_name": (c.c_char_p, []),
        "tt_stats_trouble": (c.c_char_p, []),
        "tt_stats_tensor": (c.c_int, [pointer, c.c_uint64, c.c_uint32, c.c_double, pointer, c.c_int]),
        "tt_sign_agreement": (c.c_int, [pointer, pointer, c.c_size_t, pointer, c.c_int]),
        "tt_device_open": (c.c_char_p, [c.c_int]),
        "tt_device_stats": (c.c_int, [c.c_int, pointer, c.c_size_t, c.c_double, pointer, pointer, pointer]),
        "tt_device_stats_tensor": (
            c.c_int,
            [c.c_int, pointer, c.c_uint64, c.c_uint32, c.c_double, pointer, pointer, pointer],
        ),
        "tt_device_sign_agreement": (c.c_int, [c.c_int, pointer, pointer, c.c_size_t, pointer, pointer]),
        "tt_device_mark": (pointer, [c.c_int, pointer]),
        "tt_device_passed": (c.c_int, [c.c_int, pointer]),
        "tt_device_trouble": (c.c_char_p, []),
        "tt_config_read": (pointer, [c.c_char_p, c.c_size_t]),
        "tt_config_edit": (pointer, [c.c_char_p, c.c_size_t, c.c_char_p]),
        "tt_free": (None, [pointer]),
    }
    for name, (result, arguments) in signatures.items():
        try:
            function = getattr(lib, name)
        except AttributeError:
            if name in ("tt_config_read", "tt_free"):
                continue
            raise LibraryMissing(
                f"the native library has no {name}: it is older than this package; build it again"
            ) from None
        function.restype = result
        function.argtypes = arguments


def try_join(join: str, timeout: float) -> str:
    """Why no agent could join with this string, in a sentence; "" when one could. Begins no run, sends no token."""
    sentence = c.create_string_buffer(1024)
    milliseconds = int(timeout * 1000)
    if library().tt_join_try(join.encode("utf-8", "replace"), milliseconds, sentence, len(sentence)):
        return ""
    return sentence.value.decode("utf-8", "replace")


def crc32c(data: bytes) -> int:
    """CRC-32C of bytes."""
    return int(library().tt_crc32c(data, len(data)))


def kernel_name() -> str:
    """What the statistics kernel dispatched to: "avx512", "avx2", "portable"."""
    return library().tt_stats_kernel_name().decode()


def read_config(text: str) -> dict[str, Any]:
    """The C++ core's reading of a monitor config: {"ok", "error", "config", "problems"}."""
    data = text.encode("utf-8", "replace")
    return json.loads(_given("tt_config_read", data, len(data)))


def edit_config(text: str, wanted: str) -> str:
    """A config's text changed so that it reads as the config `wanted`; comments, order and what both hold stay."""
    data = text.encode("utf-8", "replace")
    return _given("tt_config_edit", data, len(data), _text(wanted))


def _given(function: str, *arguments: Any) -> str:
    """What a function of the library gives as a text to be freed."""
    lib = library()
    pointer = getattr(lib, function)(*arguments)
    if not pointer:
        raise MemoryError("the native library could not read the config")
    try:
        return c.string_at(pointer).decode("utf-8")
    finally:
        lib.tt_free(pointer)


def _series_array(descs: Sequence[SeriesDesc], keep: list[Any]) -> Any:
    array = (Series * len(descs))()
    for out, desc in zip(array, descs):
        # The root module has no name of its own.
        out.name = _text(desc.name) or b"(model)"
        out.slot = c.pointer(_slot_fields(desc.slot))
        out.vpp_stage = desc.vpp_stage
        out.micro_step = desc.micro_step
        out.form = int(desc.form)
        out.dtype = int(desc.dtype)
        out.numel = desc.numel
        shape = (c.c_int64 * max(1, len(desc.shape)))(*desc.shape)
        full = (c.c_int64 * max(1, len(desc.full_shape)))(*desc.full_shape)
        keep += [shape, full]
        out.shape = shape
        out.ndim = len(desc.shape)
        out.full_shape = full
        out.full_ndim = len(desc.full_shape)
        out.shard_offset = desc.shard_offset
        out.definition = _text(desc.definition) if desc.definition else None
    return array


def _slot_fields(slot: Slot) -> SlotFields:
    position = json.dumps(slot.position, ensure_ascii=False, separators=(",", ":")) if slot.position else ""
    return SlotFields(
        int(slot.role), slot.number, slot.head, slot.expert, slot.call, _text(slot.word), _text(position)
    )  # fmt: skip


def _text(text: str) -> bytes:
    """As C reads it, which ends at a NUL; the core makes it fit the wire."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace")


class ConfigWords:
    """What Agent.config_due() writes and looks at, for who has no time to call it at every step: while
    `is_offered.value` is 0 it is enough to set `step.value`, the number of the step that begins."""

    __slots__ = ("step", "is_offered")

    def __init__(self) -> None:
        self.step = c.c_int64()
        self.is_offered = c.c_uint8()


class Agent:
    """One tt_agent. Thread: the one that measures calls everything but counters, flush and close."""

    def __init__(self, **options: Any) -> None:
        """Takes the fields of tt_options; raises ValueError with the core's sentence on bad input."""
        self._lib = library()
        self._config_due = self._lib.tt_config_due  # asked at every step
        fields = Options(size=c.sizeof(Options), rank=-1, dp=-1, tp=-1, pp=-1, ep=-1, restart_count=-1)
        for name, value in options.items():
            setattr(fields, name, value.encode() if isinstance(value, str) else value)
        why = c.create_string_buffer(1024)
        self._agent = self._lib.tt_agent_open(c.byref(fields), why, len(why))
        if not self._agent:
            raise ValueError(why.value.decode("utf-8", "replace"))
        self._present = c.c_void_p()
        self.config_words = ConfigWords()
        step, is_offered = c.c_void_p(), c.c_void_p()
        self._lib.tt_config_words(self._agent, c.byref(step), c.byref(is_offered))
        if step.value and is_offered.value:
            self.config_words.step = c.c_int64.from_address(step.value)
            self.config_words.is_offered = c.c_uint8.from_address(is_offered.value)

    def add_layout(self, kind: int, stats: Sequence[int], descs: Sequence[SeriesDesc]) -> int:
        """Registers series that are written together; 0 when refused."""
        keep: list[Any] = []
        array = _series_array(descs, keep)
        columns = bytes(stats) if stats else None
        return int(self._lib.tt_layout_add(self._agent, kind, columns, len(stats), array, len(descs)))

    def add_histograms(self, kind: int, edges: Sequence[float], descs: Sequence[SeriesDesc]) -> int:
        """Registers histograms that are written together; 0 when refused."""
        keep: list[Any] = []
        array = _series_array(descs, keep)
        values = (c.c_double * len(edges))(*edges)
        return int(self._lib.tt_layout_add_histograms(self._agent, kind, values, len(edges), array, len(descs)))

    def begin(self, step: int) -> int:
        """A slab for one step, 0 when there is no room or the agent is disabled."""
        return self._lib.tt_step_begin(self._agent, step) or 0

    def stats(self, step: int, layout: int) -> int:
        """Address of the layout's STATS records in an open step, 0 when they do not fit."""
        return self._lib.tt_step_stats(step, layout) or 0

    def floats(self, step: int, layout: int) -> tuple[int, int]:
        """Addresses of stat-major float32 values and presence bytes, 0 when they do not fit."""
        return self._lib.tt_step_floats(step, layout, c.byref(self._present)) or 0, self._present.value or 0

    def doubles(self, step: int, layout: int) -> tuple[int, int]:
        """Addresses of float64 values and presence bytes, 0 when they do not fit."""
        return self._lib.tt_step_doubles(step, layout, c.byref(self._present)) or 0, self._present.value or 0

    def counts(self, step: int, layout: int) -> tuple[int, int]:
        """Addresses of uint64 counts, histogram after histogram, and presence bytes, 0 when they do not fit."""
        return self._lib.tt_step_counts(step, layout, c.byref(self._present)) or 0, self._present.value or 0

    def commit(self, step: int) -> None:
        self._lib.tt_step_commit(step)

    def abandon(self, step: int) -> None:
        """The step is as if it had not been begun."""
        self._lib.tt_step_abandon(step)

    def dropped(self, step: int, samples: int, scalars: int) -> None:
        self._lib.tt_step_dropped(self._agent, step, samples, scalars)

    def event(self, kind: str, step: int, text: str, document: str = "{}", rule: str = "") -> bool:
        fields = EventFields(
            size=c.sizeof(EventFields),
            kind=_text(kind),
            step=step,
            text=_text(text),
            json=_text(document),
            rule=_text(rule),
        )
        return bool(self._lib.tt_event_add(self._agent, c.byref(fields)))

    def blob(self, kind: str, name: str, step: int, data: bytes) -> bool:
        return bool(self._lib.tt_blob(self._agent, _text(kind), _text(name), step, data, len(data)))

    def config_due(self, step: int) -> tuple[int, str] | None:
        """Between steps: the revision and the JSON of the config that is to be in force from `step` on."""
        address = self._config_due(self._agent, step)
        if not address:
            return None
        found = ConfigFields.from_address(address)
        return found.rev, found.json.decode("utf-8")

    def config_in_force(self, rev: int, step: int, document: str, why: str) -> None:
        """Says what is in force from `step` on; rev: of the config that was due, 0 = the training's own."""
        self._lib.tt_config_in_force(self._agent, rev, step, _text(document), _text(why))

    def config_refuse(self, rev: int, step: int, why: str) -> None:
        """The config that was due cannot be in force."""
        self._lib.tt_config_refuse(self._agent, rev, step, _text(why))

    def is_config_offered(self, text: str) -> bool:
        """Whether an offer that waits for its step says the same. Thread: any."""
        return bool(self._agent and self._lib.tt_config_is_offered(self._agent, _text(text)))

    def recorder_asked(self) -> str | None:
        """Between steps: why the dashboard wants what the flight recorder keeps, once; None where it does not."""
        found = self._lib.tt_recorder_asked(self._agent)
        return found.decode("utf-8", "replace") if found is not None else None

    def cost(self, inside_ns: int, elapsed_ns: int, steps: int) -> None:
        """What monitoring took of some steps."""
        self._lib.tt_agent_cost(self._agent, inside_ns, elapsed_ns, steps)

    def thinning(self, every: int, budget_ppm: int) -> None:
        """How few steps are collected to stay within a budget."""
        self._lib.tt_agent_thinning(self._agent, every, budget_ppm)

    def counters(self) -> dict[str, int]:
        """tt_counters as a dict."""
        out = Counters()
        if self._agent:
            self._lib.tt_agent_counters(self._agent, c.byref(out))
        return {name: int(getattr(out, name)) for name in (field[0] for field in Counters._fields_)}

    def last_error(self) -> tuple[Trouble, str]:
        """What the last error is about, and its sentence."""
        why = c.create_string_buffer(1024)
        code = self._lib.tt_agent_error(self._agent, why, len(why)) if self._agent else 0
        return Trouble(code), why.value.decode("utf-8", "replace")

    def spool_dir(self) -> str:
        """The folder of the spools."""
        folder = c.create_string_buffer(4096)
        self._lib.tt_agent_spool_dir(self._agent, folder, len(folder))
        return os.fsdecode(folder.value)

    def flush(self, timeout: float) -> bool:
        """Waits until everything is acknowledged, at most `timeout` seconds; not for who refuses the token."""
        return bool(self._lib.tt_agent_flush(self._agent, int(timeout * 1000))) if self._agent else True

    def close(self, reason: str) -> bool:
        """Flushes, says goodbye and frees; True when everything was acknowledged."""
        agent, self._agent = self._agent, None
        self.config_words.__init__()  # type: ignore[misc]  # the agent's memory goes
        return bool(self._lib.tt_agent_close(agent, reason.encode())) if agent else True

    def forget(self) -> None:
        """Drops the handle without touching it: in a forked child the sender thread is not there."""
        self._agent = None


assert c.sizeof(Tensor) == 24 and STATS.itemsize == 96

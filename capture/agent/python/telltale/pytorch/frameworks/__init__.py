# SPDX-License-Identifier: GPL-3.0-or-later
"""Where each framework keeps parameters, gradients and moments. Which one is at work is decided by the objects in use,
never by what is installed; private names are tested for before they are used."""

from .base import Adapter, Context
from .deepspeed import DeepSpeedAdapter
from .fsdp1 import Fsdp1Adapter
from .fsdp2 import DTensorAdapter
from .megatron import MegatronAdapter
from .plain import PlainAdapter

# The first that knows a parameter has it.
ADAPTERS: tuple[type[Adapter], ...] = (DeepSpeedAdapter, MegatronAdapter, Fsdp1Adapter, DTensorAdapter, PlainAdapter)

__all__ = ["ADAPTERS", "Adapter", "Context"]

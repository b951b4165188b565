# SPDX-License-Identifier: GPL-3.0-or-later
"""What passes through torch.distributed, by call site.

The methods of the class ProcessGroup are replaced while somebody watches, and put back from the class's own __dict__
afterwards: that sees torch.distributed's functions, references to them taken earlier, coalesced calls, FSDP1 and FSDP2.
It does not see DDP's own all-reduce and functional collectives, which stay in C++ (NOT_OBSERVED names them).
Nothing here waits for, polls or starts a collective.
"""

from __future__ import annotations

from ..agent import collectives
from .collectivepatch import patch

NOT_OBSERVED = (
    "DDP's own gradient all-reduce never passes Python: its result is in the reduced gradients",
    "functional collectives (torch.distributed._functional_collectives, compiled regions) never pass Python",
)


class CollectiveWatch(collectives.CollectiveWatch):
    patch = patch
    owner = "ProcessGroup."

# SPDX-License-Identifier: GPL-3.0-or-later
"""Callbacks for training libraries. Each imports its library only when it is imported itself:

from telltale.integrations.huggingface import TelltaleCallback
from telltale.integrations.lightning import TelltaleCallback
from telltale.integrations.accelerate import TelltaleTracker, watch
from telltale.integrations.mindformers import TelltaleCallback, TelltaleTrainerCallback
"""

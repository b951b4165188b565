# SPDX-License-Identifier: GPL-3.0-or-later
"""What an agent is above the hooks, whatever framework trains: a folder beside this one holds what is a framework's."""

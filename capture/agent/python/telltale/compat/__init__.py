# SPDX-License-Identifier: GPL-3.0-or-later
"""What other tools' users know by their names, a package for each tool."""

# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m telltale train-demo`: a small real training to look at."""

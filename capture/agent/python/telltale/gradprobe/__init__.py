# SPDX-License-Identifier: GPL-3.0-or-later
"""msprobe's grad_probe: statistics and signs of the gradients that an optimizer gets, call by call, in its files; and
the comparison of what two trainings wrote. Knows no framework: telltale.pytorch and telltale.mindspore hand it arrays.
"""

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

#include "report.h"

namespace telltale::app {

/// The formats that the Python package writes, since there they have a library: "parquet, arrow".
bool isPythonFormat(std::string_view format);
std::string pythonFormats();

/// Has `python3 -m telltale export` do what the verb was asked for, with the same words, output and exit code.
/// $TELLTALE_PYTHON names another Python.
int runPythonExport(const Args& args, Report& report);

}

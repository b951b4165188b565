// SPDX-License-Identifier: GPL-3.0-or-later
#include "pythonexport.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <vector>

#include <fmt/format.h>

#include <telltale/exchange/pythonprocess.h>

namespace telltale::app {
namespace {

constexpr std::array<std::string_view, 2> kPythonFormats { "parquet", "arrow" };

}

bool isPythonFormat(std::string_view format)
{
    return std::find(kPythonFormats.begin(), kPythonFormats.end(), format) != kPythonFormats.end();
}

std::string pythonFormats()
{
    return fmt::format("{}", fmt::join(kPythonFormats, ", "));
}

int runPythonExport(const Args& args, Report& report)
{
    for (const char* word : { "--follow", "--tags" }) {
        if (args.has(word))
            return report.failUsage(
                { ErrorCode::BadInput, fmt::format("{} has no meaning for {} files", word, *args.value("--to")), {} });
    }
    const auto python = exchange::pythonWithArrow(*args.value("--to") + " files are written");
    if (!python)
        return report.fail(python.error());
    const auto run = runOf(args);
    if (!run)
        return report.fail(run.error());
    std::vector<std::string> words = exchange::packageCall(*python);
    words.insert(words.end(), { "export", run->text(), "-o", *args.value("-o") });
    for (const char* name : { "--to", "--kind", "--stat", "--modules", "--rank", "--steps" }) {
        if (const auto value = args.value(name))
            words.push_back(fmt::format("{}={}", name, *value));
    }
    if (args.has("--json"))
        words.emplace_back("--json");
    report.out().flush();
    return exchange::exitCodeOf(words).value_or(kExitFailed);
}

}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "pythonexport.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <ostream>
#include <vector>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace telltale::app {
namespace {

constexpr std::array<std::string_view, 2> kPythonFormats { "parquet", "arrow" };

/// The exit code of a program that is looked for on the path; nothing, with errno, where it cannot be started.
std::optional<int> exitCodeOf(std::vector<std::string> words)
{
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (std::string& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_t child = 0;
    if (const int error = ::posix_spawnp(&child, argv.front(), nullptr, nullptr, argv.data(), environ); error != 0) {
        errno = error;
        return {};
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            return {};
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : kExitFailed;
}

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
    const char* named = std::getenv("TELLTALE_PYTHON");
    const std::string python = named && *named ? named : "python3";
    const auto lacksPackages = exitCodeOf({ python, "-c",
        "import importlib.util, sys; sys.exit(any(importlib.util.find_spec(name) is None for name in ('telltale', "
        "'pyarrow')))" });
    if (!lacksPackages)
        return report.fail({ ErrorCode::NotFound, fmt::format("cannot start {}: {}", python, std::strerror(errno)),
            "TELLTALE_PYTHON names another Python" });
    if (*lacksPackages != 0)
        return report.fail({ ErrorCode::NotFound,
            fmt::format("{} files are written by the Python packages telltale and pyarrow, which {} does not have",
                *args.value("--to"), python),
            "install them there, or name another Python in TELLTALE_PYTHON" });
    const auto run = runOf(args);
    if (!run)
        return report.fail(run.error());
    std::vector<std::string> words { python, "-m", "telltale", "export", run->text(), "-o", *args.value("-o") };
    for (const char* name : { "--to", "--kind", "--stat", "--modules", "--rank", "--steps" }) {
        if (const auto value = args.value(name))
            words.push_back(fmt::format("{}={}", name, *value));
    }
    if (args.has("--json"))
        words.emplace_back("--json");
    report.out().flush();
    return exitCodeOf(words).value_or(kExitFailed);
}

}

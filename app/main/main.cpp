// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <csignal>
#include <exception>
#include <iostream>

#include <telltale/core/plaintext.h>

#include "guiverbs.h"
#include "terminalstream.h"
#include "verbs.h"

namespace telltale::app {
namespace {

constexpr const char* kHelp = R"(usage: telltale [--listen ADDR:PORT] [--data-dir DIR] [CAPSULE...]
       telltale VERB ...

Shows what happens inside a neural network while it trains. Without a verb: the desktop.

  serve     the capture server without a window
  demo      a capture server and a real training run connected to it
  runs      the archive
  inspect   what is inside a run, and whether all of it can be read
  import    what a training process left in its spool, into its run
  log       what happened in a run: alerts, changes, losses
  show      the raw values of a series
  render    a view of a run as PNG or CSV

'telltale VERB --help' says more.
)";

using PlainVerb = int (*)(std::span<const std::string>, std::ostream&, std::ostream&);
using GuiVerb = int (*)(int, char**, std::span<const std::string>);

int run(int argc, char** argv)
{
    const std::vector<std::string> words(argv + 1, argv + argc);
    const std::string verb = words.empty() ? "" : words.front();
    if (verb == "--help" || verb == "-h" || verb == "help") {
        std::cout << kHelp;
        return kExitDone;
    }
    if (verb == "--version") {
        std::cout << "telltale " TELLTALE_VERSION "\n";
        return kExitDone;
    }
    const auto rest = std::span(words).subspan(words.empty() ? 0 : 1);
    static constexpr std::pair<std::string_view, PlainVerb> kPlain[] { { "runs", runRuns }, { "import", runImport },
        { "inspect", runInspect }, { "show", runShow }, { "log", runLog } };
    for (const auto& [name, function] : kPlain) {
        if (verb == name) {
            const int code = function(rest, std::cout, std::cerr);
            if (std::cout.flush())
                return code;
            std::cerr << "telltale: the output could not be written (is the disk full?)\n";
            return kExitFailed;
        }
    }
    static constexpr std::pair<std::string_view, GuiVerb> kGui[] { { "serve", runServe }, { "demo", runDemo },
        { "render", runRender } };
    for (const auto& [name, function] : kGui) {
        if (verb == name)
            return function(argc, argv, rest);
    }
    return runDesktop(argc, argv, words);
}

}

void say(const std::string& sentence)
{
    std::cerr << "telltale: " << terminalText(sentence) << '\n';
}

int usageError(const Error& error)
{
    say(error.sentence());
    return kExitUsage;
}

int workError(const Error& error)
{
    say(error.sentence());
    return error.code == ErrorCode::BadInput || error.code == ErrorCode::NotFound ? kExitUsage : kExitFailed;
}

int printHelp(const Usage& usage)
{
    std::cout << usage.help();
    return kExitDone;
}

}

int main(int argc, char** argv)
{
    // At a limit on the size of files a write then fails as on a full disk, instead of ending the process.
    std::signal(SIGXFSZ, SIG_IGN);
    const telltale::app::TerminalStream out(std::cout);
    const telltale::app::TerminalStream err(std::cerr);
    try {
        return telltale::app::run(argc, argv);
    } catch (const std::exception& e) {
        std::cerr << "telltale: stopped by an internal error (" << e.what() << ")\n";
        return telltale::app::kExitFailed;
    }
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include <csignal>
#include <exception>
#include <iostream>

#include <QString>

#include <fmt/format.h>

#include "log.h"
#include "terminalstream.h"
#include "verbs.h"

namespace telltale::app {
namespace {

std::string help(const std::vector<Verb>& verbs)
{
    std::string text = desktopVerb().help();
    text.insert(text.find('\n'), "\n       telltale VERB ...");
    for (const Verb& verb : verbs)
        text += fmt::format("{}  {:<10}{}\n", &verb == &verbs.front() ? "\n" : "", verb.name, verb.summary);
    return text + "\n'telltale VERB --help' says more.\n";
}

/// Qt's messages are part of what the program says.
void onQtMessage(QtMsgType type, const QMessageLogContext& context, const QString& message)
{
    const LogLevel level = type == QtDebugMsg ? LogLevel::Debug
        : type == QtInfoMsg                   ? LogLevel::Info
        : type == QtWarningMsg                ? LogLevel::Warning
                                              : LogLevel::Error;
    writeLog(level, qFormatLogMessage(type, context, message).toStdString());
}

int run(int argc, char** argv)
{
    const std::vector<std::string> words(argv + 1, argv + argc);
    const std::string first = words.empty() ? "" : words.front();
    const std::vector<Verb> verbs = namedVerbs();
    if (first == "--help" || first == "-h" || first == "help") {
        std::cout << help(verbs);
        return kExitDone;
    }
    if (first == "--version") {
        std::cout << "telltale " TELLTALE_VERSION "\n";
        return kExitDone;
    }
    for (const Verb& verb : verbs) {
        if (first == verb.name)
            return runVerb(verb, std::span(words).subspan(1), std::cout, std::cerr, argc, argv);
    }
    return runVerb(desktopVerb(), words, std::cout, std::cerr, argc, argv);
}

}

}

int main(int argc, char** argv)
{
    // At a limit on the size of files a write then fails as on a full disk, instead of ending the process.
    std::signal(SIGXFSZ, SIG_IGN);
    const telltale::app::TerminalStream out(std::cout);
    const telltale::app::TerminalStream err(std::cerr);
    qInstallMessageHandler(telltale::app::onQtMessage);
    try {
        return telltale::app::run(argc, argv);
    } catch (const std::exception& e) {
        std::cerr << "telltale: stopped by an internal error (" << e.what() << ")\n";
        return telltale::app::kExitFailed;
    }
}

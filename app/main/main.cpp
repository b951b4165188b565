// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
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
        text += fmt::format("{}  {:<16}{}\n", &verb == &verbs.front() ? "\n" : "", verb.name, verb.summary);
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
        // Of "config check" each is a word.
        const std::size_t count = verb.name.find(' ') == std::string::npos ? 1 : 2;
        if (words.size() >= count && verb.name == (count == 1 ? first : first + ' ' + words[1]))
            return runVerb(verb, std::span(words).subspan(count), std::cout, std::cerr, argc, argv);
    }
    const auto isGroup = [&first](const Verb& verb) { return !first.empty() && verb.name.starts_with(first + ' '); };
    if (std::any_of(verbs.begin(), verbs.end(), isGroup)) {
        const bool isAsked = words.size() > 1 && (words[1] == "--help" || words[1] == "-h");
        std::ostream& out = isAsked ? std::cout : std::cerr;
        if (!isAsked)
            out << "telltale: 'telltale " << first << "' needs one of its own verbs:\n";
        for (const Verb& verb : verbs) {
            if (isGroup(verb))
                out << fmt::format("  {:<16}{}\n", verb.name, verb.summary);
        }
        return isAsked ? kExitDone : kExitUsage;
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

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include <telltale/core/expected.h>
#include <telltale/series/query.h>
#include <telltale/store/runhandle.h>
#include <telltale/store/runreader.h>

#include "args.h"
#include "verb.h"

namespace telltale::app {

/// Where a verb's report and its errors go. Thread: the verb's.
class Report {
public:
    /// `isJson`: an error is also the one document on `out`.
    Report(std::ostream& out, std::ostream& err, bool isJson, int argc, char** argv);

    std::ostream& out() { return m_out; }
    /// "telltale: <sentence>", for what does not end the verb.
    void say(const std::string& sentence);
    /// The same, and the exit code that the error deserves.
    int fail(const Error& error);
    /// The same for words that no run of the program could have accepted.
    int failUsage(const Error& error);

    int argc; ///< for an application object, which keeps a reference
    char** argv;

private:
    std::ostream& m_out;
    std::ostream& m_err;
    bool m_isJson;
};

/// The text of a file that a person wrote; `what` it should be ("config").
Expected<std::string> readSmallFile(const std::string& path, const std::string& what);

/// --data-dir, which must exist when it is given, or the default one, which need not.
Expected<std::string> dataDirOf(const Args& args);

/// "NaN", "Infinity", "-Infinity", or the shortest digits that read back as the same number.
std::string numberText(double value);
/// The value that a sample shows: the words above by its state, else its number. "" without any value.
std::string sampleText(double value, series::CellState state);
/// A JSON number, or one of the words above as a string, or null.
std::string jsonText(double value, series::CellState state);
std::string bytesText(std::uint64_t bytes);
/// A run's name on one line, as terminalText() writes it; the end of a long one as "…".
std::string nameText(std::string_view name);

/// The one JSON document of a report, and the end of its line. Bytes that are no UTF-8 are replaced.
void writeJson(std::ostream& out, const nlohmann::json& document);

/// An opened capsule.
struct OpenedCapsule {
    store::RunHandle handle;
    std::unique_ptr<store::RunReader> reader;
    std::shared_ptr<const store::Catalog> catalog;
};
/// The verb's first argument: a locator, or an id of the archive.
Expected<store::RunLocator> runOf(const Args& args);
/// The same of another of its words.
Expected<store::RunLocator> runNamed(const Args& args, const std::string& run);
Expected<OpenedCapsule> openCapsule(const store::RunLocator& run);
/// The run that the verb's first argument names.
Expected<OpenedCapsule> openRun(const Args& args);

}

// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/arrowreader.h>

#include <algorithm>
#include <memory>
#include <optional>

#include <nlohmann/json.hpp>

#include <telltale/core/kinds.h>
#include <telltale/core/plaintext.h>
#include <telltale/exchange/mappedfile.h>
#include <telltale/exchange/pythonprocess.h>
#include <telltale/exchange/tableparts.h>
#include <telltale/exchange/telltalecsvrows.h>
#include <telltale/exchange/widetable.h>

namespace telltale::exchange {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::size_t kMostRows = 1u << 30; ///< bytes of them at once

bool isArrow(const fs::path& path)
{
    const std::string head = headOf(path, 6);
    return head.starts_with("PAR1") || head == "ARROW1";
}

/// The file itself, or those that lie in the folder, by their names.
std::vector<fs::path> filesOf(const fs::path& path)
{
    std::vector<fs::path> files;
    std::error_code error;
    if (!fs::is_directory(path, error)) {
        if (isArrow(path))
            files.push_back(path);
        return files;
    }
    for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
        if (isArrow(at->path()))
            files.push_back(at->path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::string storedStats()
{
    std::string words;
    for (int i = 0; i < kStoredStatCount; ++i) {
        if (isStoredStat(static_cast<Stat>(i)))
            words += (words.empty() ? "" : ",") + std::string(statName(static_cast<Stat>(i)));
    }
    return words;
}

/// What `python3 -m telltale tables` says: lines of JSON, and behind some of them rows as csv.
class Tables {
public:
    Tables(const std::vector<fs::path>& files, ForeignRun& run)
        : m_files(files)
        , m_run(run)
    {
        m_parts.reserve(files.size()); // what takes the rows points into them
    }

    /// False: it was the last.
    Expected<bool> take(ProgramOutput& output, const Json& message)
    {
        const std::string what = message.value("message", "");
        if (what == "table") {
            if (m_parts.size() == m_files.size())
                return failure(ErrorCode::Damaged, at() + ": Python tells of more files than it was given");
            m_parts.push_back({ m_files[m_parts.size()].stem().string(), {}, {} });
            return begin(message) ? true : Expected<bool>(tl::unexpected(m_trouble));
        }
        if (what == "rows") {
            const auto size = message.value("bytes", std::size_t { 0 });
            const auto bytes = size < kMostRows ? output.bytes(size) : std::optional<std::string_view>();
            if (!bytes)
                return tl::unexpected<Error>(bytes.error());
            if (!*bytes)
                return failure(ErrorCode::Damaged, at() + ": its rows are cut off");
            takeRows(**bytes);
            m_share = message.value("share", m_share);
        } else if (what == "left out") {
            m_run.leaveOut(terminalText(message.value("what", "")), message.value("count", std::uint64_t { 1 }));
        } else if (what == "damage") {
            m_run.noteDamage(nameOf(m_parts.size() - 1) + ": " + terminalText(message.value("sentence", "")));
        } else if (what == "end") {
            if (m_wide)
                m_wide->finish(false);
            if (m_own)
                m_own->finish();
            m_wide.reset();
            m_own.reset();
        }
        return what != "done";
    }

    std::string at() const { return nameOf(m_parts.empty() ? 0 : m_parts.size() - 1); }
    double share() const { return m_share; }
    Expected<void> join() { return joinParts(m_parts, m_run); }

private:
    std::string nameOf(std::size_t file) const { return m_files[std::min(file, m_files.size() - 1)].string(); }

    bool begin(const Json& message)
    {
        TablePart& part = m_parts.back();
        m_number = 0;
        if (message.value("form", "") == "telltale") {
            part.runId = message.value("run", "?");
            part.run.name = message.value("name", "");
            part.run.createdNs = message.value("created_ns", std::int64_t { 0 });
            m_own = std::make_unique<TelltaleCsvRows>(at(), part.run);
            return true;
        }
        const auto columns = message.value("columns", std::vector<std::string>());
        const std::vector<std::string_view> cells(columns.begin(), columns.end());
        if (message.value("form", "") != "wide")
            return true; // the damage is told next
        const WideHead head(cells);
        const std::string advice = "tables of W&B have a column _step, those of Trackio run_name and step";
        if (head.kind == WideKind::None && m_files.size() == 1) {
            m_trouble = { ErrorCode::BadInput, at() + " says no steps", advice };
            return false;
        }
        if (head.kind == WideKind::None) {
            m_run.leaveOut(terminalText(at()) + ", which says no steps: " + advice);
            return true;
        }
        m_wide = std::make_unique<WideTable>(at(), head, part.run, "row");
        if (auto ok = m_wide->readHead(); !ok) {
            m_trouble = ok.error();
            return false;
        }
        if (head.kind == WideKind::Log)
            m_wide->nameRuns(message.value("runs", std::vector<std::string>()));
        m_wide->chooseProcess();
        return true;
    }

    void takeRows(std::string_view text)
    {
        if (m_wide) {
            for (CsvRows rows(text); rows.next();)
                m_wide->take(rows, ++m_number);
        }
        while (m_own && !text.empty()) {
            const std::size_t end = std::min(text.find('\n'), text.size());
            m_own->takeLine(text.substr(0, end), ++m_number);
            text.remove_prefix(std::min(end + 1, text.size()));
        }
    }

    const std::vector<fs::path>& m_files;
    ForeignRun& m_run;
    std::vector<TablePart> m_parts;
    std::unique_ptr<WideTable> m_wide;
    std::unique_ptr<TelltaleCsvRows> m_own;
    std::size_t m_number = 0; ///< rows of the table
    double m_share = 0;
    Error m_trouble;
};

/// A message whose parts are of other types than they should be is none of the package's.
Expected<bool> taken(Tables& tables, ProgramOutput& output, const Json& message)
{
    try {
        return tables.take(output, message);
    } catch (const Json::exception&) {
        return failure(ErrorCode::Damaged, tables.at() + ": Python tells something else than its rows",
            "install the package telltale of this version there");
    }
}

}

bool ArrowReader::claims(const fs::path& path) const
{
    return !filesOf(path).empty();
}

Expected<void> ArrowReader::read(const fs::path& path, ForeignRun& run, const Progress& progress) const
{
    const std::vector<fs::path> files = filesOf(path);
    if (files.empty())
        return failure(ErrorCode::BadInput, path.string() + " is no Parquet or Arrow file");
    const auto python = pythonWithArrow("Parquet and Arrow files are read");
    if (!python)
        return tl::unexpected<Error>(python.error());
    std::vector<std::string> words = packageCall(*python);
    words.insert(words.end(), { "tables", "--stats", storedStats(), "--" });
    for (const fs::path& file : files)
        words.push_back(fs::absolute(file).string());
    Tables tables(files, run);
    auto output
        = ProgramOutput::start(std::move(words), [&progress, &tables] { return goOn(progress, tables.share()); });
    if (!output)
        return tl::unexpected<Error>(std::move(output.error()));
    for (;;) {
        const auto line = output->line();
        if (!line)
            return tl::unexpected<Error>(line.error());
        const Json message = *line ? Json::parse(**line, nullptr, false) : Json();
        if (!message.is_object())
            return failure(ErrorCode::Damaged,
                tables.at() + " is not read to its end: " + *python + " ended with " + output->end(),
                "it may be damaged; Python has said more on standard error");
        const auto more = taken(tables, *output, message);
        if (!more)
            return tl::unexpected<Error>(more.error());
        if (!*more)
            return tables.join();
    }
}

}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "report.h"

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <telltale/core/celltext.h>
#include <telltale/core/plaintext.h>
#include <telltale/store/archive.h>

#include "log.h"

namespace telltale::app {

using series::CellState;

Report::Report(std::ostream& out, std::ostream& err, bool isJson, int argcGiven, char** argvGiven)
    : argc(argcGiven)
    , argv(argvGiven)
    , m_out(out)
    , m_err(err)
    , m_isJson(isJson)
{
}

void Report::say(const std::string& sentence)
{
    m_err << "telltale: " << terminalText(sentence) << '\n';
}

int Report::fail(const Error& error)
{
    say(error.sentence());
    noteInLogFile(error.sentence());
    if (m_isJson)
        writeJson(m_out, { { "error", error.sentence() } });
    return error.code == ErrorCode::NotFound || error.code == ErrorCode::BadInput ? kExitUsage : kExitFailed;
}

int Report::failUsage(const Error& error)
{
    fail(error);
    return kExitUsage;
}

Expected<std::string> readSmallFile(const std::string& path, const std::string& what)
{
    constexpr std::size_t kMostBytes = 1u << 20;
    std::ifstream file(path, std::ios::binary);
    std::string text(kMostBytes + 1, '\0');
    if (!file || (file.read(text.data(), static_cast<std::streamsize>(text.size())), file.bad()))
        return failure(ErrorCode::BadInput, "cannot read " + path, "name the " + what + " file");
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() > kMostBytes)
        return failure(ErrorCode::BadInput, path + " is too large for a " + what);
    return text;
}

Expected<std::string> dataDirOf(const Args& args)
{
    const auto given = args.value("--data-dir");
    std::error_code error;
    if (given && !std::filesystem::is_directory(*given, error))
        return failure(ErrorCode::NotFound, "there is no data directory '" + *given + "'");
    return given ? *given : store::defaultDataDir();
}

std::string numberText(double value)
{
    if (std::isnan(value))
        return "NaN";
    if (std::isinf(value))
        return value > 0 ? "Infinity" : "-Infinity";
    return shortestDigits(value);
}

std::string sampleText(double value, CellState state)
{
    switch (state) {
    case CellState::NaN:
        return "NaN";
    case CellState::PosInf:
        return "Infinity";
    case CellState::NegInf:
        return "-Infinity";
    case CellState::Value:
        return numberText(value);
    default:
        return {};
    }
}

std::string jsonText(double value, CellState state)
{
    const std::string text = sampleText(value, state);
    if (text.empty())
        return "null";
    return state == CellState::Value && std::isfinite(value) ? text : '"' + text + '"';
}

std::string nameText(std::string_view name)
{
    constexpr std::size_t kLongest = 48;
    std::string text = terminalText(name);
    if (text.size() <= kLongest)
        return text;
    std::size_t end = kLongest;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
        --end;
    return text.substr(0, end) + "…";
}

std::string bytesText(std::uint64_t bytes)
{
    constexpr std::array<const char*, 5> kUnits { "B", "kB", "MB", "GB", "TB" };
    double scaled = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (scaled >= 1000 && unit + 1 < kUnits.size()) {
        scaled /= 1000;
        ++unit;
    }
    return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.3g} {}", scaled, kUnits[unit]);
}

void writeJson(std::ostream& out, const nlohmann::json& document)
{
    out << document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

Expected<store::RunLocator> runOf(const Args& args)
{
    return runNamed(args, args.positionals().front());
}

Expected<store::RunLocator> runNamed(const Args& args, const std::string& run)
{
    auto dataDir = dataDirOf(args);
    if (!dataDir)
        return tl::unexpected(dataDir.error());
    return store::findRun(*dataDir, run);
}

Expected<OpenedCapsule> openCapsule(const store::RunLocator& run)
{
    OpenedCapsule capsule;
    capsule.handle.locator = run;
    auto reader = store::openReader(capsule.handle);
    if (!reader)
        return tl::unexpected<Error>(std::move(reader.error()));
    capsule.reader = std::move(*reader);
    auto catalog = capsule.reader->catalog();
    if (!catalog)
        return tl::unexpected<Error>(std::move(catalog.error()));
    capsule.catalog = std::move(*catalog);
    return capsule;
}

Expected<OpenedCapsule> openRun(const Args& args)
{
    return runOf(args).and_then(openCapsule);
}

}

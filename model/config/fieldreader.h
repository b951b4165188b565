// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <telltale/config/monitorconfig.h>
#include <telltale/core/threadhome.h>

namespace telltale::config {

using Json = nlohmann::ordered_json;

/// Reads JSON values into fields; what does not fit leaves the field alone and becomes a problem. Thread: owned by one.
class FieldReader {
public:
    explicit FieldReader(std::vector<Problem>& problems)
        : m_problems(problems)
    {
    }

    void readBool(const std::string& pointer, const Json& value, bool& into);
    void readInteger(
        const std::string& pointer, const Json& value, std::int64_t low, std::int64_t high, std::int64_t& into);
    void readNumber(const std::string& pointer, const Json& value, double low, double high, double& into);
    /// Strings; what is none is left out and told.
    void readTexts(const std::string& pointer, const Json& value, std::vector<std::string>& into);
    /// The same of a selection, `what`, of which an empty one means everything: `nothing` stands in one that was not
    /// empty and of which nothing could be read.
    void readSelection(const std::string& pointer, const Json& value, const std::string& what, std::string_view nothing,
        std::vector<std::string>& into);
    /// Known names of an array, each once; `what` says what they name ("the operation").
    void readNames(const std::string& pointer, const Json& value, std::string_view what,
        std::span<const std::string_view> known, std::vector<std::string>& into);

    void error(const std::string& pointer, std::string sentence);
    void warning(const std::string& pointer, std::string sentence);
    /// "/x is VALUE; it must be WHAT".
    void mustBe(const std::string& pointer, const Json& value, const std::string& what);
    /// "... is unknown; did you mean ...?"
    void unknown(const std::string& pointer, std::string_view what, const std::string& name,
        std::span<const std::string_view> known);

private:
    std::vector<Problem>& m_problems;
    ThreadHome m_home;
};

/// Appends one reference token, escaped as RFC 6901 says.
std::string childPointer(const std::string& parent, std::string_view token);

}

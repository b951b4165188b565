// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telltale::exchange {

inline constexpr std::string_view kRunFromMetric = " - "; ///< of a panel's column
inline constexpr std::string_view kLeastColumn = "__MIN", kMostColumn = "__MAX"; ///< end one
inline constexpr std::size_t kNoColumn = std::string_view::npos;

enum class WideKind { None, History, Panel, Log };

/// Which columns of a table are what. Thread: any (a value).
struct WideHead {
    WideKind kind = WideKind::None;
    std::size_t step = kNoColumn, time = kNoColumn, run = kNoColumn;
    std::vector<std::string> names;

    explicit WideHead(const std::vector<std::string_view>& cells);
    /// No metric: what a row is of, or its number.
    bool isOwn(std::size_t column) const;

private:
    bool isPanel() const;
};

/// Unix time of "1770295561.25" (in seconds or thousandths of them) or "2026-02-05T12:46:01.25+00:00"; 0: it is none.
std::int64_t timeOfCell(std::string_view cell);
/// A number, true or false.
std::optional<double> valueOfCell(std::string_view cell);

}

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <telltale/config/monitorconfig.h>

namespace telltale::config {

/// A field that two configs hold differently. Thread: any (a value).
struct FieldChange {
    std::string pointer; ///< JSON pointer, "/telltale/threads"
    std::string before; ///< JSON
    std::string after; ///< JSON

    bool operator==(const FieldChange&) const = default;
};

/// The fields that hold other than their defaults, as JSON: equal configs give equal texts, also in a later version
/// that knows more fields.
std::string canonicalConfigText(const MonitorConfig& config);
/// 16 hexadecimal digits over the canonical text.
std::string configHash(const MonitorConfig& config);
/// In the table's order, then what else stands in "telltale".
std::vector<FieldChange> configChanges(const MonitorConfig& before, const MonitorConfig& after);
/// Pointers of the fields among them that only the training's own file may change.
std::vector<std::string> localChanges(const MonitorConfig& before, const MonitorConfig& after);
/// A config's text changed so that it reads as `wanted`; comments, order, and what both hold stay as they are. Of a
/// text that is no config, the canonical text over several lines.
std::string editedConfigText(std::string_view text, const MonitorConfig& wanted);

}

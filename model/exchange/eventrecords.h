// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace telltale::exchange {

/// What one value of a TensorBoard summary is. Thread: any (a value; points into the record).
struct EventValue {
    enum class What { Scalar, Histogram, Text, Other };
    What what = What::Other;
    std::string_view tag;
    std::string_view plugin; ///< of Other: "images", "hparams"
    double number = 0;
    std::vector<double> limits; ///< upper ends of a histogram's bins
    std::vector<double> counts;
    double least = 0;
    std::vector<std::string_view> texts;
};

/// Reads the records of one event file, first and second version alike (simple_value and tensors), and checks the
/// checksums of each. Fields as in tensorflow/core/util/event.proto and framework/{summary,tensor}.proto. Thread: one.
class EventRecords {
public:
    explicit EventRecords(std::string_view file)
        : m_file(file)
    {
    }
    /// Of a file that grows: what is left from offset() on, with what has come. A record that is not whole waits.
    void goOnWith(std::string_view bytes)
    {
        m_file = bytes;
        m_at = m_summaryAt = 0;
        m_summary = m_version = {};
        m_isGrowing = true;
    }

    /// The next record that is whole; false behind the last. What is damaged is passed over, and counted.
    bool next();
    double wallTime() const { return m_wallTime; }
    std::int64_t step() const { return m_step; }
    std::string_view version() const { return m_version; }
    /// Of the record, one after the other.
    bool nextValue(EventValue& value);

    std::size_t offset() const { return m_at; }
    std::uint64_t damaged() const { return m_damaged; } ///< records whose checksum or content is wrong
    bool isTorn() const { return m_isTorn; } ///< the file ends within a record
    /// Both as people read them; empty: nothing is wrong.
    std::string damageText() const;

private:
    bool findRecord();
    bool isYetToCome() const;
    bool readSummaryValue(std::string_view bytes, EventValue& value);
    static bool readTensor(std::string_view bytes, EventValue& value, std::string_view plugin);
    std::string_view pluginOf(std::string_view tag) const;

    std::string_view m_file;
    std::size_t m_at = 0;
    std::string_view m_summary;
    std::size_t m_summaryAt = 0;
    double m_wallTime = 0;
    std::int64_t m_step = 0;
    std::string_view m_version;
    std::uint64_t m_damaged = 0;
    bool m_isTorn = false;
    bool m_isGrowing = false;
    bool m_isSearching = false; ///< behind a damaged length, for where the next record begins
    /// The plugin of a tag is told with its first value alone.
    std::map<std::string, std::string, std::less<>> m_plugins;
};

}

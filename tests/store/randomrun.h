// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <telltale/series/envelope.h>
#include <telltale/series/query.h>

#include "capsulebuilder.h"

namespace telltale::test {

/// A run of random shape (irregular steps, absent series, non-finite values, several attempts, rewinds), which knows by
/// itself what every stored sample must be. Thread: the test's.
class RandomRun {
public:
    /// About `columns` collected steps over all attempts.
    RandomRun(std::mt19937& random, int columns);

    /// Stages and commits part `part` of `parts`.
    void write(CapsuleBuilder& builder, std::mt19937& random, int part, int parts);

    int rows() const { return m_attempts.empty() ? 0 : m_series; }
    const series::RowAttempts& attemptsOf(int row) const { return m_rows.at(static_cast<std::size_t>(row)); }
    /// Everything that a row must answer with, as far as it was written.
    std::map<std::int64_t, series::Sample> samplesOf(int row, Stat stat) const;
    std::uint64_t nansAt(int row, std::int64_t step) const;
    bool hasCounts() const { return m_stats.size() > 2; }
    StepRange steps() const;
    Step newest() const; ///< of the newest attempt
    Stat anyStat(std::mt19937& random) const;
    StepRange anyRange(std::mt19937& random) const;
    std::string describe() const;

private:
    struct Column {
        std::int64_t step = 0;
        std::vector<bool> present;
        std::vector<double> values; ///< stat-major
    };
    struct Attempt {
        std::vector<Column> columns;
        std::size_t written = 0;
        std::int64_t stream = 0;
        std::shared_ptr<const SeriesLayout> layout;
        std::int64_t firstStep() const { return columns.front().step; }
    };

    Column makeColumn(std::mt19937& random, std::int64_t step) const;
    StepBlock blockOf(const Attempt& attempt, const Column& column) const;
    std::size_t statIndex(Stat stat) const;
    series::Sample sampleOf(const Column& column, int row, Stat stat) const;
    void learnIds(CapsuleBuilder& builder);

    Kind m_kind = Kind::ParamOrigin;
    std::vector<Stat> m_stats;
    int m_series = 1;
    std::vector<Attempt> m_attempts;
    std::vector<series::RowAttempts> m_rows;
};

}

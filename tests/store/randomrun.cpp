// SPDX-License-Identifier: GPL-3.0-or-later
#include "randomrun.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <telltale/store/runreader.h>

namespace telltale::test {

using series::Sample;

RandomRun::RandomRun(std::mt19937& random, int columns)
{
    switch (random() % 4) {
    case 0:
        m_kind = Kind::Scalar;
        m_stats = { Stat::Value };
        break;
    case 1:
        m_stats = { Stat::Norm, Stat::Mean };
        break;
    default:
        m_stats
            = { Stat::Norm, Stat::Mean, Stat::Min, Stat::Max, Stat::Zeros, Stat::Nans, Stat::PosInfs, Stat::NegInfs };
    }
    constexpr int kSeries[] { 1, 5, 17, 33, 130 };
    m_series = kSeries[random() % (columns > 1000 ? 3 : 5)];
    const bool isRegular = random() % 2 == 0;
    const std::int64_t stride = isRegular ? (random() % 2 == 0 ? 1 : 5) : 1;
    const int attempts = 1 + static_cast<int>(random() % 3);
    std::int64_t start = static_cast<std::int64_t>(random() % 100);
    for (int a = 0; a < attempts; ++a) {
        Attempt attempt;
        std::int64_t step = start;
        const int count = columns / attempts;
        // A rewind inside one bucket of the pyramid can hide where steps are not dense.
        // A repeated step of a scalar replaces its value in place.
        const bool canRewind = isRegular && stride == 1 && m_kind != Kind::Scalar;
        const int rewindAt = canRewind && random() % 2 == 0 ? count / 2 : -1;
        for (int c = 0; c < count; ++c) {
            if (c == rewindAt)
                step = std::max(start + 1, step - 1 - static_cast<std::int64_t>(random() % 300));
            attempt.columns.push_back(makeColumn(random, step));
            step += stride;
            if (!isRegular && random() % 8 == 0)
                step += static_cast<std::int64_t>(random() % 40);
        }
        start = std::max(start + 1, step - static_cast<std::int64_t>(random() % 400));
        m_attempts.push_back(std::move(attempt));
    }
}

RandomRun::Column RandomRun::makeColumn(std::mt19937& random, std::int64_t step) const
{
    Column column;
    column.step = step;
    const auto series = static_cast<std::size_t>(m_series);
    column.present.assign(series, true);
    column.values.assign(m_stats.size() * series, 0);
    std::normal_distribution<double> normal;
    const bool isBad = random() % 50 == 0;
    for (std::size_t s = 0; s < series; ++s) {
        if (random() % 25 == 0 || (s == 2 && step % 900 > 300))
            column.present[s] = false;
        if (!column.present[s])
            continue;
        const bool hasNoFinite = isBad && random() % 4 == 0; // of all statistics of a tensor alike
        for (std::size_t i = 0; i < m_stats.size(); ++i) {
            double& value = column.values[i * series + s];
            if (isNonFiniteCount(m_stats[i]))
                value = isBad && random() % 3 == 0 ? 1 + static_cast<double>(random() % 30) : 0;
            else if (m_stats[i] == Stat::Zeros)
                value = 0;
            else
                value
                    = m_kind == Kind::Scalar ? normal(random) : static_cast<double>(static_cast<float>(normal(random)));
            constexpr double kNone[] { std::numeric_limits<double>::quiet_NaN(),
                std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity() };
            if (hasNoFinite && !isNonFiniteCount(m_stats[i]))
                value = kNone[random() % 3];
        }
    }
    return column;
}

StepBlock RandomRun::blockOf(const Attempt& attempt, const Column& column) const
{
    StepBlock block;
    block.layout = attempt.layout;
    block.step = Step { column.step };
    block.wallNs = 1;
    const auto series = static_cast<std::size_t>(m_series);
    block.present.assign((series + 63) / 64, 0);
    for (std::size_t s = 0; s < series; ++s) {
        if (column.present[s])
            block.present[s / 64] |= std::uint64_t { 1 } << (s % 64);
    }
    if (std::find(column.present.begin(), column.present.end(), false) == column.present.end())
        block.present.clear();
    for (std::size_t i = 0; i < m_stats.size(); ++i) {
        const auto first = column.values.begin() + static_cast<std::ptrdiff_t>(i * series);
        const auto last = first + static_cast<std::ptrdiff_t>(series);
        telltale::Column values;
        values.stat = m_stats[i];
        if (isNonFiniteCount(m_stats[i])) {
            std::vector<std::uint64_t> counts;
            std::transform(first, last, std::back_inserter(counts),
                [](double value) { return static_cast<std::uint64_t>(value); });
            values.values = std::move(counts);
        } else if (m_kind == Kind::Scalar) {
            values.values = std::vector<double>(first, last);
        } else {
            std::vector<float> floats;
            std::transform(
                first, last, std::back_inserter(floats), [](double value) { return static_cast<float>(value); });
            values.values = std::move(floats);
        }
        block.columns.push_back(std::move(values));
    }
    return block;
}

void RandomRun::write(CapsuleBuilder& builder, std::mt19937& random, int part, int parts)
{
    std::size_t total = 0;
    for (const Attempt& attempt : m_attempts)
        total += attempt.columns.size();
    std::size_t budget = total * static_cast<std::size_t>(part + 1) / static_cast<std::size_t>(parts);
    for (std::size_t a = 0; a < m_attempts.size(); ++a) {
        Attempt& attempt = m_attempts[a];
        const std::size_t upTo = std::min(budget, attempt.columns.size());
        budget -= upTo;
        if (upTo > 0 && !attempt.layout) {
            attempt.stream = builder.addAttempt(Rank { 3 }, static_cast<int>(a));
            std::vector<std::string> names;
            for (int s = 0; s < m_series; ++s)
                names.push_back("layers." + std::to_string(s) + ".weight");
            attempt.layout = builder.addLayout(m_kind, m_stats, names);
        }
        while (attempt.written < upTo) {
            std::vector<StepBlock> blocks;
            for (std::size_t n = 1 + random() % 64; n > 0 && attempt.written < upTo; --n)
                blocks.push_back(blockOf(attempt, attempt.columns[attempt.written++]));
            builder.stage(attempt.stream, std::move(blocks));
            if (random() % 4 == 0)
                builder.commit();
        }
    }
    builder.commit();
    learnIds(builder);
}

void RandomRun::learnIds(CapsuleBuilder& builder)
{
    auto reader = CapsuleBuilder::must(store::openReader(builder.liveHandle()));
    const auto catalog = CapsuleBuilder::must(reader->catalog());
    m_rows.assign(static_cast<std::size_t>(m_series), {});
    for (const store::SourceInfo& source : catalog->sources) {
        for (const store::SeriesInfo& series : catalog->series) {
            if (series.source == source.id)
                m_rows.at(std::stoul(series.desc->name.substr(7))).series.push_back(series.id);
        }
    }
}

std::size_t RandomRun::statIndex(Stat stat) const
{
    return static_cast<std::size_t>(std::find(m_stats.begin(), m_stats.end(), stat) - m_stats.begin());
}

Sample RandomRun::sampleOf(const Column& column, int row, Stat stat) const
{
    const auto at = [&](Stat one) {
        return column.values[statIndex(one) * static_cast<std::size_t>(m_series) + static_cast<std::size_t>(row)];
    };
    if (stat == Stat::AbsMax) {
        Sample sample = sampleOf(column, row, Stat::Max);
        const Sample min = sampleOf(column, row, Stat::Min);
        sample.value = std::max(std::abs(sample.value), std::abs(min.value));
        sample.posInf = sample.posInf || sample.negInf;
        return sample;
    }
    Sample sample;
    sample.value = at(stat);
    sample.finite = std::isfinite(sample.value);
    if (hasCounts() && !isNonFiniteCount(stat)) {
        sample.nan = at(Stat::Nans) > 0;
        sample.posInf = at(Stat::PosInfs) > 0;
        sample.negInf = at(Stat::NegInfs) > 0;
    } else if (!sample.finite) {
        sample.nan = std::isnan(sample.value);
        sample.posInf = sample.value > 0;
        sample.negInf = sample.value < 0;
    }
    return sample;
}

std::map<std::int64_t, Sample> RandomRun::samplesOf(int row, Stat stat) const
{
    std::map<std::int64_t, Sample> samples;
    std::int64_t bound = std::numeric_limits<std::int64_t>::max();
    for (auto attempt = m_attempts.rbegin(); attempt != m_attempts.rend(); ++attempt) {
        for (std::size_t c = attempt->written; c-- > 0;) {
            const Column& column = attempt->columns[c];
            if (column.step < bound && column.present[static_cast<std::size_t>(row)])
                samples.emplace(column.step, sampleOf(column, row, stat));
            bound = std::min(bound, column.step);
        }
    }
    return samples;
}

std::uint64_t RandomRun::nansAt(int row, std::int64_t step) const
{
    const auto samples = samplesOf(row, Stat::Nans);
    return static_cast<std::uint64_t>(samples.at(step).value);
}

StepRange RandomRun::steps() const
{
    StepRange range { Step { std::numeric_limits<std::int64_t>::max() }, Step { -1 } };
    for (const Attempt& attempt : m_attempts) {
        for (std::size_t c = 0; c < attempt.written; ++c) {
            range.first = std::min(range.first, Step { attempt.columns[c].step });
            range.last = std::max(range.last, Step { attempt.columns[c].step });
        }
    }
    return range;
}

Step RandomRun::newest() const
{
    const auto attempt = std::find_if(
        m_attempts.rbegin(), m_attempts.rend(), [](const Attempt& candidate) { return candidate.written > 0; });
    std::int64_t newest = -1;
    for (std::size_t c = 0; attempt != m_attempts.rend() && c < attempt->written; ++c)
        newest = std::max(newest, attempt->columns[c].step);
    return Step { newest };
}

Stat RandomRun::anyStat(std::mt19937& random) const
{
    if (hasCounts() && random() % 6 == 0)
        return Stat::AbsMax;
    return m_stats[random() % m_stats.size()];
}

StepRange RandomRun::anyRange(std::mt19937& random) const
{
    const StepRange all = steps();
    if (random() % 3 == 0)
        return all;
    const auto pick = [&] {
        return all.first.value - 5 + static_cast<std::int64_t>(random() % static_cast<unsigned>(all.count() + 10));
    };
    const std::int64_t a = pick();
    const std::int64_t b = random() % 2 == 0 ? pick() : a + static_cast<std::int64_t>(random() % 200);
    return { Step { std::min(a, b) }, Step { std::max(a, b) } };
}

std::string RandomRun::describe() const
{
    return std::to_string(m_attempts.size()) + " attempts, " + std::to_string(m_series) + " series, "
        + std::to_string(m_stats.size()) + " stats";
}

}

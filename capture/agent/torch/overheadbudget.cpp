// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/torch/overheadbudget.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>
#include <vector>

#include <telltale/config/stride.h>

namespace telltale {
namespace {

constexpr std::size_t kFewest = 4; // steps, for a decision
constexpr std::size_t kMost = 8; // that are remembered
constexpr double kSpare = 0.7; // of the budget: more steps only where they would leave some of it
constexpr std::chrono::nanoseconds kBetweenNews = std::chrono::seconds(10); // of training

void remember(std::deque<double>& recent, double value)
{
    recent.push_back(value);
    if (recent.size() > kMost)
        recent.pop_front();
}

double medianOf(const std::deque<double>& recent)
{
    if (recent.empty())
        return 0;
    std::vector<double> sorted(recent.begin(), recent.end());
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
}

/// form: of printf, for one number. Not fmt's: targets share this one's precompiled header, which would know of it.
std::string numberText(const char* form, double number)
{
    std::array<char, 64> text {};
    std::snprintf(text.data(), text.size(), form, number);
    return text.data();
}

std::string percentText(double share)
{
    const double percent = 100 * share;
    return numberText(percent < 10 ? "%.2g" : "%.0f", percent) + " %";
}

/// "every step", "every 2nd step".
std::string everyText(std::int64_t every)
{
    if (every == 1)
        return "every step";
    const auto last = every / 10 % 10 == 1 ? 0 : every % 10;
    return "every " + std::to_string(every) + (last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th") + " step";
}

}

std::optional<OverheadBudget::News> OverheadBudget::stepEnded(bool isCollected, Nanoseconds cost, Nanoseconds elapsed)
{
    m_time += elapsed;
    const bool isFirst = isCollected && !m_isWarm;
    m_isWarm = m_isWarm || isCollected;
    if (isFirst || elapsed.count() <= 0)
        return std::nullopt;
    remember(m_own, static_cast<double>(std::max(elapsed - cost, Nanoseconds { 1 }).count()));
    remember(isCollected ? m_collected : m_idle, static_cast<double>(cost.count()));
    if (isCollected && m_collected.size() >= kFewest)
        decide();
    return news();
}

void OverheadBudget::decide()
{
    const config::StepCosts costs { medianOf(m_collected), medianOf(m_idle), medianOf(m_own) };
    const auto shareOf = [&](std::int64_t stride) {
        return config::shareAt(costs, static_cast<double>(stride) * static_cast<double>(m_interval));
    };
    const double budget = m_percent / 100;
    const double now = shareOf(m_stride);
    const auto wanted = config::strideWithin(now > budget ? budget : kSpare * budget, costs, m_interval);
    const auto stride = now > budget ? wanted : std::min(wanted, m_stride);
    const double after = shareOf(stride);
    const bool isOver = stride == config::kMostStride && after > (m_isOver ? kSpare * budget : budget);
    if (stride == m_stride && isOver == m_isOver)
        return;
    if (stride != m_stride)
        m_collected.clear(); // what they take when they are fewer or more is measured anew
    m_stride = stride;
    m_isOver = isOver;
    m_before = now;
    m_after = after;
}

std::optional<OverheadBudget::News> OverheadBudget::news()
{
    const bool isTold = m_stride == m_toldStride && m_isOver == m_isOverTold;
    if (isTold || (m_toldAt && m_time - *m_toldAt < kBetweenNews))
        return std::nullopt;
    m_toldStride = m_stride;
    m_isOverTold = m_isOver;
    m_toldAt = m_time;
    const bool wasOver = m_before > m_percent / 100;
    const auto every = m_stride * m_interval;
    const std::string budget = numberText("%g", m_percent);
    std::string sentence = "monitoring takes " + percentText(m_before) + " of a step, " + (wasOver ? "over" : "within")
        + " the budget of " + budget + " %: " + everyText(every) + " is collected";
    if (m_isOver)
        sentence += ", which is the fewest there may be and still takes " + percentText(m_after) + ": collect less";
    return News { std::move(sentence),
        R"({"overhead_budget": )" + budget + R"(, "share": )" + numberText("%.4g", m_before) + R"(, "every": )"
            + std::to_string(every) + "}" };
}

}

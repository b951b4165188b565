// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace telltale::bench {

/// One line of bench.json: a value, and how many times better it is than what it is held against. That is another way
/// to the same end, or what the hardware takes at least (a ratio below 1 then), and was measured in the same run: a
/// slow machine fails nothing, a fast one passes nothing.
struct Row {
    std::string name;
    double value = 0;
    std::string unit;
    std::string peer;
    double peerValue = 0; ///< in the same unit
    double goal = 1; ///< for ratio()
    bool higherIsBetter = false;

    double ratio() const { return higherIsBetter ? value / peerValue : peerValue / value; }
    bool passes() const { return ratio() >= goal; }
};

/// Collects rows, prints each as it comes, writes the file. Thread: main.
class Report {
public:
    void add(Row row);
    bool write(const std::string& path) const;
    const std::vector<Row>& rows() const { return m_rows; }

private:
    std::vector<Row> m_rows;
};

/// Seconds of the fastest of `times` runs.
double fastest(int times, const std::function<void()>& work);
/// Median seconds of `times` runs of each, taken in turn (a, b, a, b, ...) so that a noisy neighbor meets both.
std::vector<double> medians(int times, const std::vector<std::function<void()>>& works);

/// Seconds that this thread computes, whoever else has the processor in between.
double threadSeconds(const std::function<void()>& work);
/// As medians(), of threadSeconds().
std::vector<double> threadMedians(int times, const std::vector<std::function<void()>>& works);

/// For what nothing but the hardware bounds: each work goes over all parts, the works take turns, and a work's time is
/// the sum of the fastest time of each of its parts. A part is shorter than the time slice that a busy machine takes
/// away.
std::vector<double> minima(
    int times, std::size_t parts, const std::vector<std::function<void(std::size_t part)>>& works);

void benchKernel(Report& report);
void benchIngest(Report& report);
void benchQueries(Report& report);
void benchPaint(Report& report);
void benchGui(Report& report);
void benchViews(Report& report);
void benchFrames(Report& report);
void benchHandOver(Report& report);
void benchSteering(Report& report);
void benchJudge(Report& report);
void benchLiveJudge(Report& report);
void benchCard(Report& report);
void benchRecorder(Report& report);
void benchExchange(Report& report);

}

// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <ctime>
#include <random>

#include <QChart>
#include <QGraphicsScene>
#include <QLineSeries>
#include <QPainter>

#include <telltale/heatmap/heatimage.h>
#include <telltale/plot/curvepainter.h>

#include "report.h"

namespace telltale::bench {
namespace {

using namespace telltale::views;

constexpr int kCurves = 100;
constexpr int kWidth = 2000;
constexpr int kHeight = 1000;

/// Processor time: painting is one thread, and other programs must not count.
template <typename Work> double medianMs(int rounds, Work work)
{
    std::vector<double> times;
    for (int i = 0; i < rounds; ++i) {
        const std::clock_t begin = std::clock();
        work();
        times.push_back(static_cast<double>(std::clock() - begin) * 1000 / CLOCKS_PER_SEC);
    }
    std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
    return times[static_cast<std::size_t>(rounds / 2)];
}

CurvePicture curves(bool envelopes)
{
    CurvePicture picture;
    picture.range = { Step { 0 }, Step { 99999 } };
    std::mt19937 random(1);
    std::normal_distribution<double> noise;
    for (int i = 0; i < kCurves; ++i) {
        CurveSeries one;
        one.slot = i;
        one.result.range = picture.range;
        double level = 1 + i * 0.3;
        for (int x = 0; x < kWidth; ++x) {
            level *= std::exp(0.01 * noise(random));
            series::Bucket bucket;
            bucket.mean = bucket.first = level;
            bucket.last = envelopes ? level * std::exp(0.01 * noise(random)) : level;
            bucket.min = std::min(bucket.first, bucket.last) * (envelopes ? 0.99 : 1);
            bucket.max = std::max(bucket.first, bucket.last) * (envelopes ? 1.01 : 1);
            bucket.samples = bucket.finite = envelopes ? 50 : 1;
            bucket.state = series::CellState::Value;
            one.result.buckets.push_back(bucket);
        }
        picture.series.push_back(std::move(one));
    }
    return picture;
}

HeatPicture heat()
{
    HeatPicture picture;
    picture.rows.resize(1000);
    picture.result.range = { Step { 0 }, Step { 99999 } };
    picture.result.rows = 1000;
    picture.result.columns = kWidth;
    std::mt19937 random(1);
    std::lognormal_distribution<float> values(0, 2);
    picture.result.values.resize(1000U * kWidth);
    for (float& value : picture.result.values)
        value = values(random);
    picture.result.states.assign(picture.result.values.size(), series::CellState::Value);
    picture.finish();
    return picture;
}

/// The peer: QLineSeries in a QChart with the same points, replaced and rendered as a live chart would.
double lineSeriesMs(const CurvePicture& picture, QImage& frame)
{
    QChart chart;
    chart.legend()->hide();
    for (const CurveSeries& one : picture.series) {
        auto* series = new QLineSeries(&chart);
        QList<QPointF> points;
        for (int x = 0; x < kWidth; ++x)
            points << QPointF(x, one.result.buckets[static_cast<std::size_t>(x)].mean);
        series->replace(points);
        chart.addSeries(series);
    }
    chart.createDefaultAxes();
    QGraphicsScene scene;
    scene.addItem(&chart);
    chart.resize(kWidth, kHeight);
    const double ms = medianMs(5, [&] {
        for (QAbstractSeries* series : chart.series()) {
            auto* line = static_cast<QLineSeries*>(series);
            line->replace(line->points());
        }
        QPainter painter(&frame);
        scene.render(&painter);
    });
    scene.removeItem(&chart);
    return ms;
}

}

void benchPaint(Report& report)
{
    const CurvePicture picture = curves(false);
    const CurvePicture wide = curves(true);
    QImage frame(kWidth, kHeight, QImage::Format_RGB32);
    frame.fill(Theme::dark().base);
    const auto paintMs = [&](const CurvePicture& what, YMode mode) {
        const ValueScale scale = what.fit(mode, false);
        return medianMs(31, [&] { paintCurves(frame, frame.rect(), what, scale, 0, Theme::dark()); });
    };
    const double peer = lineSeriesMs(picture, frame);
    const char* lines = "QLineSeries in QChart";
    report.add({ "paint_100_curves_2000px", paintMs(picture, YMode::Linear), "ms", lines, peer, 55 });
    report.add({ "paint_100_curves_2000px_log", paintMs(picture, YMode::Log), "ms", lines, peer, 55 });
    report.add({ "paint_100_envelopes_2000px", paintMs(wide, YMode::Linear), "ms", lines, peer, 55 });
    const HeatPicture cells = heat();
    const RowLayout layout({ { 0, 999 } }, 1000, 2);
    QImage indexed(kWidth, 1000, QImage::Format_Indexed8);
    indexed.setColorTable(QList<QRgb>(256, qRgb(1, 2, 3)));
    indexed.fill(7);
    report.add({ "heat_image_2000x1000",
        medianMs(15,
            [&] {
                frame = HeatImage::render(cells, layout, { kWidth, 1000 }, 1, Theme::dark());
            }),
        "ms", "256 colors to RGB32", medianMs(15, [&] { frame = indexed.convertToFormat(QImage::Format_RGB32); }),
        0.1 });
}

}

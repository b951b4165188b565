// SPDX-License-Identifier: GPL-3.0-or-later
#include "banner.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <QPainter>

#include <telltale/common/theme.h>

namespace telltale::shell {

namespace {

constexpr int kCell = 8;
constexpr int kRows = 14;
constexpr int kLoudRow = 8;

/// The nine stops of the sequential map; the views use its 256-entry table, an ornament does not need it.
constexpr std::array<QRgb, 9> kStops { 0x171C33, 0x1D376F, 0x03598E, 0x00789A, 0x0096A4, 0x2AB3A8, 0x6ACFA3, 0xB6E49E,
    0xF9F4B1 };

QColor colorAt(double value)
{
    const double place = std::clamp(value, 0.0, 1.0) * (kStops.size() - 1);
    const auto low = static_cast<std::size_t>(place);
    const std::size_t high = std::min(low + 1, kStops.size() - 1);
    const float share = static_cast<float>(place - static_cast<double>(low));
    const QColor a(kStops[low]), b(kStops[high]);
    return QColor::fromRgbF(a.redF() + (b.redF() - a.redF()) * share, a.greenF() + (b.greenF() - a.greenF()) * share,
        a.blueF() + (b.blueF() - a.blueF()) * share);
}

/// Noise in [0, 1) from the cell alone: the picture is the same at every start.
double noise(int row, int column)
{
    auto x = static_cast<quint32>(row * 7919 + column * 104729 + 12345);
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return static_cast<double>(x % 1000) / 1000.0;
}

}

Banner::Banner(QWidget* parent)
    : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setFixedHeight(kRows * kCell);
}

void Banner::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const int columns = width() / kCell;
    const QColor base = views::Theme::current().base;
    for (int row = 0; row < kRows; ++row) {
        const double level = 0.14 + 0.36 * noise(row, -7) + 0.06 * std::sin(row * 1.7);
        for (int column = 0; column < columns; ++column) {
            const double x = static_cast<double>(column) / std::max(1, columns - 1);
            double value = level + 0.05 * (noise(row, column) - 0.5);
            if (row == kLoudRow)
                value += 0.85 * std::exp(-std::pow((x - 0.7) / 0.16, 2));
            const double fade = std::clamp((0.94 - x) / 0.3, 0.0, 1.0);
            const QColor cell = colorAt(value);
            const auto mix = [&](float from, float to) { return from + (to - from) * static_cast<float>(fade); };
            painter.fillRect(column * kCell, row * kCell, kCell - 1, kCell - 1,
                QColor::fromRgbF(
                    mix(base.redF(), cell.redF()), mix(base.greenF(), cell.greenF()), mix(base.blueF(), cell.blueF())));
        }
    }
}

}

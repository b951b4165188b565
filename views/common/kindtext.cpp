// SPDX-License-Identifier: GPL-3.0-or-later
#include "kindtext.h"

#include <array>
#include <limits>

#include <QCoreApplication>

#include "csv.h"

namespace telltale::views {

namespace {

constexpr std::array kTexts {
    QT_TRANSLATE_NOOP("Kind", "unspecified"),
    QT_TRANSLATE_NOOP("Kind", "scalar"),
    QT_TRANSLATE_NOOP("Kind", "weight, before the step"),
    QT_TRANSLATE_NOOP("Kind", "weight, after the step"),
    QT_TRANSLATE_NOOP("Kind", "gradient, unreduced"),
    QT_TRANSLATE_NOOP("Kind", "gradient, reduced"),
    QT_TRANSLATE_NOOP("Kind", "activation, forward"),
    QT_TRANSLATE_NOOP("Kind", "activation, backward"),
    QT_TRANSLATE_NOOP("Kind", "first moment"),
    QT_TRANSLATE_NOOP("Kind", "second moment"),
    QT_TRANSLATE_NOOP("Kind", "momentum-gradient direction"),
    QT_TRANSLATE_NOOP("Kind", "update"),
    QT_TRANSLATE_NOOP("Kind", "update ratio"),
    QT_TRANSLATE_NOOP("Kind", "communication"),
    QT_TRANSLATE_NOOP("Kind", "attention"),
    QT_TRANSLATE_NOOP("Kind", "linear layer"),
    QT_TRANSLATE_NOOP("Kind", "router"),
    QT_TRANSLATE_NOOP("Kind", "gradient sign"),
};
static_assert(kTexts.size() == kKindCount);

constexpr std::array kStates { "not_collected", "gap", "damaged", "absent", "value", "neginf", "posinf", "nan" };
static_assert(kStates.size() == static_cast<std::size_t>(series::CellState::NaN) + 1);

}

QString kindText(Kind kind)
{
    return QCoreApplication::translate("Kind", kTexts.at(static_cast<std::size_t>(kind)));
}

void writeCell(CsvWriter& csv, series::CellState state, double value, bool isFloat)
{
    csv.text(QLatin1String(kStates.at(static_cast<std::size_t>(state))));
    switch (state) {
    case series::CellState::Value:
        isFloat ? csv.number32(value) : csv.number(value);
        break;
    case series::CellState::NaN:
        csv.number(std::numeric_limits<double>::quiet_NaN());
        break;
    case series::CellState::PosInf:
        csv.number(std::numeric_limits<double>::infinity());
        break;
    case series::CellState::NegInf:
        csv.number(-std::numeric_limits<double>::infinity());
        break;
    default:
        csv.empty();
    }
}

}

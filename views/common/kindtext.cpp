// SPDX-License-Identifier: GPL-3.0-or-later
#include "kindtext.h"

#include <array>
#include <limits>

#include <QCoreApplication>

#include "csv.h"

namespace telltale::views {

namespace {

constexpr std::array kStates { "not_collected", "gap", "damaged", "absent", "value", "neginf", "posinf", "nan" };
static_assert(kStates.size() == static_cast<std::size_t>(series::CellState::NaN) + 1);

}

QString kindText(Kind kind)
{
    return QCoreApplication::translate("Kind", kindTitle(kind));
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

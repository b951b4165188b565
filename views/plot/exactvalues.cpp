// SPDX-License-Identifier: GPL-3.0-or-later
#include "exactvalues.h"

#include <algorithm>

#include <QEvent>
#include <QWidget>

#include <telltale/common/viewstate.h>
#include <telltale/items/guithread.h>

#include "curvequery.h"

namespace telltale::views {

ExactValues::ExactValues(const ViewContext& context, QWidget* canvas, Picture picture, Take take)
    : QObject(canvas)
    , m_context(context)
    , m_canvas(canvas)
    , m_picture(std::move(picture))
    , m_take(std::move(take))
{
    for (std::size_t run = 0; context.queries && run <= ViewState::kMostCompared; ++run)
        m_ids.push_back(context.queries->newView());
    m_timer.setSingleShot(true);
    m_timer.setInterval(0);
    connect(&m_timer, &QTimer::timeout, this, &ExactValues::ask);
    for (const auto signal : { &ViewState::cursorChanged, &ViewState::hoverChanged, &ViewState::marksChanged })
        connect(context.state, signal, this, &ExactValues::askSoon);
    connect(context.state, &ViewState::comparedChanged, this, [this] {
        cancel();
        m_take({});
        m_former = m_picture();
    });
    canvas->installEventFilter(this);
}

ExactValues::~ExactValues()
{
    cancel();
}

void ExactValues::cancel()
{
    for (const auto id : m_ids)
        m_context.queries->cancel(id);
}

/// The cursor may have moved while it was hidden.
bool ExactValues::eventFilter(QObject* canvas, QEvent* event)
{
    if (event->type() == QEvent::Show)
        m_timer.start();
    return QObject::eventFilter(canvas, event);
}

void ExactValues::askSoon()
{
    cancel();
    m_take({});
    if (m_canvas->isVisible())
        m_timer.start();
}

void ExactValues::ask()
{
    items::assertGuiThread();
    cancel();
    const ViewState& state = *m_context.state;
    const std::shared_ptr<const CurvePicture> picture = m_picture();
    const std::optional<Step> at = state.hover() ? state.hover() : state.cursor();
    const bool compares = state.markA() && state.markB();
    if (!m_context.queries || !state.run() || !picture || picture->isEmpty() || (!at && !compares))
        return;
    std::vector<Step> steps { at ? *at : *state.markB() };
    if (compares) {
        steps.push_back(*state.markA());
        steps.push_back(*state.markB());
    }
    m_values.assign(picture->series.size(), {});
    const std::vector<ComparedRun>& others = state.comparedRuns();
    for (std::size_t i = 0; i <= (picture == m_former ? 0 : others.size()); ++i) {
        const auto isAsked = [i](const CurveSeries& one) { return one.isMeasuredIn(static_cast<int>(i)); };
        if (std::ranges::none_of(picture->series, isAsked))
            continue;
        m_context.queries->submit(m_ids[i], i == 0 ? state.run() : others[i - 1].run,
            [this, picture, steps, run = static_cast<int>(i)](
                Expected<store::RunReader*> reader, const series::CancelToken&) -> store::QueryPool::Delivery {
                if (!reader)
                    return {}; // the curves' own question reports it
                auto cells = readValues(**reader, *picture, run, steps);
                if (!cells)
                    return {};
                return [this, picture, steps, run, cells = std::move(*cells)] { take(*picture, run, steps, cells); };
            });
    }
}

void ExactValues::take(const CurvePicture& picture, int run, const std::vector<Step>& steps,
    const std::vector<std::vector<series::CellValue>>& cells)
{
    for (std::size_t i = 0; i < picture.series.size(); ++i) {
        if (!picture.series[i].isMeasuredIn(run))
            continue;
        LegendValue& value = m_values[i];
        value.isExact = true;
        value.stat = picture.series[i].stat;
        value.state = cells.front()[i].state;
        value.value = cells.front()[i].value;
        value.isPart = series::isPartOf(value.stat, cells.front()[i], 0);
        if (cells.front()[i].step != steps.front() && cells.front()[i].state != series::CellState::NotCollected)
            value.at = { cells.front()[i].step, cells.front()[i].step };
        if (cells.size() == 3)
            value.compare(cells[1][i], cells[2][i]);
    }
    m_take(m_values);
}

}

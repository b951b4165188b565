// SPDX-License-Identifier: GPL-3.0-or-later
#include "exactvalues.h"

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
    , m_queryId(context.queries ? context.queries->newView() : 0)
{
    m_timer.setSingleShot(true);
    m_timer.setInterval(0);
    connect(&m_timer, &QTimer::timeout, this, &ExactValues::ask);
    for (const auto signal : { &ViewState::cursorChanged, &ViewState::hoverChanged, &ViewState::marksChanged })
        connect(context.state, signal, this, &ExactValues::askSoon);
}

ExactValues::~ExactValues()
{
    if (m_context.queries)
        m_context.queries->cancel(m_queryId);
}

void ExactValues::askSoon()
{
    m_take({});
    if (m_canvas->isVisible())
        m_timer.start();
}

void ExactValues::ask()
{
    items::assertGuiThread();
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
    m_context.queries->submit(m_queryId, state.run(),
        [this, picture, steps](
            Expected<store::RunReader*> reader, const series::CancelToken&) -> store::QueryPool::Delivery {
            if (!reader)
                return {}; // the curves' own question reports it
            const auto cells = readValues(**reader, *picture, steps);
            if (!cells)
                return {};
            std::vector<LegendValue> values;
            for (std::size_t i = 0; i < picture->series.size(); ++i) {
                LegendValue value;
                value.isExact = !picture->series[i].isOtherRun;
                value.state = cells->front()[i].state;
                value.value = cells->front()[i].value;
                if (cells->size() == 3 && value.isExact)
                    value.compare((*cells)[1][i], (*cells)[2][i]);
                values.push_back(value);
            }
            return [this, picture, values] {
                if (m_picture() == picture)
                    m_take(values);
            };
        });
}

}

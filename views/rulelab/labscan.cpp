// SPDX-License-Identifier: GPL-3.0-or-later
#include "labscan.h"

#include <utility>

#include <telltale/items/guithread.h>

namespace telltale::views {

LabScan::LabScan(store::QueryPool* queries, std::string dataDir, QObject* parent)
    : QObject(parent)
    , m_queries(queries)
    , m_view(queries != nullptr ? queries->newView() : 0)
    , m_dataDir(std::move(dataDir))
{
}

LabScan::~LabScan()
{
    if (m_queries != nullptr)
        m_queries->cancel(m_view);
}

void LabScan::read(const std::vector<store::RunRef>& runs)
{
    items::assertGuiThread();
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
        std::erase_if(m_waiting, [&](const store::RunRef& one) { return one->id == (*run)->id; });
        m_waiting.push_front(*run);
    }
    if (!m_isBusy && m_queries != nullptr)
        next();
}

void LabScan::next()
{
    m_isBusy = !m_waiting.empty();
    if (!m_isBusy) {
        Q_EMIT finished();
        return;
    }
    const store::RunRef run = m_waiting.front();
    m_waiting.pop_front();
    m_queries->submit(m_view, run,
        [this, run, dataDir = m_dataDir](
            Expected<store::RunReader*> reader, const series::CancelToken&) -> store::QueryPool::Delivery {
            auto found = std::make_shared<Found>();
            bool isRead = reader.has_value();
            if (isRead) {
                auto truth = lab::truthOf(**reader);
                auto rules = judge::rulesInForce(dataDir, *reader);
                isRead = truth && rules;
                if (isRead)
                    *found = { std::move(*truth), std::move(*rules) };
            }
            return [this, run, found, isRead] {
                if (isRead) // what cannot be read now has no labels that count
                    Q_EMIT this->found(QString::fromStdString(run->id), found);
                next();
            };
        });
}

}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "dataview.h"

#include <algorithm>

#include <QBuffer>
#include <QComboBox>
#include <QCoreApplication>
#include <QPainter>

#include "svgpage.h"
#include "viewstate.h"

namespace telltale::views {

namespace {

constexpr int kNameRole = Qt::UserRole + 1;

QString choiceOf(const QComboBox& box, int item)
{
    const QVariant name = box.itemData(item, kNameRole);
    return box.objectName() + u'=' + (name.isValid() ? name : box.itemData(item)).toString();
}

}

void addChoice(QComboBox* box, const QString& shown, const QString& name, int value)
{
    box->addItem(shown, value);
    box->setItemData(box->count() - 1, name, kNameRole);
}

void addChoice(QComboBox* box, const QMetaObject& context, const char* text, int value)
{
    addChoice(box, context.tr(text, nullptr), QString::fromUtf8(text), value);
}

DataView::DataView(const ViewContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_queryId(context.queries ? context.queries->newView() : 0)
{
    m_askTimer.setSingleShot(true);
    m_askTimer.setInterval(0);
    connect(&m_askTimer, &QTimer::timeout, this, [this] {
        if (!isVisible())
            return;
        m_stale = false;
        ask();
        if (!m_asking)
            Q_EMIT settled();
    });
}

DataView::~DataView()
{
    if (m_context.queries)
        m_context.queries->cancel(m_queryId);
}

bool DataView::isSettled() const
{
    return !m_asking && !m_stale && !m_askTimer.isActive();
}

QString DataView::beforeFirstStep() const
{
    const store::RunRef& run = m_context.state->run();
    return run && run->isLive() ? tr("Waiting for the first step of this run.")
                                : tr("No step of this run was recorded.");
}

void DataView::keepChoices(std::vector<QComboBox*> boxes)
{
    m_boxes = std::move(boxes);
}

QStringList DataView::choices() const
{
    QStringList choices;
    for (const QComboBox* box : m_boxes) {
        if (box->currentIndex() >= 0)
            choices.append(choiceOf(*box, box->currentIndex()));
    }
    return choices;
}

void DataView::setChoices(const QStringList& choices)
{
    for (QComboBox* box : m_boxes) {
        for (int item = 0; item < box->count(); ++item) {
            if (!choices.contains(choiceOf(*box, item)))
                continue;
            box->setCurrentIndex(item);
            Q_EMIT box->activated(item);
            break;
        }
    }
}

void DataView::askSoon(Urgency urgency)
{
    m_stale = true;
    if (isVisible() && (urgency == Urgency::Now || !m_asking))
        m_askTimer.start();
}

void DataView::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    if (m_stale)
        m_askTimer.start();
}

void DataView::submit(store::QueryPool::Work work)
{
    const store::RunRef run = m_context.state ? m_context.state->run() : nullptr;
    if (!m_context.queries || !run)
        return;
    m_asking = true;
    m_context.queries->submit(m_queryId, run,
        [this, work = std::move(work)](Expected<store::RunReader*> reader, const series::CancelToken& cancel) {
            store::QueryPool::Delivery delivery = work(std::move(reader), cancel);
            // The pool never runs a delivery after the destructor's cancel().
            return [this, delivery = std::move(delivery)] {
                m_asking = false;
                if (delivery)
                    delivery();
                // What it has shown or hidden gets its place now: until the room is known, no answer is the last one.
                QCoreApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
                if (m_stale)
                    askSoon(Urgency::WhenIdle);
                else
                    Q_EMIT settled();
            };
        });
}

QImage DataView::renderImage(QSize size)
{
    QImage image(size, QImage::Format_RGB32);
    image.fill(palette().color(QPalette::Base));
    QPainter painter(&image);
    paintPicture(painter, size);
    return image;
}

QByteArray DataView::renderSvg(QSize size)
{
    QBuffer buffer;
    SvgPage svg;
    svg.setOutputDevice(&buffer);
    svg.setSize(size);
    svg.setViewBox(QRect(QPoint(), size));
    svg.setResolution(96); // of the points that browsers mean
    svg.setTitle(accessibleName().isEmpty() ? objectName() : accessibleName());
    QPainter painter(&svg);
    painter.fillRect(QRect(QPoint(), size), palette().color(QPalette::Base));
    paintPicture(painter, size);
    painter.end();
    // The cells of a heat map are what was measured: nothing between two of them was.
    QByteArray document = buffer.data();
    return document.replace("<image ", "<image style=\"image-rendering:pixelated\" ");
}

void DataView::paintPicture(QPainter& painter, QSize size)
{
    painter.scale(static_cast<double>(size.width()) / std::max(1, width()),
        static_cast<double>(size.height()) / std::max(1, height()));
    render(&painter, QPoint(), QRegion(), QWidget::DrawChildren);
}

}

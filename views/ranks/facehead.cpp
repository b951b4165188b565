// SPDX-License-Identifier: GPL-3.0-or-later
#include "facehead.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QSignalBlocker>
#include <QSlider>

#include <telltale/common/labels.h>
#include <telltale/common/theme.h>

namespace telltale::views {

namespace {
constexpr int kHeight = 28;
constexpr int kLeastSlider = 48;

/// Cut as names are everywhere: their last parts tell them from others.
class ValueLabel : public QLabel {
public:
    using QLabel::QLabel;

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        painter.setPen(palette().color(foregroundRole()));
        painter.drawText(rect(), Qt::AlignLeft | Qt::AlignVCenter,
            fitLabels({ text() }, QFontMetricsF(painter.font()), width()).front());
    }
};
}

FaceHead::FaceHead(const QString& title, const QString& axis, const QString& objectName, QWidget* parent)
    : QWidget(parent)
    , m_title(title)
    , m_name(new QLabel(title, this))
    , m_value(new ValueLabel(this))
    , m_slider(new QSlider(Qt::Horizontal, this))
{
    setFixedHeight(kHeight);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(12, 0, 12, 0);
    layout->setSpacing(8);
    m_name->setFont(wordsFont(11, 500));
    m_value->setFont(wordsFont(11));
    m_value->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_slider->setObjectName(objectName);
    m_slider->setAccessibleName(tr("%1: %2").arg(title, axis));
    m_slider->setMinimumWidth(kLeastSlider);
    layout->addWidget(m_name);
    layout->addWidget(m_slider, 1);
    layout->addWidget(m_value, 1);
    connect(m_slider, &QSlider::valueChanged, this, &FaceHead::moved);
}

void FaceHead::set(int count, int current, const QString& text)
{
    const QSignalBlocker blocker(m_slider);
    // A hand that drags it is not pulled back by an answer that is late.
    if (!m_slider->isSliderDown()) {
        m_slider->setRange(0, std::max(0, count - 1));
        m_slider->setValue(std::max(0, current));
    }
    m_slider->setPageStep(std::max(1, count / 10));
    m_slider->setEnabled(count > 1);
    m_value->setText(text);
    m_value->setToolTip(text);
    m_slider->setToolTip(text);
}

void FaceHead::setTitle(const QString& title)
{
    m_title = title;
    m_name->setText(title);
}

QString FaceHead::text() const
{
    return tr("%1, at %2").arg(m_title, m_value->text());
}

}

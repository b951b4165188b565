// SPDX-License-Identifier: GPL-3.0-or-later
#include "parameterrow.h"

#include <algorithm>
#include <cmath>

#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QPainter>
#include <QScopedValueRollback>
#include <QSlider>
#include <QToolButton>

#include <telltale/common/theme.h>
#include <telltale/items/numbertext.h>
#include <telltale/items/ruletitles.h>
#include <telltale/items/tooltiptext.h>
#include <telltale/runs/panelhead.h>
#include <telltale/runs/rolelabel.h>

#include "ownkeys.h"
#include "rulesdraft.h"

namespace telltale::views {
namespace {

constexpr int kPositions = 600;

bool isCount(const judge::Parameter& parameter)
{
    return parameter.name == "steps" || parameter.name == "times";
}

/// Whole numbers with their digits in groups, as everywhere else.
QString shownNumber(double value)
{
    const bool isWhole = value == std::floor(value) && std::abs(value) < 1e15;
    return isWhole ? formatStep(static_cast<qint64>(value)) : RulesDraft::numberText(value);
}

class NumberBox : public QDoubleSpinBox {
public:
    using QDoubleSpinBox::QDoubleSpinBox;
    QString textFromValue(double value) const override { return shownNumber(value); }
    double valueFromText(const QString& text) const override { return QDoubleSpinBox::valueFromText(plain(text)); }
    QValidator::State validate(QString& text, int& position) const override
    {
        QString digits = plain(text);
        return QDoubleSpinBox::validate(digits, position);
    }

private:
    static QString plain(QString text) { return text.remove(QChar(0x202F)); }
};

QString text(std::string_view words)
{
    return QString::fromUtf8(words.data(), static_cast<qsizetype>(words.size()));
}

}

ParameterRow::ParameterRow(judge::Rule rule, std::size_t parameter, RulesDraft* draft, QWidget* parent)
    : QWidget(parent)
    , m_rule(rule)
    , m_number(parameter)
    , m_parameter(judge::infoOf(rule).parameters[parameter])
    , m_draft(draft)
    , m_slider(new QSlider(Qt::Horizontal, this))
    , m_box(new NumberBox(this))
    , m_undo(makeToolButton(QStringLiteral("undo"), tr("Back to what is in force"), this))
    , m_suggest(makeToolButton(QStringLiteral("search"), tr("Suggest a value by what was labeled"), this))
{
    const QString id = text(judge::idOf(rule));
    const QString pointer = QStringLiteral("/rules/%1/%2").arg(id, text(m_parameter.name));
    setToolTip(items::toolTipText(
        tr("%1. Standard: %2").arg(items::ruleText(m_parameter.description), shownNumber(m_parameter.standard))));
    auto* label = (new RoleLabel(text(m_parameter.name), &Theme::text2, codeFont(12), this))->asData();
    label->setFixedWidth(ParameterRow::kNameWidth);
    label->setBuddy(m_box);
    const QString name = QStringLiteral("%1 %2").arg(id, text(m_parameter.name));
    m_slider->setObjectName(QStringLiteral("slider") + pointer);
    m_slider->setRange(0, kPositions);
    m_slider->setPageStep(kPositions / 20);
    m_slider->setAccessibleName(name);
    m_slider->setFocusPolicy(Qt::StrongFocus);
    m_slider->setMinimumWidth(80);
    m_box->setObjectName(QStringLiteral("box") + pointer);
    m_box->setAccessibleName(name);
    m_box->setFont(numberFont(12));
    m_box->setDecimals(isCount(m_parameter) ? 0 : 6);
    m_box->setRange(m_parameter.least, m_parameter.most);
    m_box->setStepType(
        isCount(m_parameter) ? QAbstractSpinBox::DefaultStepType : QAbstractSpinBox::AdaptiveDecimalStepType);
    m_box->setFocusPolicy(Qt::StrongFocus);
    m_box->setKeyboardTracking(false);
    m_box->setButtonSymbols(QAbstractSpinBox::NoButtons);
    m_box->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_box->setFixedWidth(76);
    m_suggest->setObjectName(QStringLiteral("suggest") + pointer);
    m_suggest->setToolTip(
        items::toolTipText(tr("Look for the value that best separates what was labeled true from false alarms")));
    m_undo->setFocusPolicy(Qt::NoFocus);
    for (QToolButton* button : { m_suggest, m_undo }) {
        auto keeps = button->sizePolicy();
        keeps.setRetainSizeWhenHidden(true);
        button->setSizePolicy(keeps);
    }

    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(24, 1, 8, 1);
    row->setSpacing(8);
    row->addWidget(label);
    row->addWidget(m_slider, 1);
    row->addWidget(m_box);
    row->addWidget(m_suggest);
    row->addWidget(m_undo);
    for (QWidget* control : { static_cast<QWidget*>(m_slider), static_cast<QWidget*>(m_box) })
        control->installEventFilter(this);
    connect(m_slider, &QSlider::valueChanged, this, [this](int position) {
        if (!m_isTaking)
            m_draft->setValue(m_rule, m_number, valueAt(position));
    });
    connect(m_box, &QDoubleSpinBox::valueChanged, this, [this](double value) {
        if (!m_isTaking)
            m_draft->setValue(m_rule, m_number, value);
    });
    connect(m_undo, &QToolButton::clicked, this,
        [this] { m_draft->setValue(m_rule, m_number, m_draft->inForce().value(m_rule, m_number)); });
    connect(m_suggest, &QToolButton::clicked, this, [this] { Q_EMIT suggestionWanted(m_rule, m_number); });
    takeDraft();
}

int ParameterRow::positionOf(double value) const
{
    const double share = std::log(value / m_parameter.least) / std::log(m_parameter.most / m_parameter.least);
    return static_cast<int>(std::lround(share * kPositions));
}

/// With as many digits as a position has a say in.
double ParameterRow::valueAt(int position) const
{
    const double value = m_parameter.least
        * std::pow(m_parameter.most / m_parameter.least, static_cast<double>(position) / kPositions);
    const double unit = isCount(m_parameter) ? 1 : std::pow(10.0, std::floor(std::log10(value)) - 2);
    // A power of ten is divided by where it is small: 0.35, and not 0.35000000000000003.
    const double rounded = unit < 1 ? std::round(value / unit) / std::round(1 / unit) : std::round(value / unit) * unit;
    return std::clamp(rounded, m_parameter.least, m_parameter.most);
}

void ParameterRow::takeDraft()
{
    const QScopedValueRollback<bool> guard(m_isTaking, true);
    const double value = m_draft->rules().value(m_rule, m_number);
    m_box->setValue(value);
    // Where the slider stands may stand for several values.
    if (valueAt(m_slider->value()) != value)
        m_slider->setValue(positionOf(value));
    const double before = m_draft->inForce().value(m_rule, m_number);
    m_isChanged = value != before;
    m_undo->setVisible(m_isChanged);
    m_undo->setToolTip(tr("Back to %1, which is in force").arg(shownNumber(before)));
    const bool isOn = m_draft->rules().isOn(m_rule);
    m_slider->setEnabled(isOn);
    m_box->setEnabled(isOn);
    m_suggest->setVisible(isOn); // nothing is looked for of a rule that is off
    update();
}

bool ParameterRow::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::FocusIn)
        Q_EMIT entered(m_slider->objectName().mid(6));
    if (takesKey(*event)) {
        event->accept();
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

void ParameterRow::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    if (m_isChanged)
        painter.fillRect(0, 2, 3, height() - 4, Theme::current().accent);
}

}

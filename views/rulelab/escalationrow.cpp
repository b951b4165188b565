// SPDX-License-Identifier: GPL-3.0-or-later
#include "escalationrow.h"

#include <algorithm>

#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QSpinBox>
#include <QStyleOptionFrame>
#include <QToolButton>
#include <QVBoxLayout>

#include <nlohmann/json.hpp>

#include <telltale/common/theme.h>
#include <telltale/items/tooltiptext.h>
#include <telltale/runs/panelhead.h>
#include <telltale/runs/rolelabel.h>
#include <telltale/steering/configtemplates.h>

#include "ownkeys.h"
#include "parameterrow.h"
#include "rulesdraft.h"

namespace telltale::views {
namespace {

constexpr int kUsualSteps = 50;
constexpr int kMostSteps = 100'000;
constexpr int kMostTimes = 1000;
constexpr int kNothing = 0; ///< entries of the choice; templates come after these
constexpr int kOwnFields = 1;

/// The line above the form says it whole: of a config what is wrong with that, and not all that it might be instead.
QString shortened(const std::string& sentence)
{
    const QString all = QString::fromStdString(sentence);
    const qsizetype problem = all.indexOf(QLatin1String("problem: "));
    return (problem < 0 ? all : all.mid(problem + 9)).section(QLatin1String("; known are"), 0, 0);
}

/// Of the templates in their order: the forward pass, gradients, attention.
int suitingEntry(judge::Rule rule)
{
    const bool isAttention = rule == judge::Rule::EntropyCollapse || rule == judge::Rule::MaxLogit;
    return kOwnFields + (rule == judge::Rule::Loss ? 1 : isAttention ? 3 : 2);
}

/// Cut with dots while nobody edits it.
class ConfigEdit : public QLineEdit {
public:
    using QLineEdit::QLineEdit;

protected:
    void paintEvent(QPaintEvent* event) override
    {
        const int room = width() - textMargins().left() - textMargins().right() - 8;
        if (hasFocus() || fontMetrics().horizontalAdvance(text()) <= room) {
            QLineEdit::paintEvent(event);
            return;
        }
        QPainter painter(this);
        QStyleOptionFrame frame;
        initStyleOption(&frame);
        style()->drawPrimitive(QStyle::PE_PanelLineEdit, &frame, &painter, this);
        painter.setPen(palette().color(QPalette::Text));
        painter.drawText(rect().adjusted(textMargins().left() + 4, 0, 0, 0), static_cast<int>(Qt::AlignVCenter),
            fontMetrics().elidedText(text(), Qt::ElideRight, room));
    }
};

/// The same fields in the same order, however they were written.
QString normalOf(const std::string& config)
{
    const auto json = nlohmann::json::parse(config, nullptr, false);
    return json.is_discarded() ? QString() : QString::fromStdString(json.dump());
}

}

EscalationRow::EscalationRow(judge::Rule rule, RulesDraft* draft, QPushButton* ask, QWidget* parent)
    : QWidget(parent)
    , m_rule(rule)
    , m_pointer(QStringLiteral("/rules/%1/escalate").arg(QString::fromStdString(std::string(judge::idOf(rule)))))
    , m_draft(draft)
    , m_ask(ask)
    , m_what(new QComboBox(this))
    , m_undo(makeToolButton(QStringLiteral("undo"), tr("Back to what is in force"), this))
    , m_more(new QWidget(this))
    , m_config(new ConfigEdit(m_more))
    , m_steps(new QSpinBox(m_more))
    , m_times(new QSpinBox(m_more))
    , m_problem((new RoleLabel(&Theme::criticalText, wordsFont(11), m_more))->asData())
{
    makeRows();
    tint();
    connect(m_ask, &QPushButton::clicked, this, [this] {
        choose(suitingEntry(m_rule));
        m_what->setFocus();
    });
    connect(m_what, &QComboBox::activated, this, &EscalationRow::choose);
    connect(m_config, &QLineEdit::textEdited, this, &EscalationRow::edit);
    for (QSpinBox* box : { m_steps, m_times }) {
        connect(box, &QSpinBox::valueChanged, this, [this] {
            if (!m_isTaking)
                edit();
        });
    }
    connect(m_undo, &QToolButton::clicked, this, [this] {
        const judge::Escalation& before = m_draft->inForce().escalation(m_rule);
        m_config->setModified(false);
        m_draft->setEscalation(m_rule, QString::fromStdString(before.config), before.steps, before.times);
    });
    takeDraft();
}

void EscalationRow::makeRows()
{
    const QString id = m_pointer.section(u'/', 2, 2);
    auto* label = (new RoleLabel(QStringLiteral("escalate"), &Theme::text2, codeFont(12), this))->asData();
    label->setFixedWidth(ParameterRow::kNameWidth);
    label->setBuddy(m_what);
    m_ask->setObjectName(QStringLiteral("ask") + m_pointer);
    m_what->setObjectName(QStringLiteral("what") + m_pointer);
    m_what->setAccessibleName(id + QStringLiteral(" escalate"));
    m_what->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_what->setMinimumContentsLength(12);
    m_what->addItem(tr("Collect nothing more"));
    m_what->addItem(tr("Fields of config.json"));
    for (const ConfigTemplate& one : configTemplates()) {
        const std::string more = one.addition();
        if (more.find("true") == std::string::npos) // it collects nothing
            continue;
        m_what->addItem(one.brief(), normalOf(more));
        m_what->setItemData(m_what->count() - 1, one.name(), Qt::ToolTipRole);
    }
    m_ask->setText(tr("Collect more\u2026"));
    m_ask->setFlat(true);
    m_ask->setFixedHeight(22);
    m_ask->setCursor(Qt::PointingHandCursor);
    m_ask->setFont(wordsFont(11));
    m_ask->setAccessibleName(id + QStringLiteral(" escalate"));
    m_ask->setToolTip(items::toolTipText(tr("Ask the ranks around an incident of this rule for more, for some steps")));
    setToolTip(items::toolTipText(
        tr("What the ranks around an incident of this rule collect more, for some steps; then what they had "
           "before. What a person applies comes first.")));
    m_config->setObjectName(QStringLiteral("config") + m_pointer);
    m_config->setAccessibleName(id + QStringLiteral(" escalate config"));
    m_config->setFont(codeFont(12));
    m_config->setTextMargins(5, 0, 5, 0);
    m_config->setMinimumWidth(120);
    m_steps->setObjectName(QStringLiteral("steps") + m_pointer);
    m_steps->setAccessibleName(id + QStringLiteral(" escalate steps"));
    m_steps->setRange(1, kMostSteps);
    m_times->setObjectName(QStringLiteral("times") + m_pointer);
    m_times->setAccessibleName(id + QStringLiteral(" escalate times"));
    m_times->setRange(0, kMostTimes);
    m_times->setSpecialValueText(tr("any"));
    m_times->setToolTip(tr("At most so many times in a run"));
    for (QSpinBox* box : { m_steps, m_times }) {
        box->setFont(numberFont(12));
        box->setFocusPolicy(Qt::StrongFocus);
        box->setKeyboardTracking(false);
        box->setButtonSymbols(QAbstractSpinBox::NoButtons);
        box->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
        box->setFixedWidth(56);
    }
    m_problem->setWordWrap(true);
    m_undo->setFocusPolicy(Qt::NoFocus);
    auto keeps = m_undo->sizePolicy();
    keeps.setRetainSizeWhenHidden(true);
    m_undo->setSizePolicy(keeps);

    auto* first = new QHBoxLayout;
    first->setContentsMargins(0, 0, 0, 0);
    first->setSpacing(8);
    first->addWidget(label);
    first->addWidget(m_what, 1);
    first->addWidget(m_undo);
    auto* limits = new QHBoxLayout;
    limits->setSpacing(8);
    const auto word = [this](const QString& text, QWidget* buddy) {
        auto* made = new RoleLabel(text, &Theme::text2, wordsFont(12), m_more);
        made->setBuddy(buddy);
        return made;
    };
    limits->addWidget(word(tr("Steps"), m_steps));
    limits->addWidget(m_steps);
    limits->addSpacing(8);
    limits->addWidget(word(tr("Times"), m_times));
    limits->addWidget(m_times);
    limits->addStretch(1);
    auto* below = new QVBoxLayout(m_more);
    below->setContentsMargins(ParameterRow::kNameWidth + 8, 0, 34, 4);
    below->setSpacing(4);
    below->addWidget(m_config);
    below->addWidget(m_problem);
    below->addLayout(limits);
    auto* rows = new QVBoxLayout(this);
    rows->setContentsMargins(24, 1, 8, 1);
    rows->setSpacing(4);
    rows->addLayout(first);
    rows->addWidget(m_more);
    for (QWidget* control : std::initializer_list<QWidget*> { m_what, m_config, m_steps, m_times })
        control->installEventFilter(this);
    m_ask->installEventFilter(this);
}

void EscalationRow::choose(int entry)
{
    m_config->setModified(entry == kOwnFields); // a template's to begin with are somebody's own now
    if (entry == kNothing)
        return m_draft->setEscalation(m_rule, {}, 0, 0);
    const QString config = entry != kOwnFields ? m_what->itemData(entry).toString()
        : m_config->text().isEmpty()           ? QStringLiteral("{\"xy_distribution\":true}")
                                               : m_config->text();
    const judge::Escalation& now = m_draft->rules().escalation(m_rule);
    m_draft->setEscalation(m_rule, config, now.config.empty() ? kUsualSteps : now.steps, now.times);
    if (entry == kOwnFields)
        m_config->setFocus();
}

void EscalationRow::edit()
{
    m_draft->setEscalation(m_rule, m_config->text().isEmpty() ? QStringLiteral("{}") : m_config->text(),
        m_steps->value(), m_times->value());
}

void EscalationRow::takeDraft()
{
    const QScopedValueRollback<bool> guard(m_isTaking, true);
    const std::string pointer = m_pointer.toStdString();
    const auto& problems = m_draft->problems();
    const auto problem = std::find_if(problems.begin(), problems.end(),
        [&pointer](const judge::RulesProblem& one) { return one.pointer == pointer; });
    const bool isWrong = problem != problems.end();
    m_problem->setText(isWrong ? shortened(problem->sentence) : QString());
    m_problem->setVisible(isWrong);
    const judge::Escalation& now = m_draft->rules().escalation(m_rule);
    const bool isOn = isWrong || !now.config.empty();
    const QString config = normalOf(now.config);
    // What is being typed stands as it was typed, and keeps its place in the choice.
    const bool isTyped
        = m_config->isModified() && isOn && (isWrong || normalOf(m_config->text().toStdString()) == config);
    if (!isTyped && !isWrong) {
        m_config->setText(config);
        m_config->setCursorPosition(0);
    }
    m_config->setToolTip(m_config->text());
    const int known = m_what->findData(config);
    m_what->setCurrentIndex(!isOn ? kNothing : isWrong || isTyped || known < 0 ? kOwnFields : known);
    if (isOn && !isWrong) {
        m_steps->setValue(static_cast<int>(now.steps));
        m_times->setValue(static_cast<int>(now.times));
    }
    m_isChanged = isWrong || now != m_draft->inForce().escalation(m_rule);
    const QString whole = m_what->currentData(Qt::ToolTipRole).toString();
    m_what->setToolTip(whole.isEmpty() ? m_what->currentText() : whole);
    m_undo->setVisible(m_isChanged);
    const bool isAsked = m_draft->rules().isOn(m_rule);
    m_ask->setVisible(!isOn);
    m_ask->setEnabled(isAsked);
    setVisible(isOn);
    setEnabled(isAsked);
    update();
}

bool EscalationRow::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_ask) {
        if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange)
            tint();
        return QWidget::eventFilter(watched, event);
    }
    if (event->type() == QEvent::FocusIn)
        Q_EMIT entered(m_pointer);
    if (takesKey(*event)) {
        event->accept();
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

/// A link, in every theme: a flat button looks like a word.
void EscalationRow::tint()
{
    const QColor& accent = Theme::current().accent;
    if (m_ask->palette().color(QPalette::Active, QPalette::ButtonText) == accent)
        return; // ends the recursion through PaletteChange
    QPalette link;
    link.setColor(QPalette::Active, QPalette::ButtonText, accent);
    link.setColor(QPalette::Inactive, QPalette::ButtonText, accent);
    m_ask->setPalette(link);
}

void EscalationRow::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const Theme& theme = Theme::current();
    if (m_isChanged)
        painter.fillRect(0, 2, 3, height() - 4, m_problem->text().isEmpty() ? theme.accent : theme.criticalMark);
}

}

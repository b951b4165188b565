// SPDX-License-Identifier: GPL-3.0-or-later
#include "fieldrow.h"

#include <algorithm>

#include <QCheckBox>
#include <QComboBox>
#include <QCompleter>
#include <QEvent>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPainter>
#include <QScopedValueRollback>
#include <QToolButton>

#include <telltale/common/theme.h>
#include <telltale/common/themestyle.h>
#include <telltale/runs/panelhead.h>
#include <telltale/runs/rolelabel.h>

#include "configdraft.h"
#include "fieldhint.h"
#include "fieldtext.h"
#include "numberedit.h"
#include "problemlabel.h"
#include "switchbutton.h"

namespace telltale::views {
namespace {

/// Telltale's own object is not named: its fields stand among the others, in groups of what they are about.
QString dotted(const config::Field& field)
{
    return field.object.empty() || field.object == "telltale" ? fieldText(field.name)
                                                              : fieldText(field.object) + u'.' + fieldText(field.name);
}

constexpr int kHeight = 26; ///< of a row, whatever its control
constexpr int kBeforeStretch = 1000; ///< a field has the room before what is empty behind it, but for a pixel
constexpr int kLeastInput = 72;
constexpr int kMostInput = 240;
constexpr int kHintRoom = 78; ///< for one behind an input, so that all of these end at one place
constexpr int kBeforeRoom = 60; ///< for what a field was
constexpr int kMostSentences = 4; ///< on what is wrong with one field
constexpr int kUndoRoom = 8 + 26;
constexpr int kHintsRoom = 460; ///< as wide as names, fields and hints need beside each other
constexpr int kWideHintsRoom = 600;

/// The names that a field chooses of, where it is a list of them.
config::Json namesIn(const config::Json& schema)
{
    if (schema.contains("anyOf"))
        return namesIn(schema["anyOf"].back());
    if (schema.value("type", config::Json()) == "array" && schema.contains("items") && schema["items"].contains("enum"))
        return schema["items"]["enum"];
    return {};
}

QStringList partsOf(const QString& text)
{
    QStringList parts;
    for (const QString& part : text.split(u',', Qt::SkipEmptyParts)) {
        if (const QString name = part.trimmed(); !name.isEmpty())
            parts.append(name);
    }
    return parts;
}

/// What somebody typed, as JSON: a word that is none is a text, so that what is wrong is said of the field.
config::Json typed(const QString& text)
{
    auto value = config::Json::parse(text.trimmed().toStdString(), nullptr, false);
    return value.is_discarded() ? config::Json(text.trimmed().toStdString()) : value;
}

/// How a value stands in a text field.
QString shown(const config::Json& value)
{
    if (value.is_null())
        return {};
    if (value.is_string())
        return QString::fromStdString(value.get<std::string>());
    return QString::fromStdString(value.dump(-1, ' ', false, config::Json::error_handler_t::replace));
}

bool isListOf(const config::Json& schema, const char* type)
{
    return schema.value("type", config::Json()) == "array" && schema.contains("items")
        && schema["items"].value("type", config::Json()) == type;
}

}

FieldRow::FieldRow(const config::Field& field, ConfigDraft* draft, QWidget* parent)
    : QWidget(parent)
    , m_field(field)
    , m_pointer(QString::fromStdString(field.pointer()))
    , m_draft(draft)
    , m_hint(new RoleLabel(&Theme::text3, wordsFont(11), this))
    , m_undo(makeToolButton(QStringLiteral("undo"), tr("Undo this change"), this))
    , m_problem(new ProblemLabel(11, this))
{
    m_problem->asData();
    const QString name = dotted(field);
    auto* label = (new RoleLabel(name, &Theme::text, codeFont(12), this))->asData();
    label->setMinimumHeight(kHeight);
    setToolTip(fieldSentence(field.description)
        + (field.isLocal ? u' ' + tr("Only the training's own file can change it.") : QString()));
    auto* control = makeControl(field.schema());
    // A switch has room for its focus at its left: its track begins where the other controls do.
    label->setFixedWidth(kNameWidth - (qobject_cast<SwitchButton*>(control) != nullptr ? SwitchButton::kInset : 0));
    control->setAccessibleName(name);
    control->setObjectName(m_pointer);
    control->installEventFilter(this);
    label->setBuddy(control);
    m_isInput = qobject_cast<QLineEdit*>(control) != nullptr || qobject_cast<QComboBox*>(control) != nullptr;
    m_isWide = control->layout() != nullptr;
    if (m_isInput) {
        control->setMinimumWidth(kLeastInput);
        control->setMaximumWidth(kMostInput);
        control->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    }

    auto* row = new QHBoxLayout;
    row->setContentsMargins(12, 0, 12, 0);
    row->setSpacing(8);
    // Beside its first line where the control has several.
    row->addWidget(label, 0, m_isWide ? Qt::AlignTop : Qt::Alignment());
    row->addWidget(control, m_isInput ? kBeforeStretch : 0);
    row->addStretch(1);
    m_hint->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    row->addWidget(m_hint);
    row->addWidget(m_undo);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 1, 0, 1);
    layout->setSpacing(0);
    layout->addLayout(row);
    auto* below = new QHBoxLayout;
    below->setContentsMargins(kNameWidth + 20, 0, 8, 0);
    below->addWidget(m_problem);
    layout->addLayout(below);
    m_undo->setFocusPolicy(Qt::NoFocus);
    connect(m_undo, &QToolButton::clicked, this, [this] { m_draft->undo(m_pointer); });
    takeDraft();
}

QWidget* FieldRow::makeControl(const Json& schema)
{
    if (const Json names = namesIn(schema); !names.is_null())
        return makeChecks(names);
    if (schema.contains("enum"))
        return makeChoice(schema["enum"]);
    if (schema.value("type", Json()) == "boolean")
        return makeSwitch();
    return makeText(schema);
}

QWidget* FieldRow::makeSwitch()
{
    auto* button = new SwitchButton(this);
    connect(button, &QAbstractButton::clicked, this, [this](bool on) { set(on); });
    m_show = [button](const Json& value) {
        button->setChecked(value == true);
        button->setWaiting(!value.is_boolean()); // neither on nor off
    };
    return button;
}

QWidget* FieldRow::makeChoice(const Json& names)
{
    auto* box = new QComboBox(this);
    box->setProperty("telltaleData", true);
    for (const Json& name : names)
        box->addItem(shown(name));
    connect(box, &QComboBox::activated, this, [this, box] { set(box->currentText().toStdString()); });
    m_show = [box](const Json& value) { box->setCurrentIndex(box->findText(shown(value))); };
    return box;
}

QWidget* FieldRow::makeChecks(const Json& names)
{
    // Long names below each other: the form is seldom wide enough for two of them.
    constexpr std::size_t kShort = 10;
    const int inARow = std::all_of(names.begin(), names.end(),
                           [](const Json& name) { return name.get_ref<const std::string&>().size() <= kShort; })
        ? 2
        : 1;
    auto* group = new QWidget(this);
    group->setProperty("telltaleData", true); // the names are the config's own
    auto* grid = new QGridLayout(group);
    grid->setContentsMargins(0, 4, 0, 4);
    grid->setHorizontalSpacing(12);
    std::vector<QCheckBox*> boxes;
    for (const Json& name : names) {
        auto* box = new QCheckBox(shown(name), group);
        const int number = static_cast<int>(boxes.size());
        grid->addWidget(box, number / inARow, number % inARow);
        box->installEventFilter(this);
        boxes.push_back(box);
    }
    for (QCheckBox* box : boxes) {
        connect(box, &QCheckBox::clicked, this, [this, boxes] {
            Json chosen = Json::array();
            for (const QCheckBox* one : boxes) {
                if (one->isChecked())
                    chosen.push_back(one->text().toStdString());
            }
            set(chosen);
        });
    }
    m_show = [boxes](const Json& value) {
        for (QCheckBox* box : boxes)
            box->setChecked(std::find(value.begin(), value.end(), box->text().toStdString()) != value.end());
    };
    return group;
}

QWidget* FieldRow::makeText(const Json& schema)
{
    const Json& number = schema.contains("anyOf") ? schema["anyOf"].front() : schema; // one that may be a switch, too
    const bool isNumber = number.contains("minimum");
    const Json type = number.value("type", Json());
    const bool isWhole = isNumber && (type.is_array() ? type.front() : type) == "integer";
    QLineEdit* edit = isWhole ? new NumberEdit(number["minimum"].get<qint64>(), number["maximum"].get<qint64>(), this)
                              : new QLineEdit(this);
    if (!isWhole)
        edit->setFont(isNumber ? numberFont(12) : codeFont(12));
    const bool isTargets = m_field.name == "targets";
    const bool isList = isTargets || isListOf(schema, "integer") || isListOf(schema, "string");
    if (m_field.name == "attention_maps_steps")
        edit->setPlaceholderText(tr("by interval"));
    else if (isList)
        edit->setPlaceholderText(tr("all"));
    else if (m_field.name == "overhead_budget" || m_field.name == "ndigits")
        edit->setPlaceholderText(tr("none"));
    const auto read = [=, this](const QString& text) -> Json {
        if (isTargets) {
            // What a target selects of its module stays with its name.
            const Json before = m_field.write(m_draft->config());
            Json targets = Json::object();
            for (const QString& name : partsOf(text))
                targets[name.toStdString()] = before.value(name.toStdString(), Json::object());
            return targets;
        }
        if (isList) {
            Json items = Json::array();
            for (const QString& item : partsOf(text))
                items.push_back(isListOf(schema, "integer") ? typed(item) : Json(item.toStdString()));
            return items;
        }
        if (text.trimmed().isEmpty())
            return m_field.write({});
        if (isWhole)
            return typed(NumberEdit::ungrouped(text));
        return schema.value("type", Json()) == "string" ? Json(text.toStdString()) : typed(text);
    };
    connect(edit, &QLineEdit::textEdited, this, [this, read](const QString& text) {
        const QScopedValueRollback<bool> typing(m_isTyping, true);
        set(read(text));
        m_understood = m_draft->valueOf(m_field);
    });
    // Normal form once it is left, as the draft understood it.
    connect(edit, &QLineEdit::editingFinished, this, [this, edit] {
        edit->setModified(m_hasProblem);
        takeDraft();
    });
    m_show = [=, this](const Json& value) {
        QStringList items;
        const bool isItems = isTargets ? value.is_object() : isList && value.is_array();
        if (isTargets && isItems) {
            for (const auto& [name, selection] : value.items())
                items.append(QString::fromStdString(name));
        } else if (isItems) {
            for (const Json& item : value)
                items.append(shown(item));
        }
        const QString text = isItems ? items.join(QStringLiteral(", "))
            : isWhole                ? grouped(shown(value))
                                     : shown(value);
        // What is being typed stands as it was typed: of "0.02" the first "0" means none.
        const bool isTyped = m_isTyping || (edit->isModified() && (m_hasProblem || m_understood == value));
        if (!isTyped && edit->text() != text)
            edit->setText(text);
    };
    return edit;
}

void FieldRow::set(const Json& value)
{
    m_draft->setValue(m_pointer, QString::fromStdString(value.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

void FieldRow::setRoom(int width)
{
    m_hint->setVisible(width >= (m_isWide ? kWideHintsRoom : kHintsRoom));
    fitHint();
}

void FieldRow::fitHint()
{
    QSizePolicy policy = m_undo->sizePolicy();
    policy.setRetainSizeWhenHidden(m_isInput && m_hint->isHidden());
    m_undo->setSizePolicy(policy);
    m_hint->setMinimumWidth(m_isInput ? kHintRoom + (m_undo->isHidden() ? kUndoRoom : 0) : 0);
}

QString FieldRow::shownText(const QString& json) const
{
    if (json != QLatin1String("[]") && json != QLatin1String("{}") && json != QLatin1String("null"))
        return grouped(json);
    const auto* edit = findChild<QLineEdit*>(m_pointer);
    return edit != nullptr && !edit->placeholderText().isEmpty() ? edit->placeholderText() : tr("none");
}

void FieldRow::takeDraft()
{
    const QString below = m_pointer + u'/';
    QStringList sentences;
    bool isError = false;
    for (const config::Problem& problem : m_draft->problems()) {
        const QString pointer = QString::fromStdString(problem.pointer);
        if (pointer != m_pointer && !pointer.startsWith(below))
            continue;
        sentences.append(problemSentence(problem));
        isError = isError || problem.isError;
    }
    m_hasProblem = !sentences.isEmpty();
    if (const auto hidden = static_cast<int>(sentences.size()) - kMostSentences; hidden > 1) {
        sentences.resize(kMostSentences);
        sentences.append(tr("and %n more", nullptr, hidden));
    }
    m_problem->setProblem(sentences.join(u'\n'), isError);
    m_problem->setVisible(m_hasProblem);
    for (auto* edit : findChildren<QLineEdit*>()) {
        edit->setProperty(kProblemProperty, m_hasProblem && isError);
        edit->update();
    }
    const Json value = m_draft->valueOf(m_field);
    m_show(value);
    const auto* change = m_draft->changeOf(m_pointer);
    m_isChanged = change != nullptr;
    m_isUsed = m_isChanged || m_hasProblem || value != m_field.write({});
    m_undo->setVisible(m_isChanged);
    fitHint();
    const QString before = change != nullptr ? shownText(QString::fromStdString(change->before)) : QString();
    m_hint->setColor(m_isChanged ? &Theme::accent : &Theme::text3);
    const auto wide
        = [this](const QString& text) { return m_hint->fontMetrics().horizontalAdvance(text) > kBeforeRoom; };
    bool isNumber = false;
    const double number = change != nullptr ? QString::fromStdString(change->before).toDouble(&isNumber) : 0;
    const QString shortest = isNumber && wide(before) ? formatShort(number) : before;
    m_hint->setText(m_isChanged
            ? tr("was %1").arg(m_hint->fontMetrics().elidedText(shortest, Qt::ElideRight, kBeforeRoom))
            : m_draft->isInvalid(m_field.pointer()) ? QString()
                                                    : fieldHint(m_field, value, *m_draft));
    m_hint->setToolTip(before);
    update();
}

bool FieldRow::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::FocusIn)
        Q_EMIT entered(m_pointer);
    return QWidget::eventFilter(watched, event);
}

void FieldRow::paintEvent(QPaintEvent*)
{
    const Theme& theme = Theme::current();
    QPainter painter(this);
    if (m_hasProblem || m_isChanged)
        painter.fillRect(0, 2, 3, height() - 4, m_hasProblem ? theme.criticalMark : theme.accent);
}

}

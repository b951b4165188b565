// SPDX-License-Identifier: GPL-3.0-or-later
#include "configform.h"

#include <algorithm>

#include <QVBoxLayout>

#include <telltale/common/theme.h>
#include <telltale/config/field.h>
#include <telltale/runs/rolelabel.h>

#include "configdraft.h"
#include "configreference.h"
#include "fieldrow.h"

namespace telltale::views {

ConfigForm::ConfigForm(ConfigDraft* draft, QWidget* parent)
    : QScrollArea(parent)
{
    setObjectName(QStringLiteral("configForm"));
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setFocusPolicy(Qt::NoFocus);
    auto* rows = new QWidget;
    rows->setBackgroundRole(QPalette::Base);
    rows->setAutoFillBackground(true);
    auto* layout = new QVBoxLayout(rows);
    layout->setContentsMargins(0, 4, 0, 12);
    layout->setSpacing(0);
    const QStringList titles = fieldGroupTitles();
    for (int number = 0; number < titles.size(); ++number) {
        Group group;
        group.title = new RoleLabel(titles[number], &Theme::text2, wordsFont(12, 600), rows);
        group.title->setContentsMargins(12, 10, 0, 4);
        layout->addWidget(group.title);
        for (const config::Field& field : config::fields()) {
            if (field.group != static_cast<config::Field::Group>(number))
                continue;
            auto* row = new FieldRow(field, draft, rows);
            connect(row, &FieldRow::entered, this, &ConfigForm::entered);
            layout->addWidget(row);
            group.rows.push_back(row);
        }
        m_groups.push_back(std::move(group));
    }
    layout->addStretch(1);
    setWidget(rows);
    setFocusProxy(firstStop());
    connect(draft, &ConfigDraft::changed, this, [this, draft] {
        widget()->setEnabled(draft->isConfig());
        takeDraft();
    });
}

void ConfigForm::setUsedOnly(bool on)
{
    m_isUsedOnly = on;
    takeDraft();
}

QString ConfigForm::countText() const
{
    int all = 0;
    int shown = 0;
    for (const Group& group : m_groups) {
        all += static_cast<int>(group.rows.size());
        shown += static_cast<int>(
            std::count_if(group.rows.begin(), group.rows.end(), [](const FieldRow* row) { return !row->isHidden(); }));
    }
    return all == shown ? tr("%n field(s)", nullptr, all) : tr("%n field(s), %1 shown", nullptr, all).arg(shown);
}

bool ConfigForm::goTo(const QString& pointer)
{
    for (const Group& group : m_groups) {
        for (FieldRow* row : group.rows) {
            QWidget* stop = row->pointer() == pointer && isVisible() ? firstStop(*row) : nullptr;
            if (stop == nullptr)
                continue;
            ensureWidgetVisible(row);
            stop->setFocus();
            return true;
        }
    }
    return false;
}

std::string ConfigForm::shownText(const std::string& pointer, const std::string& json) const
{
    for (const Group& group : m_groups) {
        for (const FieldRow* row : group.rows) {
            if (row->pointer().toStdString() == pointer)
                return row->shownText(QString::fromStdString(json)).toStdString();
        }
    }
    return json;
}

void ConfigForm::showTexts(std::vector<config::FieldChange>& changes) const
{
    for (config::FieldChange& change : changes) {
        for (std::string* value : { &change.before, &change.after })
            *value = shownText(change.pointer, *value);
    }
}

void ConfigForm::resizeEvent(QResizeEvent* event)
{
    QScrollArea::resizeEvent(event);
    for (const Group& group : m_groups) {
        for (FieldRow* row : group.rows)
            row->setRoom(width());
    }
}

/// Null where no field is shown.
QWidget* ConfigForm::firstStop() const
{
    for (const Group& group : m_groups) {
        for (const FieldRow* row : group.rows) {
            if (QWidget* stop = firstStop(*row))
                return stop;
        }
    }
    return nullptr;
}

QWidget* ConfigForm::firstStop(const FieldRow& row)
{
    for (QWidget* part : row.findChildren<QWidget*>()) {
        if (!row.isHidden() && !part->isHidden() && part->isEnabled() && (part->focusPolicy() & Qt::TabFocus) != 0)
            return part;
    }
    return nullptr;
}

void ConfigForm::takeDraft()
{
    for (const Group& group : m_groups) {
        bool isAnyShown = false;
        for (FieldRow* row : group.rows) {
            row->takeDraft();
            // The one that is being edited stays.
            const bool isShown = !m_isUsedOnly || row->isUsed() || row->isAncestorOf(focusWidget());
            row->setVisible(isShown);
            isAnyShown = isAnyShown || isShown;
        }
        group.title->setVisible(isAnyShown);
    }
    setFocusProxy(firstStop());
}

}

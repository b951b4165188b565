// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QScrollArea>

#include <telltale/config/revision.h>

namespace telltale::views {

class ConfigDraft;
class FieldRow;
class RoleLabel;

/// Every field of a config with a control of its type, grouped by what it is about: made from the table of fields. The
/// keyboard comes to the first one that is shown.
class ConfigForm : public QScrollArea {
    Q_OBJECT
public:
    explicit ConfigForm(ConfigDraft* draft, QWidget* parent = nullptr);

    /// Only fields that hold other than their defaults, or are changed.
    void setUsedOnly(bool on);
    /// Puts each value as its control shows it: "all", not "[]".
    void showTexts(std::vector<config::FieldChange>& changes) const;
    /// Brings a field into view and the keyboard to it; false where the form is not shown.
    bool goTo(const QString& pointer);
    QString countText() const; ///< of its fields, and of those that are shown

Q_SIGNALS:
    void entered(const QString& pointer);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Group {
        RoleLabel* title = nullptr;
        std::vector<FieldRow*> rows;
    };
    void takeDraft();
    std::string shownText(const std::string& pointer, const std::string& json) const;
    QWidget* firstStop() const; ///< of the keyboard, in what is shown
    static QWidget* firstStop(const FieldRow& row);

    std::vector<Group> m_groups;
    bool m_isUsedOnly = false;
};

}

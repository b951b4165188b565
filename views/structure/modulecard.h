// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <telltale/analysis/modelstructure.h>
#include <telltale/common/theme.h>

class QVBoxLayout;

namespace telltale::views {

class RoleLabel;

/// One module of the outline: what it is, what is collected of it, what a click would add to the config's draft, and
/// where it is called from. Thread: gui.
class ModuleCard : public QWidget {
    Q_OBJECT
public:
    explicit ModuleCard(QWidget* parent = nullptr);

    void show(const analysis::StructureItem& item, const std::vector<Kind>& kinds,
        const std::vector<analysis::ConfigAddition>& additions);
    void showNothing(const QString& why); ///< said in the middle
    void setStack(const QString& stack, bool areStacksThere);
    void setWritable(bool isWritable); ///< whether there is a draft to add to
    /// A picture has nothing to click.
    void setPictured(bool isPicture);

Q_SIGNALS:
    void additionWanted(const QString& pointer, const QString& value);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    RoleLabel* addLabel(QColor Theme::*color, const QFont& font);
    RoleLabel* addTitle(const QString& text);

    QVBoxLayout* m_layout;
    RoleLabel* m_name;
    RoleLabel* m_facts;
    RoleLabel* m_collectedTitle;
    RoleLabel* m_collected;
    RoleLabel* m_additionsTitle;
    QWidget* m_additions = nullptr; ///< a button each
    RoleLabel* m_additionsHint;
    RoleLabel* m_stackTitle;
    RoleLabel* m_stack;
    bool m_isWritable = false;
    bool m_hasAdditions = false;
    bool m_isEmpty = true;
};

}

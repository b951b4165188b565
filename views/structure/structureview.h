// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <vector>

#include <telltale/common/dataview.h>

#include "structuremodel.h"

class QLabel;
class QModelIndex;
class QSplitter;

namespace telltale::views {

class ModuleCard;
class PanelTree;
class ViewBar;

/// The model as an outline: types, shapes, parameters, dtypes, devices and what is collected of each module; beside it
/// what a click would add to the config, and where the chosen module is called from.
class StructureView : public DataView {
    Q_OBJECT
public:
    explicit StructureView(const ViewContext& context, QWidget* parent = nullptr);

    /// Every row that the module filter shows, in the model's order.
    Expected<void> writeCsv(QIODevice* device) const override;
    PanelTree* tree() const { return m_tree; }

protected:
    void ask() override;
    void troubleChanged() override;
    void resizeEvent(QResizeEvent* event) override;
    void paintPicture(QPainter& painter, QSize size) override;

private:
    struct Answer {
        std::shared_ptr<const analysis::StructureFacts> facts; ///< null where they are known
        QString name; ///< whose stack it is
        QString stack;
        bool areStacksThere = false;
    };
    void connectState();
    void take(const Answer& answer);
    void chooseRow(const QModelIndex& index); ///< by hand: selected everywhere
    void followSelection();
    void showCard();
    void expand();
    std::vector<QModelIndex> openWhatFits();
    void measureShapes();
    void fitShapes(); ///< the modules give their column the room that it needs
    QString emptyText() const;
    const analysis::StructureItem* chosen() const;

    ViewBar* m_bar;
    QLabel* m_caption = nullptr;
    QSplitter* m_split;
    PanelTree* m_tree;
    ModuleCard* m_card;
    StructureModel* m_model;
    StructureFilter* m_filter;
    std::shared_ptr<const analysis::StructureFacts> m_facts;
    int m_shapeWidth = 0; ///< of the longest, px
    bool m_areFactsKnown = false;
    bool m_isChoosing = false;
    bool m_isFoldedByHand = false;
    Answer m_last;
};

}

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QComboBox>
#include <QHash>
#include <QLabel>
#include <QWidget>

class QHBoxLayout;
class QSpacerItem;
class QToolButton;

namespace telltale::views {

/// The 38 px bar above a view: labeled combos at the left or right, tool buttons at the right. When it gets narrow
/// the captions go, then the labels from the left on, without those of bare numbers, then the gaps, then the widest
/// combos shrink.
class ViewBar : public QWidget {
    Q_OBJECT
public:
    explicit ViewBar(QWidget* parent = nullptr);

    /// Title in 600 with a caption behind it; returns the caption.
    QLabel* addTitle(const QString& title);
    /// What stands behind the title, the whole first: the first that has room. Labels go before the last, where it is
    /// kept.
    void setTitleCaption(const QStringList& texts, bool isKept = false);
    /// Without a label where what is chosen says what it is; screen readers have it in any case.
    QComboBox* addCombo(const QString& label, const QString& objectName, bool isLabeled = true);
    void keepWhole(QComboBox* combo) { m_whole.push_back(combo); } ///< the others are cut before it
    void setComboVisible(QComboBox* combo, bool isVisible); ///< with its label
    void removeCombo(QComboBox* combo); ///< with its label, for good
    /// Quiet text, which goes when there is no room; kept, after the labels have gone.
    QLabel* addCaption(bool isKept = false);
    /// A part of a view's own; the bar owns it.
    void addPart(QWidget* part);
    /// Everything added after this stands at the right.
    void addStretch();
    QToolButton* addButton(
        const QString& iconName, const QString& tip, const QString& shortcut, const QString& objectName);

    void keepHidden(); ///< for good, whatever the view says: where nothing can be chosen
    void setVisible(bool isVisible) override;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    bool event(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void fitCaptions();
    void fitCombos();
    int wholeWidth() const; ///< with every combo as wide as it would be
    int keptTitle() const; ///< px of what stands behind the title in any case
    void setGap(int px);

    QHBoxLayout* m_layout;
    int m_gap; ///< px behind each combo
    std::vector<QLabel*> m_captions; ///< of combos
    std::vector<QLabel*> m_tails; ///< that say what is shown
    std::vector<QLabel*> m_keptTails; ///< before labels
    QHash<const QComboBox*, QString> m_fitted; ///< what was chosen when they got their width
    QHash<const QComboBox*, QSpacerItem*> m_gaps; ///< after them; the layout owns them
    QLabel* m_titleCaption = nullptr;
    std::vector<const QComboBox*> m_whole; ///< the most important first
    QStringList m_titleTexts; ///< it may have, empty where it has one
    bool m_isKeptHidden = false;
    bool m_isTitleKept = false; ///< the last of them, before labels
};

}

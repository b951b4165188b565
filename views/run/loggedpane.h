// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <QWidget>

#include "runquery.h"

class QScrollArea;
class QToolButton;
class QVBoxLayout;

namespace telltale::views {

class RoleLabel;

/// The texts and images that the user's program logged: of each name the newest at or before the cursor's step.
/// Thread: gui.
class LoggedPane : public QWidget {
    Q_OBJECT
public:
    static constexpr std::size_t kMostNames = 60;
    explicit LoggedPane(QWidget* parent = nullptr);

    void clear();
    void append(const std::vector<LoggedEntry>& entries);
    void setStep(std::optional<Step> step); ///< without one the newest are shown
    void take(const std::map<std::int64_t, LoggedContent>& contents);
    /// Of what is shown and not known yet.
    std::vector<std::int64_t> missing() const;
    std::size_t shown() const { return m_cards.size(); }

Q_SIGNALS:
    void stepWanted(Step step);

private:
    using Key = std::pair<LoggedEntry::Sort, QString>;
    struct Card {
        QWidget* box = nullptr;
        RoleLabel* head = nullptr;
        RoleLabel* content = nullptr;
        std::int64_t id = 0; ///< that it shows, or wants to
        bool isFilled = false;
    };

    void refresh();
    void fill(Card& card);
    Card& cardOf(const Key& key);
    void goBeside(bool forward);

    std::map<Key, std::map<Step, std::int64_t>> m_entries;
    std::vector<Key> m_order; ///< names in the order in which they came
    std::set<Step> m_steps;
    std::map<Key, Card> m_cards;
    std::map<std::int64_t, LoggedContent> m_contents; ///< of what is shown, and was lately
    std::optional<Step> m_step;
    QToolButton* m_back;
    QToolButton* m_forward;
    RoleLabel* m_where;
    QScrollArea* m_scroll;
    QVBoxLayout* m_list;
    RoleLabel* m_empty;
};

}

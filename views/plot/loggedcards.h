// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <QWidget>

#include "loggedquery.h"

class QVBoxLayout;

namespace telltale::views {

class RoleLabel;

/// The texts and images that the user's program logged, one below the other: of each name the newest at or before the
/// cursor's step. Thread: gui.
class LoggedCards : public QWidget {
    Q_OBJECT
public:
    static constexpr std::size_t kMostNames = 60;
    /// How much room each has.
    struct Room {
        int smallImage = 256; ///< shown at least so wide, in whole multiples
        int largeImage = 640;
        int lines = 0; ///< of a text; 0 = all of them
    };

    explicit LoggedCards(Room room, QWidget* parent = nullptr);

    void clear();
    void setStep(std::optional<Step> step); ///< without one the newest are shown
    void take(const LoggedNews& news);
    /// What is not known yet: what came since, and of what is shown.
    LoggedRequest request(Rank rank) const;
    bool isMissing() const { return !missing().empty(); }
    bool isEmpty() const { return m_entries.empty(); }
    QString where() const; ///< "newest up to step 30"
    /// The step beside the one that is shown at which anything was logged.
    std::optional<Step> stepBeside(bool forward) const;

Q_SIGNALS:
    void changed();

private:
    using Key = std::pair<LoggedEntry::Sort, QString>;
    struct Card {
        QWidget* box = nullptr;
        RoleLabel* head = nullptr;
        RoleLabel* content = nullptr;
        std::int64_t id = 0; ///< that it shows, or wants to
        bool isFilled = false;
    };

    void append(const std::vector<LoggedEntry>& entries);
    std::vector<std::int64_t> missing() const;
    void refresh();
    void fill(Card& card);
    Card& cardOf(const Key& key);
    QPixmap shownAs(const QImage& image) const;
    QString shownAs(const QString& text) const;

    const Room m_room;
    std::map<Key, std::map<Step, std::int64_t>> m_entries;
    std::vector<Key> m_order; ///< names in the order in which they came
    std::set<Step> m_steps;
    std::map<Key, Card> m_cards;
    std::map<std::int64_t, LoggedContent> m_contents; ///< of what is shown, and was lately
    std::int64_t m_lastText = 0;
    std::int64_t m_lastImage = 0;
    std::optional<Step> m_step;
    QVBoxLayout* m_list;
};

}

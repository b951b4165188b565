// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <telltale/common/onsetfinder.h>

namespace telltale::shell {

/// F8 and Shift+F8: moves the cursor to the next or previous step at which anything, of any kind on any rank, stops
/// being finite, and shows where it began, whatever is shown. Thread: gui.
class NonFiniteJump : public QObject {
    Q_OBJECT
public:
    NonFiniteJump(views::ViewState* state, store::QueryPool* queries, QObject* parent);

    void previous() { go(false); }
    void next() { go(true); }
    /// The first of the run `id`, which is being opened or is shown already.
    void firstOf(const QString& id);

Q_SIGNALS:
    void nothingFound(bool forward);

private:
    void go(bool forward);
    void goFirst();

    views::ViewState* m_state;
    views::OnsetFinder m_finder;
    QString m_wanted; ///< the run whose first one is gone to when its catalog is there
};

}

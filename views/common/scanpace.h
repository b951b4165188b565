// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QTimer>

namespace telltale::views {

/// When a question about a whole live run may be asked again: at most every `leastMs`, and not before it has rested
/// twenty times as long as the last answer took, its wait for a reader included. What is found out beside the views
/// stays below a twentieth of a processor however large the run. Thread: gui.
class ScanPace : public QTimer {
    Q_OBJECT

public:
    explicit ScanPace(int leastMs, QObject* parent = nullptr);

    void soon(); ///< timeout() comes when the pace allows it
    void now(); ///< the next one is about something else: no rest
    void began() { m_since.start(); }
    void ended() { m_took = m_since.elapsed(); }

private:
    const int m_leastMs;
    QElapsedTimer m_since;
    qint64 m_took = 0; ///< ms
};

}

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include <QObject>

#include <telltale/notify/alertplace.h>

namespace telltale::shell {

struct WindowParts;

/// From a message on the desktop to what it is about: opens the run, and shows where the incident began once the run's
/// log has told of it. Thread: gui.
class AlertJump : public QObject {
    Q_OBJECT
public:
    AlertJump(const WindowParts& parts, QObject* parent);

    void go(const notify::AlertPlace& place);

Q_SIGNALS:
    void arrived(); ///< at one incident

private:
    void arrive();
    void finishLook();
    bool isThere() const;

    const WindowParts& m_parts;
    std::optional<notify::AlertPlace> m_wanted;
    bool m_isAllRead = false; ///< what was read of the log last was its end
    int m_looks = 0; ///< how often that was without it
};

}

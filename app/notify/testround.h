// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <vector>

#include <QObject>
#include <QString>

#include <telltale/alerts/alertsettings.h>

namespace telltale::notify {

class Channel;
class DesktopChannel;

/// What one receiver answered to a test.
struct TestAnswer {
    QString receiver; ///< "webhook team (https://hooks.slack.com/…)"
    bool isDelivered = false;
    QString sentence;
};

/// One message to everybody who would be told, once each. Thread: the one it was made on, which needs an event loop.
class TestRound : public QObject {
    Q_OBJECT
public:
    explicit TestRound(const alerts::AlertSettings& settings);
    ~TestRound() override;
    void start();

Q_SIGNALS:
    void finished(const std::vector<telltale::notify::TestAnswer>& answers);

private:
    void take(const QString& receiver, bool isDelivered, const QString& sentence);

    const alerts::AlertSettings m_settings;
    std::vector<std::unique_ptr<Channel>> m_channels;
    std::unique_ptr<DesktopChannel> m_desktop;
    std::vector<TestAnswer> m_answers;
    std::size_t m_asked = 0;
};

}

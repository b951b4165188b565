// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointer>
#include <QUrl>

#include <telltale/alerts/alertsettings.h>

#include "channel.h"

class QNetworkAccessManager;
class QNetworkReply;

namespace telltale::notify {

/// Posts alerts to an address, over http or https with the system's certificates, through the proxy that the
/// environment names. It never follows to another address. Thread: see Channel.
class WebhookChannel final : public Channel {
    Q_OBJECT
public:
    WebhookChannel(const alerts::Webhook& hook, alerts::DeliveryQueue::Limits limits, Say say);
    ~WebhookChannel() override;

private:
    void attempt(const alerts::Alert& alert) override;
    void abandon() override;
    void onFinished();

    const alerts::Webhook m_hook;
    QNetworkAccessManager* m_network;
    QPointer<QNetworkReply> m_reply;
    QTimer m_patience;
    QByteArray m_answer; ///< its beginning
};

}

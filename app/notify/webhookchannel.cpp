// SPDX-License-Identifier: GPL-3.0-or-later
#include "webhookchannel.h"

#include <optional>

#include <QDateTime>
#include <QHostAddress>
#include <QMessageAuthenticationCode>
#include <QNetworkAccessManager>
#include <QNetworkProxyFactory>
#include <QNetworkReply>
#include <QNetworkRequest>
#include <QUrlQuery>

#include <telltale/alerts/webhookwords.h>
#include <telltale/core/plaintext.h>

namespace telltale::notify {

using alerts::Shape;
using alerts::Verdict;

namespace {

constexpr int kMostAnswer = 4096;

/// The environment's proxy (http_proxy and no_proxy), but never for this machine.
class EnvironmentProxy final : public QNetworkProxyFactory {
    QList<QNetworkProxy> queryProxy(const QNetworkProxyQuery& query) override
    {
        const QString host = query.peerHostName();
        if (host == QLatin1String("localhost") || QHostAddress(host).isLoopback())
            return { QNetworkProxy::NoProxy };
        return systemProxyForQuery(query);
    }
};

QByteArray hmac(const QByteArray& key, const QByteArray& text)
{
    return QMessageAuthenticationCode::hash(text, key, QCryptographicHash::Sha256).toBase64();
}

/// Seconds, or a date.
std::optional<std::chrono::milliseconds> retryAfter(const QByteArray& header)
{
    bool isNumber = false;
    const qint64 seconds = header.trimmed().toLongLong(&isNumber);
    if (isNumber && seconds >= 0)
        return std::chrono::seconds(std::min<qint64>(seconds, 86'400));
    const QDateTime when = QDateTime::fromString(QString::fromLatin1(header.trimmed()), Qt::RFC2822Date);
    if (header.isEmpty() || !when.isValid())
        return {};
    return std::chrono::milliseconds(std::clamp<qint64>(QDateTime::currentDateTimeUtc().msecsTo(when), 0, 86'400'000));
}

alerts::DeliveryQueue::Limits withRate(alerts::DeliveryQueue::Limits limits, int perMinute)
{
    limits.perMinute = perMinute;
    return limits;
}

}

WebhookChannel::WebhookChannel(const alerts::Webhook& hook, alerts::DeliveryQueue::Limits limits, Say say)
    : Channel("webhook " + terminalText(hook.name), alerts::shownUrl(hook.url), withRate(limits, hook.perMinute),
        std::move(say))
    , m_hook(hook)
    , m_network(new QNetworkAccessManager(this))
{
    m_network->setProxyFactory(new EnvironmentProxy); // which it owns
    m_network->setRedirectPolicy(QNetworkRequest::ManualRedirectPolicy);
    m_patience.setParent(this);
    m_patience.setSingleShot(true);
    connect(&m_patience, &QTimer::timeout, this, [this] {
        if (m_reply)
            m_reply->abort();
    });
}

WebhookChannel::~WebhookChannel()
{
    WebhookChannel::abandon();
}

void WebhookChannel::attempt(const alerts::Alert& alert)
{
    QUrl url(QString::fromStdString(m_hook.url));
    alerts::Signature signature;
    const QByteArray secret = QByteArray::fromStdString(m_hook.secret);
    if (!secret.isEmpty() && m_hook.shape == Shape::Feishu) {
        const QByteArray now = QByteArray::number(QDateTime::currentSecsSinceEpoch());
        signature = { now.toStdString(), hmac(now + '\n' + secret, {}).toStdString() };
    } else if (!secret.isEmpty() && m_hook.shape == Shape::DingTalk) {
        const QByteArray now = QByteArray::number(QDateTime::currentMSecsSinceEpoch());
        QUrlQuery query(url);
        query.addQueryItem(QStringLiteral("timestamp"), QString::fromLatin1(now));
        query.addQueryItem(
            QStringLiteral("sign"), QString::fromLatin1(hmac(secret, now + '\n' + secret).toPercentEncoding()));
        url.setQuery(query);
    }
    QNetworkRequest request(url);
    request.setHeader(QNetworkRequest::ContentTypeHeader, QStringLiteral("application/json; charset=utf-8"));
    request.setHeader(QNetworkRequest::UserAgentHeader, QStringLiteral("Telltale"));
    m_answer.clear();
    m_reply = m_network->post(request, QByteArray::fromStdString(alerts::webhookBody(m_hook.shape, alert, signature)));
    connect(m_reply, &QNetworkReply::readyRead, this, [this] {
        const QByteArray more = m_reply->readAll();
        m_answer += more.left(kMostAnswer - m_answer.size());
    });
    connect(m_reply, &QNetworkReply::finished, this, &WebhookChannel::onFinished);
    // For the whole of it: who sends a byte now and then must not hold the others up.
    m_patience.start(std::chrono::seconds(m_hook.timeoutS));
}

void WebhookChannel::onFinished()
{
    const bool isLate = !m_patience.isActive();
    m_patience.stop();
    QNetworkReply* reply = m_reply;
    m_reply = nullptr;
    reply->deleteLater();
    const QVariant status = reply->attribute(QNetworkRequest::HttpStatusCodeAttribute);
    if (isLate || !status.isValid()) {
        // Qt's own words may have the whole address in them.
        const QString why = reply->errorString().replace(QString::fromStdString(m_hook.url), QStringLiteral("…"));
        const std::string sentence = isLate ? "it did not answer within " + std::to_string(m_hook.timeoutS) + " s"
                                            : "it cannot be reached (" + why.toStdString() + ")";
        finish(Verdict::Again, sentence);
        return;
    }
    const QByteArray rest = reply->readAll();
    m_answer += rest.left(kMostAnswer - m_answer.size());
    const auto answer = alerts::judgeAnswer(m_hook.shape, status.toInt(), m_answer.toStdString());
    finish(answer.verdict, answer.sentence, retryAfter(reply->rawHeader("Retry-After")));
}

void WebhookChannel::abandon()
{
    m_patience.stop();
    if (!m_reply)
        return;
    m_reply->disconnect(this);
    m_reply->abort();
    m_reply->deleteLater();
    m_reply = nullptr;
}

}

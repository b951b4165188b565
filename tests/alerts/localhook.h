// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <vector>

#include <QElapsedTimer>
#include <QTcpServer>
#include <QTcpSocket>

namespace telltale::test {

/// A web server on loopback that keeps what is posted to it, and answers as it is told. Thread: the test's.
class LocalHook {
public:
    struct Post {
        QByteArray head; ///< request line and headers
        QByteArray body;
        qint64 ms = 0; ///< since the server began
    };
    /// The whole answer to the n-th post, from 0 on; empty = none, ever.
    std::function<QByteArray(int n)> answer = [](int) { return ok(); };
    std::vector<Post> posts;

    LocalHook()
    {
        m_clock.start();
        QObject::connect(&m_server, &QTcpServer::newConnection, &m_server, [this] {
            QTcpSocket* socket = m_server.nextPendingConnection();
            QObject::connect(socket, &QTcpSocket::readyRead, socket, [this, socket] { take(socket); });
            QObject::connect(socket, &QTcpSocket::disconnected, socket, &QObject::deleteLater);
        });
        m_server.listen(QHostAddress::LocalHost);
    }
    std::string url(const char* path = "/hook/SECRET") const
    {
        return "http://127.0.0.1:" + std::to_string(m_server.serverPort()) + path;
    }
    static QByteArray ok(const QByteArray& body = "ok") { return reply("200 OK", {}, body); }
    static QByteArray reply(const QByteArray& status, const QByteArray& header = {}, const QByteArray& body = {})
    {
        return "HTTP/1.1 " + status + "\r\n" + header + "Content-Length: " + QByteArray::number(body.size())
            + "\r\nConnection: close\r\n\r\n" + body;
    }

private:
    void take(QTcpSocket* socket)
    {
        QByteArray data = socket->property("data").toByteArray() + socket->readAll();
        socket->setProperty("data", data);
        const auto end = data.indexOf("\r\n\r\n");
        const auto at = data.toLower().indexOf("content-length:");
        if (end < 0 || at < 0)
            return;
        const int length = data.mid(at + 15, data.indexOf("\r\n", at) - at - 15).trimmed().toInt();
        if (data.size() < end + 4 + length)
            return;
        const int n = static_cast<int>(posts.size());
        posts.push_back({ data.left(end), data.mid(end + 4), m_clock.elapsed() });
        if (const QByteArray out = answer(n); !out.isEmpty()) {
            socket->write(out);
            socket->disconnectFromHost();
        }
    }

    QElapsedTimer m_clock;
    QTcpServer m_server;
};

}

// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/server/captureserver.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <thread>
#include <utility>

#include <pthread.h>
#include <sys/resource.h>

#include <QEventLoop>
#include <QHostInfo>
#include <QNetworkInterface>
#include <QSslKey>

#include <telltale/protocol/joinstring.h>
#include <telltale/server/capturecore.h>
#include <telltale/server/listenaddress.h>
#include <telltale/server/listensocket.h>
#include <telltale/server/secretfile.h>
#include <telltale/server/serveridentity.h>
#include <telltale/store/runfiles.h>

namespace telltale::server {
namespace {

/// What agents may call us, and under which name we tell them to come.
struct Names {
    std::string advertised;
    std::vector<std::string> hosts;
};

bool isEverything(const ListenAddress& listen)
{
    return listen.address == QHostAddress::Any || listen.address == QHostAddress::AnyIPv4
        || listen.address == QHostAddress::AnyIPv6;
}

Names namesFor(const ListenAddress& listen)
{
    Names out;
    if (!isEverything(listen)) {
        out.advertised = listen.address.toString().toStdString();
        out.hosts = { out.advertised };
        return out;
    }
    out.advertised = QHostInfo::localHostName().toStdString();
    out.hosts = { out.advertised };
    const auto addresses = QNetworkInterface::allAddresses();
    for (const QHostAddress& address : addresses)
        out.hosts.push_back(address.toString().section(QLatin1Char('%'), 0, 0).toStdString());
    return out;
}

QSslConfiguration tlsOf(const Certificate& certificate)
{
    QSslConfiguration tls = QSslConfiguration::defaultConfiguration();
    tls.setProtocol(QSsl::TlsV1_2OrLater);
    tls.setPeerVerifyMode(QSslSocket::VerifyNone);
    tls.setLocalCertificate(QSslCertificate(QByteArray::fromStdString(certificate.certificatePem), QSsl::Pem));
    tls.setPrivateKey(QSslKey(QByteArray::fromStdString(certificate.keyPem), QSsl::Ec, QSsl::Pem, QSsl::PrivateKey));
    return tls;
}

/// Every agent is a descriptor, and the usual soft limit of 1024 is below a large run.
void raiseDescriptorLimit()
{
    rlimit limit {};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = std::max(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, 65'536));
        ::setrlimit(RLIMIT_NOFILE, &limit);
    }
}

}

struct CaptureServer::State {
    protocol::JoinString join;
    std::string controlFile; ///< empty: nobody has the control role
    std::unique_ptr<CaptureCore> core; ///< made on the capture thread; after its end only the table is looked at
    /// Not a QThread: its wait() returns while the thread still frees what libraries keep for it, and the program's
    /// exit would free the same (OpenSSL does).
    std::thread thread;
};

CaptureServer::CaptureServer(std::unique_ptr<State> state)
    : m_state(std::move(state))
{
}

CaptureServer::~CaptureServer()
{
    stop();
}

Expected<std::unique_ptr<CaptureServer>> CaptureServer::start(ServerOptions options, store::StoreService& store)
{
    return start(std::move(options), std::make_unique<ingest::StoreSink>(store), &store);
}

Expected<std::unique_ptr<CaptureServer>> CaptureServer::start(
    ServerOptions options, std::unique_ptr<ingest::BatchSink> sink, store::StoreService* store)
{
    auto identity = ServerIdentity::load(options.dataDir);
    if (!identity)
        return tl::unexpected(identity.error());
    raiseDescriptorLimit();
    ListenAddress listen;
    listen.port = identity->lastPort();
    if (!options.listen.empty()) {
        auto parsed = ListenAddress::parse(options.listen);
        if (!parsed)
            return tl::unexpected(parsed.error());
        listen = *parsed;
    }
    CaptureCore::Setup setup;
    auto state = std::make_unique<State>();
    if (!listen.isLoopback()) {
        const auto certificate = identity->certificate();
        if (!certificate)
            return tl::unexpected(certificate.error());
        setup.isEncrypted = true;
        setup.tls = tlsOf(*certificate);
        state->join.fingerprint = certificate->fingerprint;
    }
    auto socket = ListenSocket::open(listen, options.limits.backlog);
    if (!socket)
        return tl::unexpected(socket.error());
    listen.port = socket->port();
    if (options.keepsPort) {
        if (auto kept = identity->rememberPort(listen.port); !kept)
            return tl::unexpected(kept.error());
    }

    Names names = namesFor(listen);
    state->join.host = names.advertised;
    state->join.port = listen.port;
    state->join.token = identity->token();
    setup.listenFd = socket->release();
    setup.endpoint = { identity->token(), state->join.fingerprint, std::move(names.hosts), options.limits };
    setup.controlToken = identity->controlToken();
    setup.store = store;
    setup.log = std::move(options.log);
    if (store != nullptr) {
        state->controlFile = store::controlFile(options.dataDir);
        protocol::JoinString here = state->join;
        here.isControl = true;
        here.token = identity->controlToken();
        protocol::JoinString fromOtherHosts = here;
        if (isEverything(listen))
            here.host = "127.0.0.1";
        std::string lines = here.toString() + "\n";
        if (fromOtherHosts != here)
            lines += fromOtherHosts.toString() + "\n";
        if (auto written = writeSecret(state->controlFile, lines); !written)
            return tl::unexpected(written.error());
    }
    std::promise<void> ready;
    auto listening = ready.get_future();
    state->thread = std::thread([&core = state->core, &setup, &sink, ready = std::move(ready)]() mutable {
        ::pthread_setname_np(::pthread_self(), "capture");
        QEventLoop loop; // before the core: timers and notifiers need its dispatcher
        core = std::make_unique<CaptureCore>(std::move(setup), std::move(sink));
        QObject::connect(core.get(), &CaptureCore::stopped, &loop, &QEventLoop::quit);
        core->listen();
        ready.set_value();
        loop.exec();
        core->releaseSockets();
    });
    listening.wait();
    return std::unique_ptr<CaptureServer>(new CaptureServer(std::move(state)));
}

QString CaptureServer::joinString() const
{
    return QString::fromStdString(m_state->join.toString());
}

std::uint16_t CaptureServer::port() const
{
    return m_state->join.port;
}

std::vector<ConnectionInfo> CaptureServer::connections() const
{
    return m_state->core->table().snapshot();
}

void CaptureServer::offerConfig(ConfigRequest request, SteeringAnswer answer)
{
    QMetaObject::invokeMethod(
        m_state->core.get(),
        [core = m_state->core.get(), request = std::move(request), answer = std::move(answer)]() mutable {
            core->offerConfig(request, std::move(answer));
        },
        Qt::QueuedConnection);
}

void CaptureServer::askRecorders(store::RunLocator run, std::string why)
{
    QMetaObject::invokeMethod(
        m_state->core.get(),
        [core = m_state->core.get(), run = std::move(run), why = std::move(why)] { core->askRecorders(run, why); },
        Qt::QueuedConnection);
}

void CaptureServer::notify(store::RunLocator run, std::string text)
{
    QMetaObject::invokeMethod(
        m_state->core.get(),
        [core = m_state->core.get(), run = std::move(run), text = std::move(text)] { core->notify(run, text); },
        Qt::QueuedConnection);
}

std::vector<RunSteering> CaptureServer::steering() const
{
    return m_state->core->steeringTable().snapshot();
}

void CaptureServer::setSteeringWake(std::function<void()> wake)
{
    m_state->core->steeringTable().setWake(std::move(wake));
}

void CaptureServer::stop()
{
    if (!m_state->thread.joinable())
        return;
    QMetaObject::invokeMethod(m_state->core.get(), &CaptureCore::beginStop, Qt::QueuedConnection);
    m_state->thread.join();
    std::error_code error;
    if (!m_state->controlFile.empty())
        std::filesystem::remove(m_state->controlFile, error);
}

}

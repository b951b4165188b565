// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/ingest/spooldelivery.h>

#include <charconv>
#include <chrono>
#include <fstream>
#include <memory>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <telltale/agent/productionpage.h>
#include <telltale/agent/session.h>

namespace telltale::ingest {
namespace {

using Clock = agent::Session::Clock;

constexpr std::chrono::seconds kPatience { 30 }; ///< without any acknowledgement
constexpr std::chrono::milliseconds kTurn { 2 };
constexpr std::chrono::milliseconds kByeTime { 200 };

std::string firstWord(const std::string& path)
{
    std::ifstream file(path);
    std::string word;
    file >> word;
    return word;
}

/// Empty without a certificate.
std::string fingerprintOf(const std::string& path)
{
    const std::unique_ptr<BIO, int (*)(BIO*)> file(BIO_new_file(path.c_str(), "r"), BIO_free);
    if (!file)
        return {};
    const std::unique_ptr<X509, void (*)(X509*)> certificate(
        PEM_read_bio_X509(file.get(), nullptr, nullptr, nullptr), X509_free);
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    std::string text;
    if (certificate && X509_digest(certificate.get(), EVP_sha256(), digest, &size) == 1) {
        for (unsigned int i = 0; i < size; ++i)
            text += fmt::format("{:02x}", digest[i]);
    }
    return text;
}

/// Until all of the stream is acknowledged. False: nobody there, or not for this join string.
Expected<bool> deliver(boost::asio::io_context& context, agent::Session& session, const agent::Stream& stream)
{
    std::uint64_t left = stream.held.size();
    auto progress = Clock::now();
    while (!stream.held.isEmpty()) {
        const auto now = Clock::now();
        session.tick(now);
        context.restart();
        context.run_for(kTurn);
        if (std::exchange(left, stream.held.size()) != left)
            progress = now;
        if (session.isWaiting() && session.failures() > 0)
            return session.wasEverOpen() ? failure(ErrorCode::Io, "it went away") : Expected<bool>(false);
        if (now - progress > kPatience)
            return failure(ErrorCode::Io, "it does not answer");
    }
    return true;
}

}

Expected<std::vector<protocol::JoinString>> joinsOfServer(const std::string& dataDir)
{
    protocol::JoinString join;
    join.host = "127.0.0.1";
    join.token = firstWord(dataDir + "/server/token");
    const std::string port = firstWord(dataDir + "/server/port");
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), join.port);
    if (join.token.empty() || error != std::errc {} || join.port == 0)
        return failure(ErrorCode::NotFound, "no capture server has run on " + dataDir);
    std::vector<protocol::JoinString> joins { join };
    join.fingerprint = fingerprintOf(dataDir + "/server/certificate.pem");
    if (!join.fingerprint.empty())
        joins.push_back(join);
    return joins;
}

Expected<SpoolReport> deliverSpool(
    const std::vector<protocol::JoinString>& joins, const std::filesystem::path& folder, SpoolImport::Found found)
{
    SpoolReport report;
    report.folder = folder.string();
    report.damages = std::move(found.spooled.damages);
    report.isDelivered = true;
    report.isEmpty = found.spooled.stream == nullptr;
    if (report.isEmpty)
        return report;
    agent::Stream& stream = *found.spooled.stream;
    report.runKey = found.hello.runKey;
    report.agentId = found.hello.agentId;
    report.rank = Rank { found.hello.rank };
    agent::LastError lastError;
    const auto page = agent::ProductionPage::leftBy(found.hello.incarnation);
    for (const protocol::JoinString& join : joins) {
        boost::asio::io_context context;
        agent::Session::Events events;
        events.onForgotten = [&report](const agent::HeldStore::Forgotten& gone) { report.batches += gone.batches; };
        events.describe = [&page](protocol::Heartbeat& heartbeat) {
            if (page) {
                heartbeat.producedSamples = page->produced.samples;
                heartbeat.producedScalars = page->produced.scalars;
                heartbeat.isFinal = true;
            }
        };
        agent::Session session(context, join, stream, nullptr, lastError, std::move(events));
        const auto done = deliver(context, session, stream);
        if (!done)
            return failure(
                done.error().code, fmt::format("the server did not take {}: {}", report.folder, done.error().what));
        if (!*done)
            continue;
        const std::string& bye = found.spooled.byeReason;
        session.sayBye(bye.empty() ? "restarting" : bye, [&page] {
            if (page)
                page->remove();
        });
        context.restart();
        context.run_for(kByeTime);
        stream.disk.close(std::nullopt);
        return report;
    }
    return failure(ErrorCode::Io, fmt::format("no server takes {} ({})", report.folder, lastError.get().second));
}

}

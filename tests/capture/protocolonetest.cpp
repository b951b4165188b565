// SPDX-License-Identifier: GPL-3.0-or-later
#include "testmain.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include <QTemporaryDir>

#include <nlohmann/json.hpp>

#include <telltale/core/bytes.h>
#include <telltale/core/protocolone.h>
#include <telltale/server/captureserver.h>
#include <telltale/spool/spoolrecord.h>
#include <telltale/store/runreader.h>
#include <telltale/store/storeservice.h>

#include "serverpeer.h"
#include "sourcepath.h"

namespace protocolonetest {

using namespace telltale;
using nlohmann::json;

namespace fs = std::filesystem;
namespace spoolrecord = telltale::agent::spoolrecord;

namespace {

std::string read(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    return { std::istreambuf_iterator<char>(file), {} };
}

}

/// What an agent of protocol 1 said, byte for byte as it lies in its spool (tests/data/v2), is taken by this server.
class ProtocolOneTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        m_case = telltale::test::sourcePath("tests/data/v2/python-offline");
        for (const auto& entry : fs::recursive_directory_iterator(m_case)) {
            if (entry.path().extension() == ".seg")
                m_segment = read(entry.path());
        }
        for (const spoolrecord::View& record : spoolrecord::scan(m_segment).records) {
            if (record.kind == spoolrecord::Kind::Hello)
                m_hello = record.payload;
            else
                m_payloads.emplace_back(record.payload);
        }
        QVERIFY(!m_hello.empty() && m_payloads.size() >= 3);
    }

    void anAgentOfProtocolOneStillStreams()
    {
        QTemporaryDir dir;
        store::StoreOptions storeOptions;
        storeOptions.dataDir = dir.path().toStdString();
        const auto service = *store::StoreService::start(storeOptions);
        server::ServerOptions options;
        options.dataDir = storeOptions.dataDir;
        options.listen = "127.0.0.1:0";
        const auto server = *server::CaptureServer::start(options, *service);
        const auto join = protocol::JoinString::parse(server->joinString().toStdString());
        test::ServerPeer peer(*join);
        QVERIFY(peer.upgrade(test::ServerPeer::tokenFirstHandshake(*join)));
        peer.sendFrame(2, QByteArray::fromStdString(m_hello));
        QTRY_VERIFY_WITH_TIMEOUT(peer.last<protocol::Welcome>() != nullptr, 5000);
        QCOMPARE(peer.last<protocol::Welcome>()->proto, 1u);
        std::uint64_t seq = 0;
        for (const std::string& payload : m_payloads) {
            protocol::Batch batch;
            batch.seq = ++seq;
            batch.epoch = peer.last<protocol::Welcome>()->epoch;
            batch.crc = crc32c(payload);
            batch.payload = payload;
            peer.send(batch);
        }
        QTRY_VERIFY_WITH_TIMEOUT(peer.last<protocol::Ack>() && peer.last<protocol::Ack>()->durableSeq == seq, 10000);
        QVERIFY(peer.last<protocol::Ack>()->rejected.empty());
        peer.send(protocol::Bye { "finished", 0, seq });
        QTRY_VERIFY_WITH_TIMEOUT(peer.isClosed(), 5000);
        server->stop();
        service->stop();

        const auto reader = store::openReader(
            { store::RunLocator::ofFile(fs::directory_iterator(dir.path().toStdString() + "/runs")->path().string()),
                {}, {}, nullptr });
        QVERIFY2(reader, reader ? "" : reader.error().sentence().c_str());
        const auto catalog = *(*reader)->catalog();
        const json manifest = json::parse(read(m_case / "../manifest.json"));
        QCOMPARE(catalog->series.size(), manifest["python-offline"]["series"].get<std::size_t>());
        std::set<std::string> slots; // of what was a text
        for (const store::SeriesInfo& series : catalog->series) {
            if (series.desc->name == "pair" || series.kind == Kind::Attention)
                slots.insert(std::to_string(static_cast<int>(series.desc->slot.role)) + ' '
                    + std::to_string(series.desc->slot.number) + ' ' + std::to_string(series.desc->slot.head));
        }
        QCOMPARE(slots,
            (std::set<std::string> {
                "0 -1 0", "0 -1 1", "1 0 -1", "1 1 -1", "1 2 -1", "1 3 -1", "2 0 -1", "2 1 -1", "2 2 -1" }));
        int compared = 0;
        const json histograms = json::parse(read(m_case / "histograms.json"));
        for (const auto& [key, wanted] : histograms.items()) {
            for (const store::SeriesInfo& series : catalog->series) {
                const auto& group = *std::find_if(catalog->groups.begin(), catalog->groups.end(),
                    [&](const store::GroupInfo& one) { return one.id == series.group; });
                if (!group.edges || key != "0|" + std::string(kindName(series.kind)) + '|' + series.desc->name)
                    continue;
                QVERIFY(!series.desc->slot.hasText() && group.edges == protocolone::edges());
                json found = json::array();
                const auto values = store::readHistograms(**reader, { series.id }, group.bins(), catalog->steps);
                for (const store::HistogramValue& value : *values)
                    found.push_back({ value.step.value, value.counts });
                QVERIFY2(found == wanted, key.c_str());
                ++compared;
            }
        }
        QCOMPARE(compared, 16);
    }

private:
    fs::path m_case;
    std::string m_segment;
    std::string m_hello;
    std::vector<std::string> m_payloads;
};

TELLTALE_TEST(QTEST_GUILESS_MAIN, ProtocolOneTest)

}

#include "protocolonetest.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <set>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>

#include <telltale/agent/telltale_agent.h>
#include <telltale/stats/devicestats.h>
#include <telltale/stats/stats.h>

namespace {

/// Which allocations of C++ and which starts of threads fail. Thread: any.
struct Failures {
    std::atomic<bool> isArmed { false };
    std::atomic<bool> isForAll { false }; ///< else for the arming thread alone, or
    std::atomic<const char*> name { nullptr }; ///< for the threads of this name
    std::atomic<bool> isLasting { false }; ///< else one failure
    std::atomic<bool> areThreadsRefused { false };
    std::atomic<pthread_t> thread {};
    std::atomic<int> left { INT_MAX }; ///< allocations that still succeed
    std::atomic<bool> haveCome { false };

    bool isNext()
    {
        if (!isArmed || !(isForAll || (name ? isRunning(name) : thread == ::pthread_self())))
            return false;
        const int number = left--;
        if (number > 0 || (number < 0 && !isLasting))
            return false;
        haveCome = true;
        return true;
    }

    static bool isRunning(const char* name)
    {
        char text[16] = "";
        return ::pthread_getname_np(::pthread_self(), text, sizeof text) == 0 && std::strcmp(text, name) == 0;
    }
};
Failures theFailures;

void* allocate(std::size_t size, std::size_t alignment)
{
    void* memory = theFailures.isNext() ? nullptr
        : alignment == 0                ? std::malloc(size + (size == 0))
                                        : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (!memory)
        throw std::bad_alloc();
    return memory;
}

}

void* operator new(std::size_t size)
{
    return allocate(size, 0);
}
void* operator new(std::size_t size, std::align_val_t alignment)
{
    return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept
{
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept
{
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept
{
    std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept
{
    std::free(memory);
}

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument)
{
    using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    static const auto create = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
    return theFailures.areThreadsRefused ? EAGAIN : create(thread, attributes, body, argument);
}

namespace {

/// The function under test alone runs while things fail.
template <typename Call> auto failing(Call call)
{
    struct Armed {
        Armed()
        {
            theFailures.thread = ::pthread_self();
            theFailures.isArmed = true;
        }
        ~Armed() { theFailures.isArmed = false; }
    } armed;
    return call();
}

/// Names of the functions that a library gives to others, from its table of dynamic symbols.
std::set<std::string> exportsOf(const QString& path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        qFatal("cannot read the library");
    const QByteArray bytes = file.readAll();
    const char* at = bytes.constData();
    const auto* head = reinterpret_cast<const Elf64_Ehdr*>(at);
    const auto* sections = reinterpret_cast<const Elf64_Shdr*>(at + head->e_shoff);
    std::set<std::string> names;
    for (int i = 0; i < head->e_shnum; ++i) {
        if (sections[i].sh_type != SHT_DYNSYM)
            continue;
        const auto* symbols = reinterpret_cast<const Elf64_Sym*>(at + sections[i].sh_offset);
        const char* texts = at + sections[sections[i].sh_link].sh_offset;
        for (std::size_t s = 0; s < sections[i].sh_size / sizeof(Elf64_Sym); ++s)
            if (symbols[s].st_shndx != SHN_UNDEF && ELF64_ST_BIND(symbols[s].st_info) != STB_LOCAL)
                names.insert(texts + symbols[s].st_name);
    }
    return names;
}

constexpr std::size_t kMany = 1u << 19; ///< elements enough for several threads

}

/// A training process calls the library from C, where an exception or a refused thread would be its end.
class ExportsTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        m_values.assign(kMany, 0.5F);
        m_agent = open();
        QVERIFY(m_agent);
        m_layout = addLayout("weight");
        QVERIFY(m_layout);
        fillUses();
    }

    void cleanup() { theFailures.left = INT_MAX; }

    void cleanupTestCase() { QCOMPARE(tt_agent_close(m_agent, "finished"), 0); }

    void everyExportedFunctionIsTried()
    {
        std::set<std::string> tried;
        for (const auto& [name, use] : m_uses)
            tried.insert(name);
        QCOMPARE(tried, exportsOf(QStringLiteral(TELLTALE_AGENT_FILE)));
    }

    void withoutThreadsTheStatisticsAreTheSameAndItIsSaid()
    {
        QVERIFY(!tt_stats_trouble());
        theFailures.areThreadsRefused = true;
        const bool isRight = isMeasured(16) && isSigned(16);
        theFailures.areThreadsRefused = false;
        QVERIFY(isRight);
        QVERIFY(tt_stats_trouble());
    }

    void noFunctionThrowsWhateverAllocationFails_data()
    {
        QTest::addColumn<QString>("name");
        for (const auto& [name, use] : m_uses)
            QTest::newRow(name.c_str()) << QString::fromStdString(name);
    }
    void noFunctionThrowsWhateverAllocationFails()
    {
        QFETCH(QString, name);
        const auto& use = m_uses.at(name.toStdString());
        for (const bool isLasting : { false, true }) {
            theFailures.isLasting = isLasting;
            for (int first = 0;; first += 1 + first / 16) {
                theFailures.left = first;
                theFailures.haveCome = false;
                QVERIFY2(use(), qPrintable(QStringLiteral("allocation %1 failed").arg(first)));
                if (!theFailures.haveCome || m_asksFirst.count(name.toStdString()) > 0)
                    break;
            }
        }
        theFailures.left = INT_MAX;
        QVERIFY(use());
        QVERIFY(tt_event(m_agent, "log", 0, "goes on", "{}"));
    }

    void withoutAThreadAnAgentSaysThatItCannotStart()
    {
        char why[200] = "";
        theFailures.areThreadsRefused = true;
        tt_agent* agent = open(why, sizeof why);
        theFailures.areThreadsRefused = false;
        QVERIFY(!agent);
        QVERIFY2(std::strstr(why, "cannot start"), why);
    }

    void aSenderWithoutMemoryEndsNothing()
    {
        tt_agent* agent = open();
        const std::uint32_t layout = addLayout("weight", agent);
        // Once it has written something it has read its config. Amid that no memory may fail: JSON that is taken down
        // allocates, so all that it may take is asked for before it is begun.
        tt_counters counters {};
        std::int64_t step = 0;
        for (; step < 10000 && counters.spool_bytes == 0; ++step) {
            writeStep(agent, layout, step);
            ::usleep(1000);
            tt_agent_counters(agent, &counters);
        }
        QVERIFY(counters.spool_bytes > 0);
        theFailures.isLasting = theFailures.isForAll = true;
        theFailures.left = 0;
        theFailures.haveCome = false;
        theFailures.isArmed = true;
        const std::int64_t first = step;
        for (; step < first + 200 || (!theFailures.haveCome && step < first + 10000); ++step) {
            writeStep(agent, layout, step);
            ::usleep(200);
        }
        theFailures.isArmed = theFailures.isForAll = false;
        QVERIFY(theFailures.haveCome);
        tt_agent_counters(agent, &counters);
        QVERIFY(counters.produced > 0);
        tt_agent_close(agent, "finished");
    }

    void aDiskThatHadNoMemoryForAWhileGoesOn()
    {
        tt_agent* agent = open();
        const std::uint32_t layout = addLayout("weight", agent);
        theFailures.name = "telltale-disk";
        theFailures.isLasting = true;
        theFailures.left = 0;
        theFailures.isArmed = true;
        std::int64_t step = 0;
        for (; step < 200 || (theFailures.left > -2 && step < 10000); ++step) {
            writeStep(agent, layout, step);
            ::usleep(1000);
        }
        theFailures.isArmed = false;
        theFailures.name = nullptr;
        QVERIFY(theFailures.left <= -2); // what it does, and the sentence about the failure
        tt_counters before {}, after {};
        tt_agent_counters(agent, &before);
        for (const std::int64_t end = step + 10000; step < end && after.spool_bytes <= before.spool_bytes; ++step) {
            writeStep(agent, layout, step);
            ::usleep(1000);
            tt_agent_counters(agent, &after);
        }
        tt_agent_close(agent, "finished");
        QVERIFY(after.spool_bytes > before.spool_bytes);
    }

private:
    tt_agent* open(char* why = nullptr, std::size_t length = 0) const
    {
        const QByteArray folder = m_folder.path().toUtf8();
        tt_options options {};
        options.size = sizeof options;
        options.mode = "offline";
        options.run_id = "exports";
        options.spool_dir = folder.constData();
        options.config_text = R"({"wg_distribution": true, "targets": {"a long name of a layer": {}}})";
        options.rank = options.dp = options.tp = options.pp = options.ep = options.restart_count = -1;
        options.flush_ms = 1;
        return failing([&] { return tt_agent_open(&options, why, length); });
    }

    std::uint32_t addLayout(const char* name, tt_agent* agent = nullptr) const
    {
        tt_series series {};
        series.name = name;
        const tt_slot slot { TT_ROLE_NAMED, -1, -1, -1, 0, "a slot with a name that is long",
            R"([1,"a key that is long"])" };
        series.slot = &slot;
        series.micro_step = -1;
        series.dtype = TT_F32;
        series.numel = 1;
        series.shard_offset = -1;
        const std::uint8_t stats[] = { 1 };
        return failing([&] { return tt_layout_add(agent ? agent : m_agent, 3, nullptr, 0, &series, sizeof stats); });
    }

    static bool writeStep(tt_agent* agent, std::uint32_t layout, std::int64_t number)
    {
        tt_step* step = tt_step_begin(agent, number);
        tt_stats* stats = tt_step_stats(step, layout);
        if (stats)
            stats->flags = TT_STATS_PRESENT;
        tt_step_commit(step);
        return true;
    }

    bool isMeasured(int threads) const
    {
        const tt_tensor tensors[2]
            = { { m_values.data(), m_values.size(), TT_F32, 0 }, { m_values.data(), 100, TT_F32, 0 } };
        tt_stats results[2];
        const int status = failing([&] { return tt_stats_compute(tensors, 2, TT_DEFAULT_EPS, results, threads); });
        return status == 0 && results[0].sum == 0.5 * static_cast<double>(kMany) && results[0].numel == kMany
            && results[1].sum == 50;
    }

    bool isSigned(int threads) const
    {
        const tt_tensor tensor { m_values.data(), m_values.size(), TT_F32, 0 };
        double share = 0;
        return failing([&] { return tt_sign_agreement(&tensor, &tensor, 1, &share, threads); }) == 0 && share == 1;
    }

    /// Each function in an ordinary call, again and again: true when what came out is allowed.
    void fillUses()
    {
        m_uses["tt_abi_version"] = [] { return failing([] { return tt_abi_version(); }) == TT_AGENT_ABI; };
        m_uses["tt_version"] = [] { return failing([] { return tt_version(); }) != nullptr; };
        m_uses["tt_agent_open"] = [this] {
            char why[200] = "";
            tt_agent* agent = open(why, sizeof why);
            return agent ? tt_agent_close(agent, "finished") >= 0 : *why != '\0';
        };
        m_uses["tt_join_try"] = [] {
            char why[200] = "";
            // Nobody listens at port 1.
            const char join[] = "telltale://127.0.0.1:1#token=0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";
            return failing([&] { return tt_join_try(join, 1000, why, sizeof why); }) == 0 && *why != '\0';
        };
        m_uses["tt_agent_close"] = [this] {
            const auto left = theFailures.left.exchange(INT_MAX);
            tt_agent* agent = open();
            theFailures.left = left;
            theFailures.haveCome = false;
            failing([&] { return tt_agent_close(agent, "finished"); });
            return agent != nullptr;
        };
        m_uses["tt_agent_counters"] = [this] {
            tt_counters counters;
            failing([&] { tt_agent_counters(m_agent, &counters); });
            return counters.produced >= counters.acked + counters.dropped;
        };
        m_uses["tt_agent_cost"] = [this] {
            tt_counters before, after;
            tt_agent_counters(m_agent, &before);
            failing([&] { tt_agent_cost(m_agent, 1, 200, 3); });
            tt_agent_counters(m_agent, &after);
            return after.monitor_ns == before.monitor_ns + 1 && after.step_ns == before.step_ns + 200
                && after.steps == before.steps + 3;
        };
        m_uses["tt_agent_thinning"] = [this] {
            failing([&] { tt_agent_thinning(m_agent, 4, 20000); });
            return true;
        };
        m_uses["tt_agent_flush"] = [this] { return failing([&] { return tt_agent_flush(m_agent, 1); }) >= 0; };
        m_uses["tt_agent_last_error"]
            = [this] { return failing([&] { return tt_agent_last_error(m_agent); }) != nullptr; };
        m_uses["tt_agent_error"] = [this] {
            char why[200] = "";
            const std::uint32_t code = failing([&] { return tt_agent_error(m_agent, why, sizeof why); });
            return (code == TT_ERROR_NONE) == (*why == '\0');
        };
        m_uses["tt_agent_spool_dir"] = [this] {
            char folder[200] = "";
            failing([&] { tt_agent_spool_dir(m_agent, folder, sizeof folder); });
            return *folder != '\0';
        };
        m_uses["tt_config_due"]
            = [this] { return failing([&] { return tt_config_due(m_agent, 7); }) == nullptr; }; // nobody offers one
        m_uses["tt_recorder_asked"]
            = [this] { return failing([&] { return tt_recorder_asked(m_agent); }) == nullptr; }; // nobody asks
        m_uses["tt_config_words"] = [this] {
            int64_t* step = nullptr;
            const uint8_t* isWaiting = nullptr;
            failing([&] { return tt_config_words(m_agent, &step, &isWaiting), 0; });
            return step != nullptr && isWaiting != nullptr && *isWaiting == 0;
        };
        m_uses["tt_config_is_offered"]
            = [this] { return failing([&] { return tt_config_is_offered(m_agent, "{}"); }) == 0; };
        m_uses["tt_config_in_force"] = [this] {
            failing([&] { tt_config_in_force(m_agent, 0, 7, R"({"wg_distribution": true})", "a reason of its own"); });
            return true;
        };
        m_uses["tt_config_refuse"] = [this] {
            failing([&] { tt_config_refuse(m_agent, 1, 7, "a reason that is longer than what a string holds"); });
            return true;
        };
        m_uses["tt_crc32c"] = [] { return failing([] { return tt_crc32c("123456789", 9); }) == 0xE3069283; };
        m_uses["tt_layout_add"] = [this] {
            const auto id = addLayout("a weight that has a long name");
            return id > 0 || std::strlen(tt_agent_last_error(m_agent)) > 0;
        };
        m_uses["tt_layout_add_histograms"] = [this] {
            const double edges[] { -1, 0, 1 };
            tt_series series {};
            series.name = "a weight that has a long name";
            series.micro_step = -1;
            series.shard_offset = -1;
            const auto id
                = failing([&] { return tt_layout_add_histograms(m_agent, 11, edges, std::size(edges), &series, 1); });
            return id > 0 || std::strlen(tt_agent_last_error(m_agent)) > 0;
        };
        m_uses["tt_step_begin"] = [this] {
            tt_step* step = failing([&] { return tt_step_begin(m_agent, m_next++); });
            tt_step_abandon(step);
            return true;
        };
        m_uses["tt_step_stats"] = [this] {
            tt_step* step = tt_step_begin(m_agent, m_next++);
            failing([&] { return tt_step_stats(step, m_layout); });
            tt_step_commit(step);
            return true;
        };
        m_uses["tt_step_floats"] = [this] {
            std::uint8_t* present = nullptr;
            tt_step* step = tt_step_begin(m_agent, m_next++);
            failing([&] { return tt_step_floats(step, m_layout, &present); });
            tt_step_commit(step);
            return present == nullptr;
        };
        m_uses["tt_step_counts"] = [this] {
            std::uint8_t* present = nullptr;
            tt_step* step = tt_step_begin(m_agent, m_next++);
            failing([&] { return tt_step_counts(step, m_layout, &present); });
            tt_step_commit(step);
            return present == nullptr;
        };
        m_uses["tt_step_doubles"] = [this] {
            std::uint8_t* present = nullptr;
            tt_step* step = tt_step_begin(m_agent, m_next++);
            failing([&] { return tt_step_doubles(step, m_layout, &present); });
            tt_step_commit(step);
            return present == nullptr;
        };
        m_uses["tt_step_commit"] = [this] {
            tt_step* step = tt_step_begin(m_agent, m_next++);
            if (tt_stats* stats = tt_step_stats(step, m_layout))
                stats->flags = TT_STATS_PRESENT;
            failing([&] { tt_step_commit(step); });
            return true;
        };
        m_uses["tt_step_abandon"] = [this] {
            tt_step* step = tt_step_begin(m_agent, m_next++);
            failing([&] { tt_step_abandon(step); });
            return true;
        };
        m_uses["tt_step_dropped"] = [this] {
            tt_counters before;
            tt_counters after;
            tt_agent_counters(m_agent, &before);
            failing([&] { tt_step_dropped(m_agent, m_next++, 6, 1); });
            tt_agent_counters(m_agent, &after);
            return after.dropped >= before.dropped + 6;
        };
        m_uses["tt_event"] = [this] {
            failing([&] { return tt_event(m_agent, "log", 1, "a sentence of some length", R"({"a": 1})"); });
            return true;
        };
        m_uses["tt_event_add"] = [this] {
            tt_event_fields event {};
            event.size = sizeof event;
            event.kind = "anomaly";
            event.step = 1;
            event.last_step = 5;
            event.rule = "a rule that has a long name";
            event.author = "an author who has a long name";
            event.rev = 3;
            failing([&] { return tt_event_add(m_agent, &event); });
            event.size = 4;
            return tt_event_add(m_agent, &event) == 0 && tt_event_add(m_agent, nullptr) == 0;
        };
        m_uses["tt_blob"] = [this] {
            failing([&] { return tt_blob(m_agent, "kind", "a name of some length", 1, m_values.data(), 5000); });
            return true;
        };
        m_uses["tt_stats_compute"] = [this] { return isMeasured(3); };
        m_uses["tt_stats_tensor"] = [this] {
            tt_stats result;
            const int status
                = failing([&] { return tt_stats_tensor(m_values.data(), kMany, TT_F32, TT_DEFAULT_EPS, &result, 4); });
            return status == 0 && result.numel == kMany && result.sum == 0.5 * static_cast<double>(kMany);
        };
        m_uses["tt_stats_bin_edges"] = [] { return failing([] { return tt_stats_bin_edges(); }) != nullptr; };
        m_uses["tt_stats_bins"] = [this] {
            const tt_tensor tensor { m_values.data(), kMany, TT_F32, 0 };
            tt_stats result;
            std::vector<std::uint64_t> bins(TT_BINS);
            const int status
                = failing([&] { return tt_stats_bins(&tensor, 1, TT_DEFAULT_EPS, &result, bins.data(), 4); });
            return status == 0 && std::count(bins.begin(), bins.end(), kMany) == 1;
        };
        m_uses["tt_stats_tensor_bins"] = [this] {
            tt_stats result;
            std::vector<std::uint64_t> bins(TT_BINS);
            const int status = failing([&] {
                return tt_stats_tensor_bins(m_values.data(), kMany, TT_F32, TT_DEFAULT_EPS, &result, bins.data(), 4);
            });
            return status == 0 && std::count(bins.begin(), bins.end(), kMany) == 1;
        };
        m_uses["tt_stats_strided"] = [this] {
            const std::int64_t shape[] = { 100, 50 };
            const std::int64_t stride[] = { 200, 2 };
            tt_stats result;
            const int status = failing(
                [&] { return tt_stats_strided(m_values.data(), shape, stride, 2, TT_F32, TT_DEFAULT_EPS, &result); });
            return status == 0 && result.sum == 2500;
        };
        m_uses["tt_sign_agreement"] = [this] { return isSigned(2); };
        m_uses["tt_stats_kernel_name"] = [] { return failing([] { return tt_stats_kernel_name(); }) != nullptr; };
        m_uses["tt_stats_trouble"] = [] {
            failing([] { return tt_stats_trouble(); });
            return true;
        };
        m_uses["tt_stats_reference"] = [this] {
            const tt_tensor tensor { m_values.data(), 100, TT_F32, 0 };
            tt_stats result;
            return failing([&] { return tt_stats_reference(&tensor, TT_DEFAULT_EPS, &result); }) == 0
                && result.sum == 50;
        };
        // Without a card; tests/python/test_cuda.py has the rest.
        m_uses["tt_device_open"] = [] { return failing([] { return tt_device_open(63); }) != nullptr; };
        m_uses["tt_device_stats"] = [this] {
            const tt_tensor tensor { m_values.data(), 100, TT_F32, 0 };
            tt_stats result {};
            tt_stats* results[] = { &result };
            return failing([&] { return tt_device_stats(63, &tensor, 1, TT_DEFAULT_EPS, results, nullptr, nullptr); })
                == -1;
        };
        m_uses["tt_device_stats_tensor"] = [this] {
            tt_stats result {};
            return failing([&] {
                return tt_device_stats_tensor(
                    63, m_values.data(), 100, TT_F32, TT_DEFAULT_EPS, &result, nullptr, nullptr);
            }) == -1;
        };
        m_uses["tt_device_sign_agreement"] = [this] {
            const tt_tensor tensor { m_values.data(), 100, TT_F32, 0 };
            double share = 0;
            double* results[] = { &share };
            return failing([&] { return tt_device_sign_agreement(63, &tensor, &tensor, 1, results, nullptr); }) == -1;
        };
        m_uses["tt_device_mark"] = [] { return failing([] { return tt_device_mark(63, nullptr); }) == nullptr; };
        m_uses["tt_device_passed"] = [] { return failing([] { return tt_device_passed(63, nullptr); }) == -1; };
        m_uses["tt_device_trouble"] = [] { return failing([] { return tt_device_trouble(); }) != nullptr; };
        m_uses["tt_config_read"] = [] {
            const char text[]
                = R"({"wg_distribution": true, "eps": "x", "targets": {"layer.1": {"input": "tuple[2]:0"}}})";
            char* json = failing([&] { return tt_config_read(text, sizeof text - 1); });
            const bool isAllowed = !json || *json == '{';
            tt_free(json);
            return isAllowed;
        };
        m_uses["tt_config_canonical"] = [] {
            char* json = failing([] { return tt_config_canonical(R"({"eps": 0.5})", 12); });
            const bool isAllowed = !json || std::string_view(json) == R"({"all_xy":true,"eps":0.5})";
            tt_free(json);
            return isAllowed;
        };
        m_uses["tt_config_edit"] = [] {
            char* text = failing([] { return tt_config_edit("{ }", 3, R"({"eps": 0.5})"); });
            const bool isAllowed = !text || std::string_view(text) == R"({"eps": 0.5 })";
            tt_free(text);
            return isAllowed;
        };
        m_uses["tt_free"] = [] {
            const char text[] = "{}";
            const auto left = theFailures.left.exchange(INT_MAX);
            char* json = tt_config_read(text, sizeof text - 1);
            theFailures.left = left;
            failing([&] { tt_free(json); });
            return true;
        };
        m_uses["tt_target_matches"] = [] {
            const int found = failing([] { return tt_target_matches("layers.*.mlp", "layers.1.module.mlp.weight"); });
            return found == 1 || theFailures.haveCome;
        };
        m_uses["tt_selects_slot"] = [] {
            const int found = failing([] {
                const tt_slot slot { TT_ROLE_OUTPUT, 1, -1, -1, 0, nullptr, nullptr };
                return tt_selects_slot(R"({"output": "tuple[2]:1"})", &slot, 0);
            });
            return found == 1 || theFailures.haveCome;
        };
    }

    QTemporaryDir m_folder;
    std::vector<float> m_values;
    tt_agent* m_agent = nullptr;
    std::uint32_t m_layout = 0;
    std::int64_t m_next = 0;
    std::map<std::string, std::function<bool()>> m_uses;
    /// What uses libraries that cannot run out of memory halfway: it asks for all that it may need first.
    const std::set<std::string> m_asksFirst { "tt_config_canonical", "tt_config_edit", "tt_config_read", "tt_join_try",
        "tt_selects_slot" };
};

QTEST_GUILESS_MAIN(ExportsTest)
#include "exportstest.moc"

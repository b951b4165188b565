// SPDX-License-Identifier: GPL-3.0-or-later
#define TR_READER_BUILD
#include <telltale/reader/telltale_reader.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include <telltale/core/nothrow.h>
#include <telltale/reader/answers.h>
#include <telltale/reader/runframe.h>
#include <telltale/store/archive.h>

namespace reader = telltale::reader;
namespace store = telltale::store;
using reader::Json;
using telltale::Error;
using telltale::Expected;

/// A run, and what was wrong with the last question about it.
struct tr_run {
    store::RunHandle handle;
    std::unique_ptr<store::RunReader> reader;
    std::string error;
};

/// A frame as C sees it.
struct tr_frame {
    reader::RunFrame frame;
    std::string series;
    std::vector<std::string> names;
    std::vector<tr_column> columns;
};

namespace {

std::string text(const char* from)
{
    return from ? std::string(from) : std::string();
}

/// What body() gives; where it fails, the run says why.
template <typename Body>
auto answered(tr_run* run, Body body) noexcept -> typename std::invoke_result_t<Body>::value_type
{
    using Value = typename std::invoke_result_t<Body>::value_type;
    static_assert(std::is_pointer_v<Value>);
    if (!run)
        return nullptr;
    const auto fail = [run](const char* what) noexcept {
        telltale::withoutThrowing([&] { run->error = what; });
        return Value {};
    };
    return telltale::withoutThrowing(
        [&]() -> Value {
            auto value = body();
            return value ? *value : fail(value.error().sentence().c_str());
        },
        fail);
}

char* copyOf(const std::string& from)
{
    char* to = static_cast<char*>(std::malloc(from.size() + 1));
    if (!to)
        throw std::bad_alloc();
    return static_cast<char*>(std::memcpy(to, from.c_str(), from.size() + 1));
}

std::string dumped(const Json& document)
{
    return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// The document that `make` gives of the run's reader and directory.
template <typename Make> char* document(tr_run* run, Make make) noexcept
{
    return answered(run, [&]() -> Expected<char*> {
        const auto catalog = run->reader->catalog();
        if (!catalog)
            return tl::unexpected(catalog.error());
        const Expected<Json> made = make(*catalog);
        if (!made)
            return tl::unexpected(made.error());
        return copyOf(dumped(*made));
    });
}

std::uint32_t typeOf(const reader::FrameColumn& column)
{
    static_assert(TR_F32 == 0 && TR_F64 == 1 && TR_U64 == 2 && TR_I64 == 3);
    return static_cast<std::uint32_t>(column.values.index());
}

std::unique_ptr<tr_frame> wrapped(reader::RunFrame frame)
{
    auto made = std::make_unique<tr_frame>();
    made->frame = std::move(frame);
    made->series = dumped(reader::seriesOf(made->frame.tables));
    made->names.reserve(made->frame.columns.size());
    for (const reader::FrameColumn& column : made->frame.columns) {
        made->names.emplace_back(telltale::statName(column.stat));
        const void* data
            = std::visit([](const auto& values) { return static_cast<const void*>(values.data()); }, column.values);
        made->columns.push_back({ made->names.back().c_str(), typeOf(column), static_cast<std::uint32_t>(column.width),
            data, column.missing.empty() ? nullptr : column.missing.data() });
    }
    return made;
}

}

extern "C" {

uint32_t tr_abi_version(void)
{
    return TR_READER_ABI;
}

tr_run* tr_open(const char* run, const char* data_dir, char* why, size_t length)
{
    const auto fail = [&](const char* what) noexcept -> tr_run* {
        if (why && length > 0) {
            const std::size_t used = std::min(std::strlen(what), length - 1);
            std::memcpy(why, what, used);
            why[used] = '\0';
        }
        return nullptr;
    };
    return telltale::withoutThrowing(
        [&]() -> tr_run* {
            const std::string dataDir = data_dir ? text(data_dir) : store::defaultDataDir();
            const auto found = store::findRun(dataDir, text(run));
            if (!found)
                return fail(found.error().sentence().c_str());
            auto opened = std::make_unique<tr_run>();
            opened->handle.locator = *found;
            auto reader = store::openReader(opened->handle);
            if (!reader)
                return fail(reader.error().sentence().c_str());
            opened->reader = std::move(*reader);
            return opened.release();
        },
        fail);
}

void tr_close(tr_run* run)
{
    delete run;
}

const char* tr_error(const tr_run* run)
{
    return run ? run->error.c_str() : "";
}

char* tr_facts(tr_run* run)
{
    return document(
        run, [run](const auto& catalog) -> Expected<Json> { return reader::factsOf(run->handle, *catalog); });
}

char* tr_document(tr_run* run)
{
    return document(run, [run](const auto&) {
        return telltale::analysis::readRunDocument(*run->reader).map([](const telltale::analysis::RunDocument& said) {
            return telltale::analysis::toJson(said);
        });
    });
}

char* tr_series(tr_run* run, const char* selection)
{
    return document(run, [&](const auto& catalog) {
        return reader::selectionFrom(text(selection)).map([&](const telltale::exchange::Selection& chosen) {
            return reader::seriesOf(telltale::exchange::chosenTables(*catalog, chosen));
        });
    });
}

char* tr_log(tr_run* run, const char* kind)
{
    return document(run, [&](const auto&) { return reader::logOf(*run->reader, text(kind)); });
}

char* tr_incidents(tr_run* run)
{
    return document(run, [run](const auto&) { return reader::incidentsOf(*run->reader); });
}

void tr_free(char* text)
{
    std::free(text);
}

tr_frame* tr_frame_read(tr_run* run, const char* selection, uint32_t threads)
{
    return answered(run, [&]() -> Expected<tr_frame*> {
        const auto catalog = run->reader->catalog();
        const auto chosen = reader::selectionFrom(text(selection));
        if (!catalog || !chosen)
            return tl::unexpected(!catalog ? catalog.error() : chosen.error());
        auto frame = chosen->stats == std::vector { telltale::Stat::Hist }
            ? reader::readHistogramFrame(*run->reader, *catalog, *chosen)
            : reader::readFrame(run->handle, *catalog, *chosen, threads);
        if (!frame)
            return tl::unexpected(frame.error());
        return wrapped(std::move(*frame)).release();
    });
}

int tr_frame_get(const tr_frame* frame, tr_frame_view* view)
{
    if (!frame || !view || view->size != sizeof(tr_frame_view))
        return 0;
    *view = { sizeof(tr_frame_view), static_cast<std::uint32_t>(frame->columns.size()), frame->frame.steps.size(),
        frame->frame.steps.data(), frame->frame.counts.size(), frame->frame.counts.data(), frame->series.c_str(),
        frame->columns.data(), frame->frame.edges.size(), frame->frame.edges.data(), frame->frame.damaged };
    return 1;
}

void tr_frame_free(tr_frame* frame)
{
    delete frame;
}
}

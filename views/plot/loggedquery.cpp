// SPDX-License-Identifier: GPL-3.0-or-later
#include "loggedquery.h"

#include <string_view>
#include <tuple>

#include <QCoreApplication>

#include <telltale/items/saidwords.h>

namespace telltale::views {
namespace {

constexpr int kLargestSide = 4096; ///< of an image that anybody may have written

Expected<void> readEntries(store::RunReader& reader, LoggedEntry::Sort sort, std::int64_t after, const Rank& rank,
    std::int64_t& last, std::vector<LoggedEntry>& entries)
{
    const auto found = reader.documents(sort == LoggedEntry::Sort::Text ? "text" : "image", after);
    if (!found)
        return tl::unexpected(found.error());
    last = found->empty() ? after : found->back().id;
    for (const store::DocumentInfo& info : *found) {
        if (info.rank == rank)
            entries.push_back({ sort, QString::fromStdString(info.name), info.step, info.id });
    }
    return {};
}

LoggedContent contentOf(const std::string& bytes)
{
    if (!std::string_view(bytes).starts_with("\x89PNG"))
        return { QString::fromUtf8(bytes.data(), static_cast<qsizetype>(bytes.size())), {} };
    const QImage image
        = QImage::fromData(reinterpret_cast<const uchar*>(bytes.data()), static_cast<int>(bytes.size()), "PNG");
    if (image.isNull() || image.width() > kLargestSide || image.height() > kLargestSide)
        return { QCoreApplication::translate("telltale::views::LoggedCards", "This image cannot be read."), {} };
    return { {}, image };
}

}

Expected<LoggedNews> readLogged(store::RunReader& reader, const LoggedRequest& request)
{
    LoggedNews news;
    for (auto [sort, after, last] : { std::tuple(LoggedEntry::Sort::Text, request.afterText, &news.lastText),
             std::tuple(LoggedEntry::Sort::Image, request.afterImage, &news.lastImage) }) {
        if (auto read = readEntries(reader, sort, after, request.rank, *last, news.entries); !read)
            return tl::unexpected(read.error());
    }
    for (const std::int64_t id : request.contents) {
        const auto bytes = reader.document(id);
        news.contents.emplace(
            id, bytes ? contentOf(*bytes) : LoggedContent { items::saidwords::of(bytes.error()), {} });
    }
    return news;
}

}

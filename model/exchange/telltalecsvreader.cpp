// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/telltalecsvreader.h>

#include <algorithm>

#include <telltale/exchange/mappedfile.h>
#include <telltale/exchange/telltalecsvrows.h>

namespace telltale::exchange {
namespace {

constexpr std::string_view kCsvHead = "step,rank,attempt,kind,name,slot,micro_step,chunk,definition,stat,value";

}

bool TelltaleCsvReader::claims(const std::filesystem::path& path) const
{
    std::string_view head = kCsvHead;
    return headOf(path, head.size()) == head;
}

Expected<void> TelltaleCsvReader::read(
    const std::filesystem::path& path, ForeignRun& run, const Progress& progress) const
{
    auto file = MappedFile::open(path);
    if (!file)
        return tl::unexpected<Error>(std::move(file.error()));
    TelltaleCsvRows rows(path.string(), run);
    const std::string_view text = file->bytes();
    std::size_t number = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string_view line = text.substr(at, end - at);
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        if (number++ > 0 && !line.empty())
            rows.takeLine(line, number);
        at = end + 1;
        if (number % 65536 == 0) {
            if (auto on = goOn(progress, static_cast<double>(at) / static_cast<double>(text.size())); !on)
                return on;
        }
    }
    rows.finish();
    return {};
}

}

// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/widecsvreader.h>

#include <algorithm>

#include <telltale/exchange/csvrows.h>
#include <telltale/exchange/mappedfile.h>
#include <telltale/exchange/widetable.h>

namespace telltale::exchange {
namespace {

constexpr std::size_t kWideHead = 64u << 10;

}

bool WideCsvReader::claims(const std::filesystem::path& path) const
{
    const std::string head = headOf(path, kWideHead);
    CsvRows rows(head);
    return rows.next() && WideHead(rows.cells()).kind != WideKind::None;
}

Expected<void> WideCsvReader::read(const std::filesystem::path& path, ForeignRun& run, const Progress& progress) const
{
    auto file = MappedFile::open(path);
    if (!file)
        return tl::unexpected<Error>(std::move(file.error()));
    CsvRows rows(file->bytes());
    if (!rows.next())
        return failure(ErrorCode::BadInput, path.string() + " is empty");
    const WideHead head(rows.cells());
    WideTable table(path.string(), head, run);
    if (auto ok = table.readHead(); !ok)
        return ok;
    if (head.kind == WideKind::Log) {
        std::vector<std::string> runs;
        CsvRows again(file->bytes());
        while (again.next()) {
            const bool isNew = again.line() > 1 && head.run < again.cells().size()
                && std::find(runs.begin(), runs.end(), again.cells()[head.run]) == runs.end();
            if (isNew && runs.size() < 2)
                runs.emplace_back(again.cells()[head.run]);
        }
        table.nameRuns(runs);
    }
    table.chooseProcess();
    for (std::size_t count = 1; rows.next(); ++count) {
        table.take(rows, rows.line());
        if (count % 1024 == 0) {
            const double share = static_cast<double>(rows.offset()) / static_cast<double>(file->bytes().size());
            if (auto on = goOn(progress, share); !on)
                return on;
        }
    }
    table.finish(rows.isTorn());
    return {};
}

}

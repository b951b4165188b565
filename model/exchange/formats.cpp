// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/formats.h>

#include <algorithm>

#include <telltale/exchange/csvwriter.h>
#include <telltale/exchange/msprobewriter.h>
#include <telltale/exchange/npywriter.h>
#include <telltale/exchange/tensorboardwriter.h>
#include <telltale/exchange/trenddbwriter.h>

namespace telltale::exchange {
namespace {

Expected<std::unique_ptr<RunWriter>> makeTensorBoard(const WriterWish& wish)
{
    return std::make_unique<TensorBoardWriter>(wish.path, wish.runId, wish.tags);
}

Expected<std::unique_ptr<RunWriter>> makeCsv(const WriterWish& wish)
{
    return CsvRunWriter::create(wish.path);
}

Expected<std::unique_ptr<RunWriter>> makeMsprobe(const WriterWish& wish)
{
    return std::make_unique<MsprobeWriter>(wish.path, wish.runId);
}

Expected<std::unique_ptr<RunWriter>> makeTrendDb8(const WriterWish& wish)
{
    return TrendDbWriter::create(wish.path, TrendDbWriter::Schema::Csv2Db8);
}

Expected<std::unique_ptr<RunWriter>> makeTrendDb26(const WriterWish& wish)
{
    return TrendDbWriter::create(wish.path, TrendDbWriter::Schema::Data2Db26);
}

Expected<std::unique_ptr<RunWriter>> makeNpy(const WriterWish& wish)
{
    return std::make_unique<NpyWriter>(wish.path);
}

constexpr Format kFormats[] {
    { "tensorboard", "a folder for tensorboard --logdir, a run a rank", &makeTensorBoard },
    { "csv", "one file, a line a value", &makeCsv },
    { "msprobe-csv", "a folder as msprobe's monitor leaves it", &makeMsprobe },
    { "csv2db-8", "SQLite as msprobe's csv2db writes it (8.2 to 8.3)", &makeTrendDb8 },
    { "csv2db-26", "SQLite as msprobe's data2db writes it (26): *.trend.db", &makeTrendDb26 },
    { "npy", "a folder of NumPy arrays, one a table and statistic", &makeNpy },
};

}

std::span<const Format> formats()
{
    return kFormats;
}

const Format* findFormat(std::string_view id)
{
    const auto* found
        = std::find_if(std::begin(kFormats), std::end(kFormats), [id](const Format& one) { return one.id == id; });
    return found == std::end(kFormats) ? nullptr : found;
}

std::string formatIds()
{
    std::string ids;
    for (const Format& one : kFormats)
        ids += (ids.empty() ? "" : ", ") + std::string(one.id);
    return ids;
}

}

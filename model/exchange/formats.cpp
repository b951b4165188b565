// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/formats.h>

#include <algorithm>

#include <telltale/exchange/csvwriter.h>
#include <telltale/exchange/tensorboardwriter.h>

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

constexpr Format kFormats[] {
    { "tensorboard", "a folder for tensorboard --logdir, a run a rank", &makeTensorBoard },
    { "csv", "one file, a line a value", &makeCsv },
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

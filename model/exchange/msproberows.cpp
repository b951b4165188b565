// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/exchange/msproberows.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include <telltale/core/protocolone.h>
#include <telltale/exchange/csvtext.h>
#include <telltale/exchange/mappedfile.h>

namespace telltale::exchange {
namespace {

/// What the rows of a file hold, and what stands behind the module's name.
struct FileWord {
    std::string_view prefix;
    Kind kind;
    std::string_view suffix;
};
constexpr FileWord kFileWords[] {
    { "attention_hook", Kind::Attention, ".attention" },
    { "attention_heads", Kind::Attention, ".attention" },
    { "linear_hook", Kind::Linear, ".linear" },
    { "moe_router_weight_hook", Kind::Router, ".moe_router" },
    { "moe_router_logit_hook", Kind::Router, ".moe_router" },
    { "other", Kind::MgDirection, "" },
};

/// "blocks.0.input_1" as name and slot, where the last part is a slot of that kind.
void splitSlot(MsprobePlace& place, std::string_view name)
{
    const std::size_t dot = name.rfind('.');
    const std::string_view last = dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
    const Slot slot = protocolone::slotOf(last, place.kind);
    const bool isSlot = !last.empty() && slot.role != Role::Named;
    place.desc.name = std::string(isSlot ? name.substr(0, dot) : name);
    if (isSlot)
        place.desc.slot = slot;
}

/// "fc.grad_input.0" of monitor_v2.
void splitSecond(MsprobePlace& place, std::string_view name)
{
    place.kind = Kind::Actv;
    place.desc.name = std::string(name);
    const std::size_t dot = name.rfind('.');
    const auto number = dot == std::string_view::npos ? std::nullopt : csvInteger(name.substr(dot + 1));
    if (!number || *number < 0 || *number > 1'000'000)
        return;
    std::string_view rest = name.substr(0, dot);
    for (const auto& [word, kind, isInput] : { std::tuple { std::string_view(".grad_input"), Kind::ActvGrad, true },
             { ".grad_output", Kind::ActvGrad, false }, { ".input", Kind::Actv, true },
             { ".output", Kind::Actv, false } }) {
        if (!rest.ends_with(word))
            continue;
        place.kind = kind;
        place.desc.name = std::string(rest.substr(0, rest.size() - word.size()));
        place.desc.slot = isInput ? Slot::input(static_cast<int>(*number)) : Slot::output(static_cast<int>(*number));
        return;
    }
}

}

std::optional<Stat> msprobeStat(std::string_view column)
{
    for (const auto& [word, stat] : { std::pair { std::string_view("pos_infs"), Stat::PosInfs },
             { "neg_infs", Stat::NegInfs }, { "softmax", Stat::SoftmaxMax },
             { "router_weight_similarity", Stat::Similarity }, { "per_token_expert_entropy", Stat::Entropy } }) {
        if (column == word)
            return stat;
    }
    const auto stat = statFromName(column);
    return stat && isStoredStat(*stat) && *stat != Stat::Hist ? stat : std::nullopt;
}

std::optional<MsprobePlace> msprobePlace(
    std::string_view prefix, std::string_view name, std::string_view scope, bool isTensor)
{
    MsprobePlace place;
    const auto* word = std::find_if(
        std::begin(kFileWords), std::end(kFileWords), [prefix](const FileWord& one) { return one.prefix == prefix; });
    if (word != std::end(kFileWords)) {
        place.kind = word->kind;
        const std::size_t at = word->suffix.empty() ? std::string_view::npos : name.rfind(word->suffix);
        if (at != std::string_view::npos) {
            const std::string_view behind = name.substr(at + word->suffix.size());
            if (behind.starts_with('.'))
                place.desc.slot = protocolone::slotOf(behind.substr(1), place.kind);
            name = behind.empty() || behind.starts_with('.') ? name.substr(0, at) : name;
        }
        place.desc.name = std::string(name);
        if (prefix == "moe_router_weight_hook")
            place.desc.slot = Slot::named("weight");
        if (prefix != "other")
            return place;
        place.kind = Kind::Comm; // collectives name what they were given; the rest is a direction
        splitSlot(place, name);
        if (place.desc.slot.role != Role::Value && !isTensor)
            return place;
        place = { Kind::MgDirection, {} };
        place.desc.name = std::string(name);
        return place;
    }
    if (prefix == "module") {
        splitSecond(place, name);
        return place;
    }
    if (prefix == "optimizer") {
        const bool isSquare = name.ends_with(".exp_avg_sq");
        if (!isSquare && !name.ends_with(".exp_avg"))
            return {};
        place.kind = isSquare ? Kind::ExpAvgSq : Kind::ExpAvg;
        place.desc.name = std::string(name.substr(0, name.rfind('.')));
        return place;
    }
    if (prefix == "weight_grad" || prefix == "param" || prefix == "cc") {
        const auto kind = prefix == "cc" ? std::optional(Kind::Comm)
            : prefix == "param"          ? kindFromName(scope)
                                         : kindFromName("grad_" + std::string(scope));
        if (!kind)
            return {};
        place.kind = *kind;
        place.desc.name = std::string(name);
        if (prefix == "cc")
            place.desc.slot = Slot::named(scope);
        return place;
    }
    const auto kind = kindFromName(prefix);
    if (!kind)
        return {};
    place.kind = *kind;
    if (*kind == Kind::Actv || *kind == Kind::ActvGrad)
        splitSlot(place, name);
    else
        place.desc.name = std::string(name);
    return place;
}

std::optional<MsprobeRows::Columns> MsprobeRows::columnsOf(const CsvRows& rows)
{
    Columns columns;
    columns.count = rows.cells().size();
    for (std::size_t i = 0; i < rows.cells().size(); ++i) {
        const std::string_view word = rows.cells()[i];
        std::ptrdiff_t* const place = word == "vpp_stage" ? &columns.vpp
            : word == "name" || word == "module_name"     ? &columns.name
            : word == "step"                              ? &columns.step
            : word == "micro_step"                        ? &columns.micro
            : word == "scope"                             ? &columns.scope
            : word == "shape"                             ? &columns.shape
            : word == "dtype"                             ? &columns.dtype
                                                          : nullptr;
        if (place)
            *place = static_cast<std::ptrdiff_t>(i);
        else if (const auto stat = msprobeStat(word))
            columns.stats.emplace_back(i, *stat);
        else
            m_run.leaveOut("the column " + std::string(word.substr(0, 64)) + " of msprobe's files");
    }
    if (columns.vpp < 0 || columns.name < 0 || columns.step < 0)
        return {};
    return columns;
}

void MsprobeRows::read(const MsprobeFile& file)
{
    const auto mapped = MappedFile::open(file.path);
    if (!mapped) {
        m_run.noteDamage(mapped.error().sentence());
        return;
    }
    CsvRows rows(mapped->bytes());
    const auto columns = rows.next() ? columnsOf(rows) : std::nullopt;
    if (!columns) {
        m_run.noteDamage(file.path.string() + ": its first line does not name the columns vpp_stage, name and step");
        return;
    }
    if (m_prefix != file.prefix) {
        m_prefix = file.prefix;
        m_order.clear();
    }
    m_row = 0;
    std::size_t bad = 0, badLine = 0, collectives = 0;
    while (rows.next()) {
        const auto& cells = rows.cells();
        const bool isRight = takeRow(file, *columns, cells);
        if (!isRight && file.prefix == "other" && takeCollective(*columns, cells)) {
            ++collectives;
            continue;
        }
        if (isRight)
            continue;
        badLine = bad++ == 0 ? rows.line() : badLine;
    }
    if (bad > 0)
        m_run.noteDamage(file.path.string() + ": " + std::to_string(bad) + " rows cannot be read, line "
            + std::to_string(badLine) + " the first" + (rows.isTorn() ? " (the file ends within a cell)" : ""));
    if (collectives > 0)
        m_run.leaveOut(
            "columns of collectives' rows, which have other cells than their header says (they are read in the "
            "order of its columns)",
            collectives);
}

ForeignSeries* MsprobeRows::seriesOf(
    const MsprobeFile& file, const Columns& columns, const std::vector<std::string_view>& cells)
{
    const auto cell
        = [&cells](std::ptrdiff_t at) { return at < 0 ? std::string_view() : cells[static_cast<std::size_t>(at)]; };
    m_key.assign(cell(columns.vpp)).append(1, '\0').append(cell(columns.name)).append(1, '\0');
    m_key.append(cell(columns.micro)).append(1, '\0').append(cell(columns.scope));
    if (m_row < m_order.size() && m_order[m_row].first == m_key)
        return m_order[m_row++].second;
    const auto [at, isNew] = m_known.try_emplace(file.prefix + '\0' + m_key, nullptr);
    if (isNew) {
        const std::string_view shape = cell(columns.shape);
        auto place = msprobePlace(file.prefix, textOfCell(cell(columns.name)), cell(columns.scope), shape == "[]");
        const auto vpp = csvInteger(cell(columns.vpp));
        const auto micro = columns.micro < 0 ? std::optional<std::int64_t>(-1) : csvInteger(cell(columns.micro));
        if (!place || !vpp || !micro || std::abs(*vpp) > 1'000'000'000 || std::abs(*micro) > 1'000'000'000) {
            m_known.erase(at);
            return nullptr;
        }
        place->desc.vppStage = static_cast<std::int32_t>(*vpp);
        place->desc.microStep = static_cast<std::int32_t>(*micro - (file.isSecond && *micro > 0 ? 1 : 0));
        place->desc.shape = csvShape(shape);
        place->desc.dtype = msprobeDType(cell(columns.dtype));
        if (!shape.empty() && shape != "nan") {
            place->desc.numel = 1;
            for (const std::int64_t size : place->desc.shape)
                place->desc.numel *= static_cast<std::uint64_t>(size);
        }
        at->second = &m_process.series(place->kind, place->desc);
    }
    if (m_row < m_order.size())
        m_order[m_row] = { m_key, at->second };
    else
        m_order.emplace_back(m_key, at->second);
    ++m_row;
    return at->second;
}

bool MsprobeRows::takeRow(const MsprobeFile& file, const Columns& columns, const std::vector<std::string_view>& cells)
{
    // MindSpore's linear_hook rows have a micro step that their header lacks.
    const bool isLonger = cells.size() == columns.count + 1 && file.prefix == "linear_hook";
    if (cells.size() != columns.count && !isLonger)
        return false;
    if (!csvInteger(cells[static_cast<std::size_t>(columns.vpp)]))
        return false;
    const auto step = csvInteger(cells[static_cast<std::size_t>(columns.step)]);
    if (!step)
        return false;
    ForeignSeries* const series = seriesOf(file, columns, cells);
    if (!series)
        return false;
    const auto last = static_cast<std::size_t>(columns.step);
    bool hasAny = false, isRight = true;
    double values[64];
    std::size_t count = 0;
    for (const auto& [column, stat] : columns.stats) {
        const std::string_view cell = cells[column + (isLonger && column > last ? 1 : 0)];
        double value = std::nan("");
        if (isIdentity(stat)) {
            std::uint64_t bits = 0;
            const auto read = std::from_chars(cell.data(), cell.data() + cell.size(), bits, 16);
            value = read.ec == std::errc() && read.ptr == cell.data() + cell.size() && cell.size() == 16
                ? std::bit_cast<double>(bits)
                : std::nan("");
        } else if (const auto number = cell.empty() ? std::optional(std::nan("")) : csvNumber(cell)) {
            value = *number;
            hasAny = hasAny || !std::isnan(value);
        } else {
            isRight = false;
        }
        if (count < std::size(values))
            values[count++] = value;
    }
    const bool isNoTensor = !hasAny && columns.dtype >= 0 && cells[static_cast<std::size_t>(columns.dtype)] == "nan";
    if (isNoTensor) {
        m_run.leaveOut("rows of msprobe's for what was no tensor");
        return isRight;
    }
    if (!isRight)
        return false;
    for (std::size_t i = 0; i < count; ++i) {
        const Stat stat = columns.stats[i].second;
        if (isIdentity(stat) && cells[columns.stats[i].first].size() != 16)
            continue;
        series->track(stat).add(*step, values[i]);
        if (series->kind == Kind::MgDirection && (stat == Stat::Mean || (stat == Stat::Max && i + 1 == count)))
            series->track(Stat::Agreement).add(*step, values[i]);
    }
    return true;
}

/// "all_reduce,-0.17,0,11.4,...": no stage, the step behind the first value, all tensors of the call in one row.
bool MsprobeRows::takeCollective(const Columns& columns, const std::vector<std::string_view>& cells)
{
    const std::size_t width = columns.count - 3; // without stage, name and step
    const auto step = cells.size() > 3 ? csvInteger(cells[2]) : std::nullopt;
    if (!step || width == 0 || (cells.size() - 2) % width != 0 || csvNumber(cells[0]))
        return false;
    std::vector<std::string_view> flat { cells[1] };
    flat.insert(flat.end(), cells.begin() + 3, cells.end());
    for (std::size_t first = 0; first + width <= flat.size(); first += width) {
        SeriesDesc desc;
        desc.name = std::string(cells[0]);
        desc.slot.role = Role::After;
        desc.slot.number = static_cast<std::int32_t>(first / width);
        ForeignSeries* series = nullptr;
        bool hasAny = false;
        std::vector<double> values(columns.stats.size(), std::nan(""));
        for (std::size_t i = 0; i < columns.stats.size(); ++i) {
            const auto number = csvNumber(flat[first + columns.stats[i].first - 3]);
            if (!number)
                return false;
            values[i] = *number;
            hasAny = hasAny || !std::isnan(*number);
        }
        if (!hasAny)
            continue;
        series = &m_process.series(Kind::Comm, desc);
        for (std::size_t i = 0; i < columns.stats.size(); ++i)
            series->track(columns.stats[i].second).add(*step, values[i]);
    }
    return true;
}

}

// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/config/specialfields.h>

#include <algorithm>
#include <array>

namespace telltale::config {
namespace {

/// What telltale.histogram may name: the kinds whose tensors are measured in one pass.
constexpr std::array<std::string_view, 10> kBinned { "param_origin", "param_updated", "grad_unreduced", "grad_reduced",
    "actv", "actv_grad", "exp_avg", "exp_avg_sq", "update", "ratio" };
constexpr std::array<std::string_view, 9> kOps { "norm", "mean", "min", "max", "zeros", "nans", "id", "shape",
    "dtype" };
constexpr std::array<std::string_view, 4> kFormats { "stream", "csv", "tensorboard", "api" };

Json listSchema(Json items)
{
    return { { "type", "array" }, { "items", std::move(items) } };
}

template <std::size_t count> Json choiceSchema(const std::array<std::string_view, count>& names)
{
    auto choices = Json::array();
    for (const auto name : names)
        choices.push_back(std::string(name));
    return { { "enum", choices } };
}

/// Numbers from 0 to `nothing`, which stands in a list that was not empty and of which nothing could be read.
template <typename Number>
void readNumbers(FieldReader& reader, const std::string& pointer, const Json& value, const std::string& what,
    Number nothing, std::vector<Number>& into)
{
    into.clear();
    if (!value.is_array())
        reader.mustBe(pointer, value, what);
    for (std::size_t i = 0; value.is_array() && i < value.size(); ++i) {
        std::int64_t number = -1;
        reader.readInteger(childPointer(pointer, std::to_string(i)), value[i], 0, nothing, number);
        if (number >= 0)
            into.push_back(static_cast<Number>(number));
    }
    if (into.empty() && (!value.is_array() || !value.empty()))
        into = { nothing };
}

Json numbersSchema(std::int64_t most)
{
    return listSchema({ { "type", "integer" }, { "minimum", 0 }, { "maximum", most } });
}

}

void OpsField::read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config)
{
    if (!value.is_array())
        return reader.mustBe(pointer, value, "a list of operation names");
    std::vector<std::string> ops;
    reader.readNames(pointer, value, "the operation", kOps, ops);
    // msprobe: nothing valid means norm.
    config.ops = ops.empty() ? std::vector<std::string> { "norm" } : std::move(ops);
}

Json OpsField::write(const MonitorConfig& config)
{
    return config.ops;
}

void HistogramField::read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config)
{
    if (!value.is_array())
        return reader.mustBe(pointer, value, "a list of kinds");
    config.histogram.clear();
    reader.readNames(pointer, value, "the kind", kBinned, config.histogram);
}

Json HistogramField::write(const MonitorConfig& config)
{
    return config.histogram;
}

Json HistogramField::schema()
{
    return listSchema(choiceSchema(kBinned));
}

Json OpsField::schema()
{
    return listSchema(choiceSchema(kOps));
}

void RanksField::read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config)
{
    readNumbers(reader, pointer, value, "a list of rank numbers, such as [0, 1]", kNoRank, config.moduleRanks);
}

Json RanksField::write(const MonitorConfig& config)
{
    return config.moduleRanks;
}

Json RanksField::schema()
{
    return numbersSchema(kNoRank);
}

void MapStepsField::read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config)
{
    readNumbers(reader, pointer, value, "a list of steps, such as [0, 100]", kNoStep, config.attentionMapsSteps);
}

Json MapStepsField::write(const MonitorConfig& config)
{
    return config.attentionMapsSteps;
}

Json MapStepsField::schema()
{
    return numbersSchema(kNoStep);
}

void FormatField::read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config)
{
    if (value.is_array())
        return reader.readNames(pointer, value, "the format", kFormats, config.format);
    if (!value.is_string())
        return reader.mustBe(pointer, value, "a format's name or a list of them");
    const auto name = value.get<std::string>();
    if (std::find(kFormats.begin(), kFormats.end(), name) == kFormats.end())
        return reader.unknown(pointer, "the format", name, kFormats);
    config.format = { name };
}

Json FormatField::write(const MonitorConfig& config)
{
    return config.format;
}

Json FormatField::schema()
{
    return { { "anyOf", Json::array({ choiceSchema(kFormats), listSchema(choiceSchema(kFormats)) }) } };
}

}

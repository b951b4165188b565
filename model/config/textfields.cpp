// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/config/specialfields.h>

#include <algorithm>
#include <array>

#include <telltale/core/regularexpression.h>

namespace telltale::config {
namespace {

constexpr std::array<std::string_view, 2> kOrders { "s,b,h,d", "b,s,h,d" };
constexpr const char* kMoment = "(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)(0[1-9]|[12][0-9]|3[01])_([01][0-9]|"
                                "2[0-3])-[0-5][0-9]-[0-5][0-9]";

bool isMoment(const Json& value)
{
    static const RegularExpression moment(kMoment);
    return value.is_string() && !moment.match(value.get_ref<const std::string&>()).empty();
}

}

void SaOrderField::read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config)
{
    auto order = value.is_string() ? value.get<std::string>() : std::string();
    order.erase(std::remove(order.begin(), order.end(), ' '), order.end());
    if (std::find(kOrders.begin(), kOrders.end(), order) == kOrders.end())
        return reader.mustBe(pointer, value, R"("s,b,h,d" or "b,s,h,d")");
    config.saOrder = order;
}

Json SaOrderField::write(const MonitorConfig& config)
{
    return config.saOrder;
}

Json SaOrderField::schema()
{
    return { { "type", "string" }, { "pattern", "^ *(s *, *b|b *, *s) *, *h *, *d *$" } };
}

void ActvGradInputField::read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config)
{
    if (value != "share" && value != "total")
        return reader.mustBe(pointer, value, R"("share" or "total")");
    config.actvGradInput = value.get<std::string>();
}

Json ActvGradInputField::write(const MonitorConfig& config)
{
    return config.actvGradInput;
}

Json ActvGradInputField::schema()
{
    return { { "type", "string" }, { "enum", Json::array({ "share", "total" }) } };
}

void AppendOutputField::read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config)
{
    const bool isWindow
        = value.is_array() && (value.empty() || (value.size() == 2 && isMoment(value[0]) && isMoment(value[1])));
    if (!isWindow)
        return reader.mustBe(pointer, value, R"([] or two moments such as ["Dec03_21-34-40", "Dec03_21-34-41"])");
    config.appendOutput = value.get<std::vector<std::string>>();
}

Json AppendOutputField::write(const MonitorConfig& config)
{
    return config.appendOutput;
}

Json AppendOutputField::schema()
{
    const Json moment = { { "type", "string" }, { "pattern", std::string("^") + kMoment + "$" } };
    return { { "anyOf",
        Json::array({ { { "type", "array" }, { "maxItems", 0 } },
            { { "type", "array" }, { "items", moment }, { "minItems", 2 }, { "maxItems", 2 } } }) } };
}

}

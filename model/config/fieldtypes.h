// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The types of fields: how one is read, written and described to a JSON Schema. Each is a struct of static functions
// over a member of MonitorConfig; makeField() puts one into a row.

#include <telltale/config/field.h>

namespace telltale::config {

template <auto member> struct Plain {
    static Json write(const MonitorConfig& config) { return config.*member; }
};

template <auto member> struct Flag : Plain<member> {
    static void read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config)
    {
        reader.readBool(pointer, value, config.*member);
    }
    static Json schema() { return { { "type", "boolean" } }; }
};

template <auto member, std::int64_t low, std::int64_t high> struct Whole : Plain<member> {
    static void read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config)
    {
        reader.readInteger(pointer, value, low, high, config.*member);
    }
    static Json schema() { return { { "type", "integer" }, { "minimum", low }, { "maximum", high } }; }
};

/// A number from 0 to 1.
template <auto member> struct Fraction : Plain<member> {
    static void read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config)
    {
        reader.readNumber(pointer, value, 0.0, 1.0, config.*member);
    }
    static Json schema() { return { { "type", "number" }, { "minimum", 0 }, { "maximum", 1 } }; }
};

/// A share in percent, or null for none; 0 is none, too.
template <auto member> struct OptionalPercentage {
    static void read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config)
    {
        if (value.is_null())
            config.*member = 0;
        else
            reader.readNumber(pointer, value, 0.0, 100.0, config.*member);
    }
    static Json write(const MonitorConfig& config) { return config.*member > 0 ? Json(config.*member) : Json(); }
    static Json schema()
    {
        return { { "type", Json::array({ "number", "null" }) }, { "minimum", 0 }, { "maximum", 100 } };
    }
};

/// How many steps are kept: a number, 0 = none, or true for what is usual.
template <auto member> struct StepsKept : Plain<member> {
    static constexpr std::int64_t kUsual = 32, kMost = 1024;
    static void read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config)
    {
        if (value.is_boolean())
            config.*member = value.get<bool>() ? kUsual : 0;
        else
            reader.readInteger(pointer, value, 0, kMost, config.*member);
    }
    static Json schema()
    {
        return { { "anyOf",
            Json::array(
                { { { "type", "integer" }, { "minimum", 0 }, { "maximum", kMost } }, { { "type", "boolean" } } }) } };
    }
};

/// A whole number, or null for the default.
template <auto member, std::int64_t low, std::int64_t high> struct OptionalWhole {
    static void read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config)
    {
        std::int64_t number = low - 1;
        if (!value.is_null())
            reader.readInteger(pointer, value, low, high, number);
        if (number >= low)
            config.*member = number;
    }
    static Json write(const MonitorConfig& config) { return config.*member ? Json(*(config.*member)) : Json(); }
    static Json schema()
    {
        return { { "type", Json::array({ "integer", "null" }) }, { "minimum", low }, { "maximum", high } };
    }
};

/// Regular expressions, any of which selects; none: everything is selected.
template <auto member> struct Expressions : Plain<member> {
    static void read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config)
    {
        reader.readSelection(pointer, value, "a list of regular expressions", kNoCode, config.*member);
    }
    static Json schema() { return { { "type", "array" }, { "items", { { "type", "string" } } } }; }
};

template <typename Type>
constexpr Field makeField(
    Field::Group group, std::string_view object, std::string_view name, std::string_view description)
{
    return { object, name, description, group, false, &Type::read, &Type::write, &Type::schema };
}

/// The same of a field that cannot be reached from outside of the training.
template <typename Type>
constexpr Field makeLocalField(
    Field::Group group, std::string_view object, std::string_view name, std::string_view description)
{
    return { object, name, description, group, true, &Type::read, &Type::write, &Type::schema };
}

}

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The fields of config.json that are of no common type. Each as in fieldtypes.h.

#include <telltale/config/field.h>

namespace telltale::config {

struct TargetsField {
    static void read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config);
    static Json write(const MonitorConfig& config);
    static Json schema();
};

struct L2TargetsField {
    static void read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config);
    static Json write(const MonitorConfig& config);
    static Json schema();
};

struct OpsField {
    static void read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config);
    static Json write(const MonitorConfig& config);
    static Json schema();
};

struct HistogramField {
    static void read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config);
    static Json write(const MonitorConfig& config);
    static Json schema();
};

struct RanksField {
    static void read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config);
    static Json write(const MonitorConfig& config);
    static Json schema();
};

struct MapStepsField {
    static void read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config);
    static Json write(const MonitorConfig& config);
    static Json schema();
};

/// One format's name, or a list of them.
struct FormatField {
    static void read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config);
    static Json write(const MonitorConfig& config);
    static Json schema();
};

struct SaOrderField {
    static void read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config);
    static Json write(const MonitorConfig& config);
    static Json schema();
};

/// Modules, each with a list of its heads.
struct AttentionMapsField {
    static void read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config);
    static Json write(const MonitorConfig& config);
    static Json schema();
};

/// "share" or "total".
struct ActvGradInputField {
    static void read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config);
    static Json write(const MonitorConfig& config);
    static Json schema();
};

/// Nothing, or the first and last moment of a time window, each as "Dec03_21-34-40".
struct AppendOutputField {
    static void read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config);
    static Json write(const MonitorConfig& config);
    static Json schema();
};

struct AlertRulesField {
    static void read(FieldReader& reader, const std::string& pointer, const Json& value, MonitorConfig& config);
    static Json write(const MonitorConfig& config);
    static Json schema();
};

}

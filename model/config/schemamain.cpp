// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdio>

#include <telltale/config/monitorconfig.h>

/// Prints the JSON Schema of config.json.
int main()
{
    const auto schema = telltale::config::monitorConfigSchema();
    return std::fwrite(schema.data(), 1, schema.size(), stdout) == schema.size() ? 0 : 1;
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/config/soundconfig.h>

#include <string>

namespace telltale::config {

Expected<MonitorConfig> soundConfig(std::string_view text, std::size_t most)
{
    auto parsed = parseMonitorConfig(text);
    if (!parsed)
        return tl::unexpected<Error>(std::move(parsed.error()));
    std::string what;
    std::size_t errors = 0;
    for (const Problem& problem : parsed->problems) {
        if (problem.isError && errors++ < most)
            what.append(what.empty() ? "" : "; ").append(problem.pointer).append(": ").append(problem.sentence);
    }
    if (errors > most)
        what.append(" and ").append(std::to_string(errors - most)).append(" more");
    if (errors > 0)
        return failure(ErrorCode::BadInput, std::move(what));
    return std::move(parsed->config);
}

}

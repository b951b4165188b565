// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/config/soundconfig.h>

#include <string>

namespace telltale::config {

Expected<MonitorConfig> soundConfig(std::string_view text)
{
    auto parsed = parseMonitorConfig(text);
    if (!parsed)
        return tl::unexpected<Error>(std::move(parsed.error()));
    std::string what;
    for (const Problem& problem : parsed->problems) {
        if (problem.isError)
            what.append(what.empty() ? "" : "; ").append(problem.pointer).append(": ").append(problem.sentence);
    }
    if (!what.empty())
        return failure(ErrorCode::BadInput, std::move(what));
    return std::move(parsed->config);
}

}

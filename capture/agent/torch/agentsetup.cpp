// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/torch/agentsetup.h>

#include <cstdlib>

#include <torch/version.h>

namespace telltale {

std::string frameworkName()
{
    return std::string("libtorch ") + TORCH_VERSION;
}

int rankFromEnvironment()
{
    constexpr long kLastRank = 1'000'000;
    for (const char* const name : { "RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "RANK_ID" }) {
        const char* const text = std::getenv(name);
        if (!text || !*text)
            continue;
        char* end = nullptr;
        const long value = std::strtol(text, &end, 10);
        if (*end == '\0' && value >= 0 && value <= kLastRank)
            return static_cast<int>(value);
    }
    return 0;
}

tt_options agentOptions(const std::string& framework, const std::string& configText)
{
    tt_options options {};
    options.size = sizeof options;
    options.framework = framework.c_str();
    options.device = "cpu";
    options.config_text = configText.c_str();
    options.rank = -1;
    options.dp = options.tp = options.pp = options.ep = -1;
    options.restart_count = -1;
    options.takes_configs = 1;
    return options;
}

}

// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/torch/configfile.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include <telltale/agent/say.h>
#include <telltale/config/instead.h>
#include <telltale/config/relaxedjson.h>

namespace telltale {

bool LoadedConfig::saysDynamicOn() const
{
    return nlohmann::json::parse(config::plainJson(text), nullptr, false).contains("dynamic_on");
}

std::string everythingConfigText()
{
    return R"({"targets": {}, "wg_distribution": true, "mv_distribution": true, "param_distribution": true, )"
           R"("xy_distribution": true, "telltale": {"attention_hook": true, "threads": 1}})";
}

std::string pathOf(const std::string& pathOrText)
{
    const auto start = pathOrText.find_first_not_of(" \t\r\n");
    const bool isText
        = start != std::string::npos && (pathOrText[start] == '{' || pathOrText.compare(start, 2, "//") == 0);
    return isText ? std::string() : pathOrText;
}

Expected<LoadedConfig> loadMonitorConfig(const std::string& pathOrText)
{
    const bool isText = pathOf(pathOrText) != pathOrText;
    const auto name = isText || pathOrText.empty() ? std::string("monitor config") : pathOrText;
    LoadedConfig loaded;
    if (pathOrText.empty()) {
        loaded.text = everythingConfigText();
    } else if (isText) {
        loaded.text = pathOrText;
    } else {
        // A directory opens as a file does and throws when it is read.
        if (std::error_code none; std::filesystem::is_directory(pathOrText, none))
            return failure(
                ErrorCode::BadInput, "cannot read " + pathOrText + ": it is a directory", "name the config file");
        std::ifstream file(pathOrText, std::ios::binary);
        if (!file)
            return failure(ErrorCode::Io, "cannot read " + pathOrText + ": " + std::strerror(errno));
        loaded.text.assign(std::istreambuf_iterator<char>(file), {});
        if (file.bad())
            return failure(ErrorCode::Io, "cannot read " + pathOrText + " to its end");
    }
    auto parsed = config::parseMonitorConfig(loaded.text);
    if (!parsed)
        return failure(parsed.error().code, name + ": " + parsed.error().what, parsed.error().todo);
    const auto instead = config::whatHoldsInstead(*parsed);
    for (std::size_t i = 0; i < instead.size(); ++i)
        agent::say(name + ": " + parsed->problems[i].sentence + (instead[i].empty() ? "" : "; " + instead[i]));
    loaded.config = std::move(parsed->config);
    return loaded;
}

}

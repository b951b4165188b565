// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/torch/environment.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <sys/utsname.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <telltale/core/regularexpression.h>

namespace telltale {
namespace {

constexpr std::size_t kLongestCommand = 4000;
constexpr const char* kHidden = "***";

bool isSecret(const std::string& name)
{
    static const RegularExpression pattern(
        "(api|access|secret|private|auth|hub|hf|wandb|login|bearer)[_-]?(key|token)|^-*token$"
        "|passw(or)?d|secret|credential",
        RegularExpression::Letters::AnyCase);
    return pattern.isFoundIn(name);
}

/// "token=x" inside an argument, as a join string has it, and "user:password@" of an address.
std::string withoutSecrets(const std::string& text)
{
    static const RegularExpression named(
        "\\b(token|password|passwd|secret|api[_-]?key|access[_-]?key)=[^&\\s#]+", RegularExpression::Letters::AnyCase);
    static const RegularExpression user("(://)[^/@\\s]+@");
    return user.replaced(named.replaced(text, "$1=***"), "$1***@");
}

std::vector<std::string> ownArguments()
{
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> arguments;
    for (std::string one; std::getline(file, one, '\0');)
        arguments.push_back(one);
    return arguments;
}

std::string processor()
{
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("model name") && line.find(": ") != std::string::npos)
            return line.substr(line.find(": ") + 2);
    }
    return {};
}

}

bool isEnvironmentAllowed()
{
    const char* const said = std::getenv("TELLTALE_ENVIRONMENT");
    const std::string word = said != nullptr ? said : "";
    return word != "off" && word != "0" && word != "false" && word != "no";
}

std::string commandLine(const std::vector<std::string>& arguments)
{
    std::string line;
    bool hidesNext = false;
    for (const std::string& argument : arguments) {
        if (line.size() >= kLongestCommand)
            break;
        const std::size_t equals = argument.find('=');
        const bool isOption = argument.starts_with('-');
        const bool isNamed = isOption && isSecret(argument.substr(0, equals));
        line += line.empty() ? "" : " ";
        if (hidesNext && !isOption)
            line += kHidden;
        else if (isNamed && equals != std::string::npos)
            line += argument.substr(0, equals + 1) + kHidden;
        else
            line += withoutSecrets(argument);
        hidesNext = isNamed && equals == std::string::npos;
    }
    return line.substr(0, kLongestCommand);
}

std::string environmentJson(const std::string& framework)
{
    nlohmann::ordered_json found = nlohmann::ordered_json::object();
    found["framework"] = framework;
    if (std::array<char, 256> host {}; gethostname(host.data(), host.size() - 1) == 0)
        found["host"] = host.data();
    if (utsname system {}; uname(&system) == 0)
        found["os"] = std::string(system.sysname) + "-" + system.release + "-" + system.machine;
    if (const std::string name = processor(); !name.empty())
        found["cpu"] = name;
    if (const long count = sysconf(_SC_NPROCESSORS_ONLN); count > 0)
        found["cpu_count"] = count;
    if (const long pages = sysconf(_SC_PHYS_PAGES); pages > 0)
        found["memory_bytes"] = static_cast<std::int64_t>(pages) * sysconf(_SC_PAGE_SIZE);
    if (const std::string command = commandLine(ownArguments()); !command.empty())
        found["command"] = command;
    if (std::array<char, 4096> folder {}; getcwd(folder.data(), folder.size()) != nullptr)
        found["folder"] = folder.data();
    return found.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}

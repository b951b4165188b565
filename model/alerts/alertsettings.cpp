// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/alerts/alertsettings.h>

#include <algorithm>

#include <telltale/core/plaintext.h>

namespace telltale::alerts {
namespace {

constexpr std::array<std::string_view, kShapes.size()> kShapeWords { "generic", "slack", "feishu", "dingtalk" };

/// "https" and where what follows "://" begins.
std::pair<std::string_view, std::size_t> schemeOf(std::string_view url)
{
    const std::size_t end = url.find("://");
    return end == std::string_view::npos ? std::pair(std::string_view(), url.size())
                                         : std::pair(url.substr(0, end), end + 3);
}

/// Host and port, without a user's name and password.
std::string_view hostOf(std::string_view url)
{
    std::string_view rest = url.substr(schemeOf(url).second);
    rest = rest.substr(0, rest.find_first_of("/?#"));
    return rest.substr(rest.rfind('@') + 1);
}

}

std::string_view shapeWord(Shape shape)
{
    return kShapeWords[static_cast<std::size_t>(shape)];
}

std::optional<Shape> shapeFromWord(std::string_view word)
{
    const auto* found = std::find(kShapeWords.begin(), kShapeWords.end(), word);
    return found == kShapeWords.end() ? std::nullopt
                                      : std::optional(kShapes[static_cast<std::size_t>(found - kShapeWords.begin())]);
}

std::string shownUrl(std::string_view url)
{
    if (url.empty())
        return {};
    return terminalText(std::string(schemeOf(url).first) + "://" + std::string(hostOf(url))) + "/…";
}

std::string problemOfUrl(std::string_view url)
{
    const std::string_view scheme = schemeOf(url).first;
    if (url.empty())
        return "there is no address";
    if (scheme != "http" && scheme != "https")
        return "the address must begin with https:// or http://";
    const bool isOdd = std::any_of(
        url.begin(), url.end(), [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; });
    if (hostOf(url).empty() || isOdd)
        return isOdd ? "the address has a blank in it" : "the address has no host";
    return {};
}

}

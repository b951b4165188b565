// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/server/portholder.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <telltale/server/peerlog.h>

namespace telltale::server {
namespace {

constexpr const char* kListening = "0A";

/// Inodes of the sockets that listen on the port.
void collectInodes(const char* table, std::uint16_t port, std::set<std::string>& inodes)
{
    std::ifstream file(table);
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
        std::istringstream fields(line);
        std::string slot, local, remote, state, queues, timer, retransmits, user, timeout, inode;
        fields >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> user >> timeout >> inode;
        const std::size_t colon = local.rfind(':');
        if (state == kListening && colon != std::string::npos
            && std::strtoul(local.c_str() + colon + 1, nullptr, 16) == port)
            inodes.insert("socket:[" + inode + "]");
    }
}

bool holdsOneOf(const std::filesystem::path& process, const std::set<std::string>& sockets)
{
    std::error_code error;
    for (std::filesystem::directory_iterator it(process / "fd", error), end; !error && it != end; it.increment(error)) {
        std::error_code linkError;
        if (sockets.contains(std::filesystem::read_symlink(it->path(), linkError).string()))
            return true;
    }
    return false;
}

}

std::string describePortHolder(std::uint16_t port)
{
    std::set<std::string> sockets;
    collectInodes("/proc/net/tcp", port, sockets);
    collectInodes("/proc/net/tcp6", port, sockets);
    if (sockets.empty())
        return {};
    std::error_code error;
    for (std::filesystem::directory_iterator it("/proc", error), end; !error && it != end; it.increment(error)) {
        const std::string pid = it->path().filename().string();
        if (pid.empty() || std::isdigit(static_cast<unsigned char>(pid.front())) == 0
            || !holdsOneOf(it->path(), sockets))
            continue;
        std::string name;
        std::ifstream comm(it->path() / "comm");
        std::getline(comm, name);
        return escaped(name) + " (pid " + pid + ")";
    }
    return {};
}

}

// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/server/serveridentity.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include <openssl/rand.h>

#include <telltale/core/privatefiles.h>
#include <telltale/protocol/limits.h>
#include <telltale/server/secretfile.h>

namespace telltale::server {
namespace {

constexpr std::size_t kTokenBytes = 32;

Expected<std::string> makeToken()
{
    static constexpr char kHex[] = "0123456789abcdef";
    unsigned char raw[kTokenBytes];
    if (RAND_bytes(raw, sizeof raw) != 1)
        return failure(ErrorCode::Io, "cannot make a token: the system gives no random bytes");
    std::string out;
    for (const unsigned char byte : raw)
        out += { kHex[byte >> 4], kHex[byte & 15] };
    return out;
}

std::string trimmed(std::string text)
{
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
        text.pop_back();
    return text;
}

bool isToken(const std::string& text)
{
    return text.size() == 2 * kTokenBytes && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    });
}

Expected<std::string> loadToken(const std::string& path)
{
    if (auto known = readSecret(path)) {
        std::string token = trimmed(std::move(*known));
        if (isToken(token))
            return token;
        return failure(ErrorCode::Damaged, path + " does not hold a token", "delete it to get a new one");
    } else if (known.error().code != ErrorCode::NotFound) {
        return tl::unexpected(known.error());
    }
    auto token = makeToken();
    if (!token)
        return token;
    if (auto written = writeSecret(path, *token + "\n"); !written)
        return tl::unexpected(written.error());
    return token;
}

}

Expected<ServerIdentity> ServerIdentity::load(const std::string& dataDir)
{
    namespace fs = std::filesystem;
    ServerIdentity out;
    const fs::path folder = fs::path(dataDir) / "server";
    if (auto made = makePrivateFolder(folder.string()); !made)
        return failure(made.error().code, made.error().what, "choose another data directory");
    keepPrivate(folder.string());
    out.m_folder = folder.string();
    auto token = loadToken(out.m_folder + "/token");
    if (!token)
        return tl::unexpected(token.error());
    out.m_token = std::move(*token);
    auto controlToken = loadToken(out.m_folder + "/control-token");
    if (!controlToken)
        return tl::unexpected(controlToken.error());
    out.m_controlToken = std::move(*controlToken);
    out.m_lastPort = protocol::limits::kDefaultPort;
    if (const auto port = readSecret(out.m_folder + "/port")) {
        std::uint16_t value = 0;
        const auto [end, code] = std::from_chars(port->data(), port->data() + port->size(), value);
        out.m_hasPort = code == std::errc {} && value != 0;
        if (out.m_hasPort)
            out.m_lastPort = value;
    }
    return out;
}

Expected<void> ServerIdentity::rememberPort(std::uint16_t port)
{
    if (m_hasPort && port == m_lastPort)
        return {};
    m_lastPort = port;
    m_hasPort = true;
    return writeSecret(m_folder + "/port", std::to_string(port) + "\n");
}

Expected<Certificate> ServerIdentity::certificate() const
{
    const std::string keyPath = m_folder + "/key.pem";
    const std::string certificatePath = m_folder + "/certificate.pem";
    auto key = readSecret(keyPath);
    auto pem = readSecret(certificatePath);
    if (key && pem) {
        auto known = Certificate::fromPem(std::move(*key), std::move(*pem));
        if (!known)
            known.error().todo = "delete " + keyPath + " and " + certificatePath
                + " to get new ones, and give every agent the new join string";
        return known;
    }
    for (const auto* file : { &key, &pem }) {
        if (!*file && file->error().code != ErrorCode::NotFound)
            return tl::unexpected(file->error());
    }
    auto made = Certificate::make();
    if (!made)
        return made;
    // The certificate last: a crash between the two leaves no pair, and the next start makes a new one.
    if (auto written = writeSecret(keyPath, made->keyPem); !written)
        return tl::unexpected(written.error());
    if (auto written = writeSecret(certificatePath, made->certificatePem); !written)
        return tl::unexpected(written.error());
    return made;
}

}

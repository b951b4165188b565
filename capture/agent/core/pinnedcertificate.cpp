// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/agent/pinnedcertificate.h>

#include <array>
#include <cctype>
#include <memory>

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <fmt/format.h>

namespace telltale::agent {
namespace {

std::string plainHex(std::string_view text)
{
    std::string out;
    for (const char c : text)
        if (c != ':')
            out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

}

std::string certificateFingerprint(SSL* connection)
{
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(SSL_get1_peer_certificate(connection), &X509_free);
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest {};
    unsigned length = 0;
    if (!certificate || X509_digest(certificate.get(), EVP_sha256(), digest.data(), &length) != 1)
        return {};
    std::string out;
    for (unsigned i = 0; i < length; ++i)
        out += fmt::format("{:02x}", digest[i]);
    return out;
}

bool isSameFingerprint(std::string_view a, std::string_view b)
{
    return !a.empty() && plainHex(a) == plainHex(b);
}

}

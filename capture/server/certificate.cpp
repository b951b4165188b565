// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/server/certificate.h>

#include <memory>

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace telltale::server {
namespace {

/// Frees an OpenSSL object of one type. Thread: any.
template <auto Free> struct Deleter {
    template <typename T> void operator()(T* object) const { Free(object); }
};
void freeBio(BIO* bio)
{
    BIO_free_all(bio);
}
using KeyPtr = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using CertificatePtr = std::unique_ptr<X509, Deleter<X509_free>>;
using BioPtr = std::unique_ptr<BIO, Deleter<freeBio>>;

constexpr long kValidSeconds = 20L * 365 * 24 * 3600;
constexpr long kClockSkewSeconds = 24L * 3600; ///< a peer's clock may be behind ours

std::string contents(BIO* bio)
{
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

bool addExtension(X509* certificate, int id, const char* value)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, id, value);
    const bool ok = extension != nullptr && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return ok;
}

bool fill(X509* certificate, EVP_PKEY* key)
{
    std::uint64_t serial = 0;
    if (RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) != 1)
        return false;
    X509_NAME* name = X509_get_subject_name(certificate);
    return X509_set_version(certificate, X509_VERSION_3) == 1
        && ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1) == 1
        && X509_gmtime_adj(X509_getm_notBefore(certificate), -kClockSkewSeconds) != nullptr
        && X509_gmtime_adj(X509_getm_notAfter(certificate), kValidSeconds) != nullptr
        && X509_NAME_add_entry_by_txt(
               name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("telltale"), -1, -1, 0)
        == 1
        && X509_set_issuer_name(certificate, name) == 1 && X509_set_pubkey(certificate, key) == 1
        && addExtension(certificate, NID_subject_alt_name, "DNS:telltale,DNS:localhost")
        && addExtension(certificate, NID_basic_constraints, "critical,CA:FALSE")
        && X509_sign(certificate, key, EVP_sha256()) > 0;
}

std::string fingerprintOf(const X509* certificate)
{
    static constexpr char kHex[] = "0123456789abcdef";
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    std::string out;
    if (X509_digest(certificate, EVP_sha256(), digest, &size) == 1) {
        for (unsigned int i = 0; i < size; ++i)
            out += { kHex[digest[i] >> 4], kHex[digest[i] & 15] };
    }
    return out;
}

}

Expected<Certificate> Certificate::make()
{
    const auto failed = [] { return failure(ErrorCode::Io, "cannot make a key and certificate: OpenSSL refused to"); };
    const KeyPtr key(EVP_EC_gen("P-256"));
    const CertificatePtr certificate(X509_new());
    if (!key || !certificate || !fill(certificate.get(), key.get()))
        return failed();
    const BioPtr keyText(BIO_new(BIO_s_mem()));
    const BioPtr certificateText(BIO_new(BIO_s_mem()));
    if (PEM_write_bio_PrivateKey(keyText.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1
        || PEM_write_bio_X509(certificateText.get(), certificate.get()) != 1)
        return failed();
    return Certificate { contents(keyText.get()), contents(certificateText.get()), fingerprintOf(certificate.get()) };
}

Expected<Certificate> Certificate::fromPem(std::string keyPem, std::string certificatePem)
{
    const BioPtr keyText(BIO_new_mem_buf(keyPem.data(), static_cast<int>(keyPem.size())));
    const BioPtr certificateText(BIO_new_mem_buf(certificatePem.data(), static_cast<int>(certificatePem.size())));
    const KeyPtr key(PEM_read_bio_PrivateKey(keyText.get(), nullptr, nullptr, nullptr));
    const CertificatePtr certificate(PEM_read_bio_X509(certificateText.get(), nullptr, nullptr, nullptr));
    if (!key || !certificate || X509_check_private_key(certificate.get(), key.get()) != 1)
        return failure(ErrorCode::Damaged, "the server's key and certificate are damaged or do not belong together");
    std::string fingerprint = fingerprintOf(certificate.get());
    return Certificate { std::move(keyPem), std::move(certificatePem), std::move(fingerprint) };
}

}

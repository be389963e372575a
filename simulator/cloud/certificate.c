#include "simulator/cloud/certificate.h"

#include "base/mem.h"
#include "simulator/cloud/sim.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct kubeconfig_authority {
    EVP_PKEY *key;
    long last_serial;
};

/* Ends the program when a call of libcrypto failed. A call fails only when there is no memory, or when
 * libcrypto does not have the curve. */
static void libcrypto_must(int ok, const char *what)
{
    if (ok > 0)
        return;
    (void)fprintf(stderr, "cleura-sim: libcrypto: %s\n", what);
    abort();
}

static EVP_PKEY *new_key(void)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    libcrypto_must(key != NULL, "key");
    return key;
}

struct kubeconfig_authority *kubeconfig_authority_new(void)
{
    struct kubeconfig_authority *authority = mem_calloc(1, sizeof(*authority));
    authority->key = new_key();
    return authority;
}

void kubeconfig_authority_free(struct kubeconfig_authority *authority)
{
    if (!authority)
        return;
    EVP_PKEY_free(authority->key);
    free(authority);
}

static void set_name(X509_NAME *name, const char *field, const char *value)
{
    libcrypto_must(
        X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, (const unsigned char *)value, -1, -1, 0),
        "name");
}

static void add_extension(X509 *certificate, int nid, const char *value)
{
    X509V3_CTX context;
    X509_EXTENSION *extension;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
    extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    libcrypto_must(extension != NULL, "extension");
    libcrypto_must(X509_add_ext(certificate, extension, -1), "extension");
    X509_EXTENSION_free(extension);
}

static void set_times(X509 *certificate, int64_t from, int64_t until)
{
    libcrypto_must(ASN1_TIME_set(X509_getm_notBefore(certificate), (time_t)from) != NULL, "time");
    libcrypto_must(ASN1_TIME_set(X509_getm_notAfter(certificate), (time_t)until) != NULL, "time");
}

static X509 *new_certificate(struct kubeconfig_authority *authority, EVP_PKEY *key, const char *issuer)
{
    X509 *certificate = X509_new();
    libcrypto_must(certificate != NULL, "certificate");
    libcrypto_must(X509_set_version(certificate, X509_VERSION_3), "version");
    libcrypto_must(ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++authority->last_serial), "serial");
    libcrypto_must(X509_set_pubkey(certificate, key), "key");
    set_name(X509_get_issuer_name(certificate), "CN", issuer);
    return certificate;
}

static void write_ca(BIO *out, struct kubeconfig_authority *authority, const char *name, int64_t from,
                     int64_t until)
{
    X509 *certificate = new_certificate(authority, authority->key, name);
    set_name(X509_get_subject_name(certificate), "CN", name);
    set_times(certificate, from, until);
    add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE");
    add_extension(certificate, NID_key_usage, "critical,digitalSignature,keyCertSign");
    libcrypto_must(X509_sign(certificate, authority->key, EVP_sha256()), "sign");
    libcrypto_must(PEM_write_bio_X509(out, certificate), "write");
    X509_free(certificate);
}

/* Returns the text in base64, and frees `out`. */
static char *take_base64(BIO *out)
{
    char *data = NULL;
    long size = BIO_get_mem_data(out, &data);
    char *text;
    libcrypto_must(size > 0, "write");
    text = mem_calloc(1, (size_t)size / 3 * 4 + 8);
    (void)EVP_EncodeBlock((unsigned char *)text, (const unsigned char *)data, (int)size);
    BIO_free(out);
    return text;
}

static BIO *new_memory(void)
{
    BIO *out = BIO_new(BIO_s_mem());
    libcrypto_must(out != NULL, "memory");
    return out;
}

char *certificate_ca_base64(struct kubeconfig_authority *authority, const char *name, const char *previous,
                            int64_t from, int64_t until)
{
    BIO *out = new_memory();
    write_ca(out, authority, name, from, until);
    if (previous)
        write_ca(out, authority, previous, from, until);
    return take_base64(out);
}

struct client_credentials certificate_client(struct kubeconfig_authority *authority, const char *issuer,
                                             const char *user, int64_t from, int64_t until)
{
    struct client_credentials client;
    EVP_PKEY *key = new_key();
    X509 *certificate = new_certificate(authority, key, issuer);
    BIO *out = new_memory();
    set_name(X509_get_subject_name(certificate), "O", "gardener.cloud:system:admins");
    set_name(X509_get_subject_name(certificate), "CN", user);
    set_times(certificate, from, until);
    add_extension(certificate, NID_key_usage, "critical,digitalSignature");
    add_extension(certificate, NID_ext_key_usage, "clientAuth");
    libcrypto_must(X509_sign(certificate, authority->key, EVP_sha256()), "sign");
    libcrypto_must(PEM_write_bio_X509(out, certificate), "write");
    client.certificate = take_base64(out);
    out = new_memory();
    libcrypto_must(PEM_write_bio_PrivateKey(out, key, NULL, NULL, 0, NULL, NULL), "write");
    client.key = take_base64(out);
    X509_free(certificate);
    EVP_PKEY_free(key);
    return client;
}

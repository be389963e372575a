/*
 * What a kubeconfig says about itself: whether it is one, and when its client certificate ends. The real
 * expiry is read, never assumed (gardener.md 5): Cleura shortens long requests silently. The text is a secret
 * throughout.
 */
#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "model/kubeconfig_file.h"
#include "upstream/generation_private.h"

bool kubeconfig_is_plausible(const char *text)
{
    const char *kind = strstr(text, "kind:");
    return kind && strstr(text, "clusters:") && strstr(text, "Config");
}

static wall_us pem_not_after(const unsigned char *pem, size_t len)
{
    BIO *bio = BIO_new_mem_buf(pem, (int)len);
    X509 *certificate = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
    struct tm tm;
    wall_us at = 0;
    if (certificate && ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &tm) == 1)
        at = (wall_us)timegm(&tm) * US_PER_S;
    X509_free(certificate);
    (void)BIO_free(bio);
    return at;
}

wall_us kubeconfig_expiry(const char *kubeconfig)
{
    struct kubeconfig_parts *parts CLEANUP_KUBECONFIG = kubeconfig_parse(kubeconfig);
    char *pem CLEANUP_FREE =
        parts && parts->certificate_data ? kubeconfig_pem(parts->certificate_data) : NULL;
    return pem ? pem_not_after((const unsigned char *)pem, strlen(pem)) : 0;
}

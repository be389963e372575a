#include "loop/authorities.h"

#include <curl/curl.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <stdlib.h>

const char *authorities_default_file(void)
{
    const char *named = getenv(X509_get_default_cert_file_env());
    return named && *named ? named : curl_version_info(CURLVERSION_NOW)->cainfo;
}

X509_STORE *authorities_read(const char *file, bool *ret_any)
{
    X509_STORE *store = X509_STORE_new();
    if (!store)
        abort();
    /* As libcurl has it: a certificate of the file is trusted for what it is, also below an authority. */
    (void)X509_STORE_set_flags(store, X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN);
    *ret_any = file && X509_STORE_load_locations(store, file, NULL) == 1;
    ERR_clear_error();
    return store;
}

/*
 * What a kubeconfig says about itself: whether it is one, and when its client certificate ends. The real
 * expiry is read, never assumed (gardener.md 5): Cleura shortens long requests silently. The text is a secret
 * throughout.
 */
#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <yaml.h>

#include "base/mem.h"
#include "upstream/generation_private.h"

bool kubeconfig_is_plausible(const char *text)
{
    const char *kind = strstr(text, "kind:");
    return kind && strstr(text, "clusters:") && strstr(text, "Config");
}

static yaml_node_t *child(yaml_document_t *doc, yaml_node_t *map, const char *key)
{
    if (!map || map->type != YAML_MAPPING_NODE)
        return NULL;
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
        yaml_node_t *name = yaml_document_get_node(doc, p->key);
        if (name && name->type == YAML_SCALAR_NODE && !strcmp((const char *)name->data.scalar.value, key))
            return yaml_document_get_node(doc, p->value);
    }
    return NULL;
}

static const char *certificate_data(yaml_document_t *doc)
{
    yaml_node_t *users = child(doc, yaml_document_get_root_node(doc), "users");
    if (!users || users->type != YAML_SEQUENCE_NODE ||
        users->data.sequence.items.start == users->data.sequence.items.top)
        return NULL;
    yaml_node_t *first = yaml_document_get_node(doc, *users->data.sequence.items.start);
    yaml_node_t *data = child(doc, child(doc, first, "user"), "client-certificate-data");
    return data && data->type == YAML_SCALAR_NODE ? (const char *)data->data.scalar.value : NULL;
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

static wall_us base64_not_after(const char *text)
{
    size_t size = strlen(text), len = 0;
    unsigned char *pem CLEANUP_FREE = mem_calloc(size + 1, 1);
    if (sodium_base642bin(pem, size + 1, text, size, "\r\n ", &len, NULL, sodium_base64_VARIANT_ORIGINAL) !=
        0)
        return 0;
    return pem_not_after(pem, len);
}

wall_us kubeconfig_expiry(const char *kubeconfig)
{
    yaml_parser_t parser;
    yaml_document_t doc;
    wall_us at = 0;
    if (!yaml_parser_initialize(&parser))
        abort();
    yaml_parser_set_input_string(&parser, (const unsigned char *)kubeconfig, strlen(kubeconfig));
    if (yaml_parser_load(&parser, &doc)) {
        const char *data = certificate_data(&doc);
        if (data)
            at = base64_not_after(data);
        yaml_document_delete(&doc);
    }
    yaml_parser_delete(&parser);
    return at;
}

/*
 * The certificates of the server: the current certificate for new connections, and recently replaced
 * certificates, which running handshakes may still use. A handshake takes no longer than the limit for a
 * header section (http_limits_default).
 */
#include "http/connection/tls.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gnutls/x509.h>

#include "base/attrs.h"
#include "base/lock.h"
#include "base/mem.h"

enum {
    OF_CERTIFICATE,
    OF_KEY,
    OF_CLIENT_CA,
    FILES,
    CLIENT_NAMES_MAX = 32,
    CLIENT_NAME_BYTES = 252,
    AUTHORITY_MAX = 255
};

#define HANDSHAKES_END_US (60 * US_PER_S)

/* The values that show whether a file was replaced. */
struct version {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
};

struct certificate {
    gnutls_pcert_st chain[TLS_CHAIN_MAX];
    unsigned count;
    gnutls_privkey_t key;
    gnutls_x509_trust_list_t clients; /* the authorities that may issue client certificates */
    wall_us ends_at;
    struct version clients_version;
    mono_us replaced_at;
    struct certificate *older;
};

struct tls {
    const struct env *env;
    char *paths[FILES]; /* the paths of the files; NULL: not configured */
    struct version seen[FILES];
    char *authorities;    /* the authorities of client certificates, as read at the start */
    bool was_faulty;      /* the last check found a fault that is not reported yet */
    pthread_mutex_t lock; /* protects `current` */
    struct certificate *current;
    _Atomic uint64_t clients_generation;
};

static struct tls *_Atomic serving;

/* ---- one certificate ---- */

static void certificate_free(struct certificate *c)
{
    for (unsigned i = 0; i < c->count; i++)
        gnutls_pcert_deinit(&c->chain[i]);
    gnutls_privkey_deinit(c->key);
    gnutls_x509_trust_list_deinit(c->clients, 1);
    free(c);
}

static bool fail(char **ret_error, const char *path, const char *why)
{
    *ret_error = mem_printf("%s: %s", path, why);
    return false;
}

/* Reads the whole file. A key must not be readable by everyone (SD-13); a group may read the key, because in
 * Debian the group `ssl-cert` reads keys. */
static bool read_file(const char *path, bool is_secret, gnutls_datum_t *ret, char **ret_error)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) < 0) {
        int error = errno;
        if (fd >= 0)
            (void)close(fd);
        return fail(ret_error, path, strerror(error));
    }
    ssize_t n = -1;
    if (!S_ISREG(st.st_mode) || st.st_size > TLS_FILE_MAX) {
        (void)fail(ret_error, path, "is not a regular file of at most 256 KiB");
    } else if (is_secret && st.st_mode & 007) {
        (void)fail(ret_error, path, "may be read by everybody: chmod 600 it");
    } else {
        ret->data = mem_calloc(1, (size_t)st.st_size + 1);
        n = read(fd, ret->data, (size_t)st.st_size);
        ret->size = n > 0 ? (unsigned)n : 0;
        if (n < 0)
            (void)fail(ret_error, path, strerror(errno));
    }
    (void)close(fd);
    return n >= 0;
}

static void forget(gnutls_datum_t *bytes)
{
    if (bytes->data)
        explicit_bzero(bytes->data, bytes->size);
    free(bytes->data);
}

static bool take_chain(struct certificate *c, const char *path, const gnutls_datum_t *pem, char **ret_error)
{
    unsigned count = TLS_CHAIN_MAX;
    gnutls_x509_crt_t first;
    int r = gnutls_pcert_list_import_x509_raw(c->chain, &count, pem, GNUTLS_X509_FMT_PEM, 0);
    if (r < 0)
        return fail(ret_error, path, gnutls_strerror(r));
    c->count = count;
    r = count ? gnutls_pcert_export_x509(&c->chain[0], &first) : GNUTLS_E_NO_CERTIFICATE_FOUND;
    if (r < 0)
        return fail(ret_error, path, gnutls_strerror(r));
    c->ends_at = (wall_us)gnutls_x509_crt_get_expiration_time(first) * US_PER_S;
    gnutls_x509_crt_deinit(first);
    return true;
}

static bool key_fits(const struct certificate *c)
{
    unsigned char ids[2][64];
    size_t sizes[2] = {sizeof(ids[0]), sizeof(ids[1])};
    gnutls_pubkey_t of_key;
    if (gnutls_pubkey_init(&of_key) < 0)
        abort();
    bool fits =
        gnutls_pubkey_import_privkey(of_key, c->key, 0, 0) == 0 &&
        gnutls_pubkey_get_key_id(of_key, GNUTLS_KEYID_USE_SHA256, ids[0], &sizes[0]) == 0 &&
        gnutls_pubkey_get_key_id(c->chain[0].pubkey, GNUTLS_KEYID_USE_SHA256, ids[1], &sizes[1]) == 0 &&
        sizes[0] == sizes[1] && !memcmp(ids[0], ids[1], sizes[0]);
    gnutls_pubkey_deinit(of_key);
    return fits;
}

static bool take_key(struct certificate *c, const char *path, const gnutls_datum_t *pem, char **ret_error)
{
    int r = gnutls_privkey_import_x509_raw(c->key, pem, GNUTLS_X509_FMT_PEM, NULL, 0);
    if (r < 0)
        return fail(ret_error, path, gnutls_strerror(r));
    return key_fits(c) || fail(ret_error, path, "is not the key of the certificate");
}

/* Returns the length of the names of all authorities, which each handshake sends. */
static size_t names_len(gnutls_x509_trust_list_t authorities)
{
    gnutls_x509_trust_list_iter_t it = NULL;
    gnutls_x509_crt_t one;
    size_t len = 0;
    while (gnutls_x509_trust_list_iter_get_ca(authorities, &it, &one) == 0) {
        gnutls_datum_t name = {0};
        if (gnutls_x509_crt_get_raw_dn(one, &name) == 0)
            len += name.size;
        gnutls_free(name.data);
        gnutls_x509_crt_deinit(one);
    }
    gnutls_x509_trust_list_iter_deinit(it);
    return len;
}

static bool take_client_ca(struct certificate *c, const char *path, const gnutls_datum_t *pem,
                           char **ret_error)
{
    int r = gnutls_x509_trust_list_add_trust_mem(c->clients, pem, NULL, GNUTLS_X509_FMT_PEM, 0, 0);
    if (r <= 0)
        return fail(ret_error, path, r < 0 ? gnutls_strerror(r) : "holds no certificate");
    return names_len(c->clients) <= TLS_NAMES_MAX ||
           fail(ret_error, path, "the names of its authorities have more than 16 KiB together");
}

static bool look_at(const char *path, struct version *ret)
{
    struct stat st;
    if (!path || stat(path, &st) < 0)
        return false;
    *ret = (struct version){st.st_dev, st.st_ino, st.st_size, st.st_mtim};
    return true;
}

static bool is_same(const struct version *a, const struct version *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

static bool read_files(struct tls *tls, struct certificate *c, gnutls_datum_t pems[static FILES],
                       char **ret_error)
{
    static bool (*const take[FILES])(struct certificate * c, const char *path, const gnutls_datum_t *pem,
                                     char **ret_error) = {take_chain, take_key, take_client_ca};
    bool good = true;
    /* The versions are read before the files, so that a write between the two is noticed as a change. */
    for (int i = 0; i < FILES; i++)
        (void)look_at(tls->paths[i], &tls->seen[i]);
    c->clients_version = tls->seen[OF_CLIENT_CA];
    for (int i = 0; i < FILES && good; i++)
        if (tls->paths[i])
            good = read_file(tls->paths[i], i == OF_KEY, &pems[i], ret_error) &&
                   take[i](c, tls->paths[i], &pems[i], ret_error);
    return good;
}

/* Reads the certificate. The versions of the files are stored even when the read fails. */
static struct certificate *read_certificate(struct tls *tls, char **ret_error)
{
    gnutls_datum_t pems[FILES] = {{0}, {0}, {0}};
    struct certificate *c = MEM_NEW(struct certificate);
    if (gnutls_privkey_init(&c->key) < 0 || gnutls_x509_trust_list_init(&c->clients, 0) < 0)
        abort();
    const bool good = read_files(tls, c, pems, ret_error);
    if (good && pems[OF_CLIENT_CA].data && !tls->authorities)
        tls->authorities = mem_strdup((const char *)pems[OF_CLIENT_CA].data);
    for (int i = 0; i < FILES; i++)
        forget(&pems[i]);
    if (good)
        return c;
    certificate_free(c);
    return NULL;
}

/* ---- the files ---- */

struct tls *tls_open(const struct env *env, const struct tls_files *files, char **ret_error)
{
    struct tls *tls = MEM_NEW(struct tls);
    tls->env = env;
    tls->paths[OF_CERTIFICATE] = mem_strdup(files->certificate);
    tls->paths[OF_KEY] = mem_strdup(files->key);
    tls->paths[OF_CLIENT_CA] = mem_strdup(files->client_ca);
    mutex_init(&tls->lock);
    tls->current = read_certificate(tls, ret_error);
    if (tls->current)
        return tls;
    tls_free(tls);
    return NULL;
}

static void free_older(struct certificate *c)
{
    struct certificate *older = TAKE_PTR(c->older);
    while (older) {
        struct certificate *next = older->older;
        certificate_free(older);
        older = next;
    }
}

void tls_free(struct tls *tls)
{
    if (!tls)
        return;
    assert(atomic_load(&serving) != tls);
    if (tls->current) {
        free_older(tls->current);
        certificate_free(tls->current);
    }
    mutex_done(&tls->lock);
    for (int i = 0; i < FILES; i++)
        free(tls->paths[i]);
    free(tls->authorities);
    free(tls);
}

/* Whether a file was replaced. A missing file is ignored: somebody is replacing it, or it stays missing. */
static bool has_changed(const struct tls *tls)
{
    bool changed = false;
    for (int i = 0; i < FILES && !changed; i++) {
        struct version now;
        changed = look_at(tls->paths[i], &now) && !is_same(&now, &tls->seen[i]);
    }
    return changed;
}

static void replace(struct tls *tls, struct certificate *next)
{
    const mono_us now = env_mono(tls->env);
    struct certificate *before = tls->current;
    before->replaced_at = now;
    next->older = before;
    for (struct certificate *c = before; c; c = c->older)
        if (c->older && now - c->older->replaced_at > HANDSHAKES_END_US)
            free_older(c);
    mutex_lock(&tls->lock);
    tls->current = next;
    mutex_unlock(&tls->lock);
    if (!is_same(&before->clients_version, &next->clients_version))
        atomic_fetch_add(&tls->clients_generation, 1);
}

enum tls_refresh_result tls_refresh(struct tls *tls, char **ret_error)
{
    char *error CLEANUP_FREE = NULL;
    const bool changed = has_changed(tls);
    if (!changed && !tls->was_faulty)
        return TLS_SAME;
    struct certificate *next = read_certificate(tls, &error);
    if (next) {
        tls->was_faulty = false;
        replace(tls, next);
        return TLS_TAKEN;
    }
    /* During a renewal the two files may not match for a moment. Therefore they are read once more before a
     * fault is reported. */
    if (changed || !tls->was_faulty) {
        tls->was_faulty = true;
        return TLS_SAME;
    }
    tls->was_faulty = false;
    *ret_error = TAKE_PTR(error);
    return TLS_FAULTY;
}

wall_us tls_ends_at(struct tls *tls)
{
    mutex_lock(&tls->lock);
    const wall_us ends_at = tls->current->ends_at;
    mutex_unlock(&tls->lock);
    return ends_at;
}

/* ---- handshakes ---- */

void tls_serve(struct tls *tls)
{
    struct tls *before = atomic_exchange(&serving, tls);
    assert(!before || !tls);
    (void)before;
}

int tls_choose(gnutls_session_t session ATTR_UNUSED, const struct gnutls_cert_retr_st *info ATTR_UNUSED,
               gnutls_pcert_st **ret_certs, unsigned int *ret_count, gnutls_ocsp_data_st **ret_ocsp,
               unsigned int *ret_ocsp_count, gnutls_privkey_t *ret_key, unsigned int *ret_flags)
{
    struct tls *tls = atomic_load(&serving);
    mutex_lock(&tls->lock);
    struct certificate *c = tls->current;
    mutex_unlock(&tls->lock);
    *ret_certs = c->chain;
    *ret_count = c->count;
    *ret_ocsp = NULL;
    *ret_ocsp_count = 0;
    *ret_key = c->key;
    *ret_flags = 0; /* the library must not free chain and key */
    return 0;
}

/* ---- clients ---- */

const char *tls_client_authorities(const struct tls *tls)
{
    return tls->authorities;
}

/* Returns the client's certificate if it is trusted; otherwise NULL. The caller frees it. */
static gnutls_x509_crt_t trusted_client(struct certificate *c, gnutls_session_t session)
{
    unsigned count = 0, status = ~0U;
    gnutls_x509_crt_t chain[TLS_CHAIN_MAX] = {NULL}, client = NULL;
    const gnutls_datum_t *shown = gnutls_certificate_get_peers(session, &count);
    gnutls_typed_vdata_st purpose = {.type = GNUTLS_DT_KEY_PURPOSE_OID,
                                     .data = (unsigned char[]){GNUTLS_KP_TLS_WWW_CLIENT}};
    bool good = shown && count && count <= TLS_CHAIN_MAX;
    for (unsigned i = 0; good && i < count; i++)
        good = gnutls_x509_crt_init(&chain[i]) == 0 &&
               gnutls_x509_crt_import(chain[i], &shown[i], GNUTLS_X509_FMT_DER) == 0;
    good = good &&
           gnutls_x509_trust_list_verify_crt2(c->clients, chain, count, &purpose, 1, 0, &status, NULL) == 0 &&
           !status;
    for (unsigned i = 0; i < TLS_CHAIN_MAX; i++) {
        if (good && !i)
            client = chain[i];
        else if (chain[i])
            gnutls_x509_crt_deinit(chain[i]);
    }
    return client;
}

static bool is_printable(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return len > 0;
}

/* Returns the names of the kinds that shootd uses, if they are printable ASCII without blanks. */
static char **names_of(gnutls_x509_crt_t client)
{
    char **names = mem_calloc(CLIENT_NAMES_MAX + 1, sizeof(*names));
    size_t count = 0;
    for (unsigned i = 0; i < CLIENT_NAMES_MAX; i++) {
        char name[CLIENT_NAME_BYTES] = "";
        size_t size = sizeof(name) - 1;
        int type = gnutls_x509_crt_get_subject_alt_name(client, i, name, &size, NULL);
        if (type == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE)
            break;
        const char *kind = type == GNUTLS_SAN_DNSNAME ? "dns" : type == GNUTLS_SAN_URI ? "uri" : NULL;
        if (kind && is_printable(name, size))
            names[count++] = mem_printf("%s:%s", kind, name);
    }
    return names;
}

uint64_t tls_clients_generation(struct tls *tls)
{
    return atomic_load(&tls->clients_generation);
}

void tls_client(struct tls *tls, gnutls_session_t session, struct tls_client *ret)
{
    *ret = (struct tls_client){.generation = tls_clients_generation(tls)};
    mutex_lock(&tls->lock);
    struct certificate *current = tls->current; /* used without the lock: a replaced certificate stays valid
                                                 * for a minute */
    mutex_unlock(&tls->lock);
    gnutls_x509_crt_t client = tls->authorities ? trusted_client(current, session) : NULL;
    if (!client)
        return;
    gnutls_datum_t authority = {0};
    if (gnutls_x509_crt_get_issuer_dn3(client, &authority, 0) == 0 && authority.size <= AUTHORITY_MAX) {
        ret->authority = mem_strndup((const char *)authority.data, authority.size);
        for (char *c = ret->authority; *c; c++)
            *c = *c < ' ' || *c > '~' ? '?' : *c;
        ret->names = names_of(client);
    }
    gnutls_free(authority.data);
    ret->ends_at = (wall_us)gnutls_x509_crt_get_expiration_time(client) * US_PER_S;
    gnutls_x509_crt_deinit(client);
}

void tls_client_done(struct tls_client *client)
{
    for (char **name = client->names; name && *name; name++)
        free(*name);
    free(client->names);
    free(client->authority);
}

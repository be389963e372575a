#include "base/env.h"
#include "daemon/daemon_private.h"
#include "http/connection/tls.h"

struct tls *certificate_open(const struct config *config, char **ret_error)
{
    const struct tls_files files = {
        .certificate = config->tls.certificate, .key = config->tls.key, .client_ca = config->tls.client_ca};
    return files.certificate ? tls_open(env_real(), &files, ret_error) : NULL;
}

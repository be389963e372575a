/*
 * The peer of `make bench`: the least that libmicrohttpd can do. Sends the bytes of a file with the same
 * threads and nothing else: no routing, no authentication, no headers but the content type. What is posted is
 * thrown away, so it is a receiver of webhooks too.
 */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char body[1 << 20];
static size_t body_len;

static enum MHD_Result answer(void *cls, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **state)
{
    static int seen;
    (void)cls, (void)url, (void)method, (void)version, (void)upload;
    if (!*state || *upload_size) {
        *state = &seen; /* a later call keeps the connection alive */
        *upload_size = 0;
        return MHD_YES;
    }
    struct MHD_Response *response = MHD_create_response_from_buffer(body_len, body, MHD_RESPMEM_PERSISTENT);
    (void)MHD_add_response_header(response, "Content-Type", "application/json");
    enum MHD_Result r = MHD_queue_response(connection, 200, response);
    MHD_destroy_response(response);
    return r;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 64;
    FILE *file = fopen(argv[2], "rbe");
    if (!file)
        return 1;
    body_len = fread(body, 1, sizeof(body), file);
    (void)fclose(file);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)strtoul(argv[1], NULL, 10)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct MHD_Daemon *daemon =
        MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, answer, NULL, MHD_OPTION_SOCK_ADDR,
                         &address, MHD_OPTION_THREAD_POOL_SIZE, 2U, MHD_OPTION_END);
    if (!daemon)
        return 1;
    sigset_t set;
    int number;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    (void)sigwait(&set, &number);
    MHD_stop_daemon(daemon);
    return 0;
}

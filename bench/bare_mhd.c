/*
 * The reference server of `make bench`: the minimum that libmicrohttpd can do. It sends the bytes of a file
 * with the same threads, without routing and authentication. The header fields come from a second file, one
 * "Name: value" per line; without it only the content type is sent. The status is 200 or the next argument.
 * It discards a posted body, so it is also a receiver of webhooks.
 */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FIELDS = 32, FIELD_BYTES = 512 };

static char body[1 << 20];
static size_t body_len;
static unsigned status = 200;
static struct {
    char name[FIELD_BYTES];
    const char *value; /* points into name */
} fields[MAX_FIELDS];
static size_t field_count;

static bool read_fields(const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    while (field_count < MAX_FIELDS && fgets(fields[field_count].name, FIELD_BYTES, file)) {
        char *name = fields[field_count].name, *colon = strchr(name, ':');
        name[strcspn(name, "\n")] = '\0';
        if (!colon || colon[1] != ' ')
            break;
        *colon = '\0';
        fields[field_count++].value = colon + 2;
    }
    (void)fclose(file);
    return field_count > 0;
}

static enum MHD_Result answer(void *cls, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **state)
{
    static int seen;
    if (!*state || *upload_size) {
        *state = &seen; /* a later call keeps the connection alive */
        *upload_size = 0;
        return MHD_YES;
    }
    struct MHD_Response *response = MHD_create_response_from_buffer(body_len, body, MHD_RESPMEM_PERSISTENT);
    for (size_t i = 0; i < field_count; i++)
        (void)MHD_add_response_header(response, fields[i].name, fields[i].value);
    enum MHD_Result r = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return r;
}

int main(int argc, char **argv)
{
    if (argc < 3 || argc > 5)
        return 64;
    FILE *file = fopen(argv[2], "rbe");
    if (!file)
        return 1;
    body_len = fread(body, 1, sizeof(body), file);
    (void)fclose(file);
    if (argc > 3 && !read_fields(argv[3]))
        return 1;
    if (argc == 3) {
        (void)snprintf(fields[0].name, FIELD_BYTES, "Content-Type");
        fields[0].value = "application/json";
        field_count = 1;
    }
    if (argc > 4)
        status = (unsigned)strtoul(argv[4], NULL, 10);
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

/* cleura-sim: a simulator of Cleura's REST API for tests and demonstrations. */
#include "simulator/cloud/check.h"
#include "simulator/cloud/options.h"
#include "simulator/server.h"
#include "simulator/cloud/sim.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int sim_serve(struct sim *sim, const struct options *options, const sigset_t *signals)
{
    char host[INET_ADDRSTRLEN];
    uint16_t port = 0;
    struct MHD_Daemon *daemon = server_start(sim, &options->listen, &port);
    if (!daemon) {
        (void)fprintf(stderr, "cleura-sim: cannot listen: %s\n", strerror(errno));
        return EXIT_FAILURE;
    }
    if (!inet_ntop(AF_INET, &options->listen.sin_addr, host, sizeof(host)))
        host[0] = '\0';
    (void)printf("cleura-sim listening on http://%s:%u\n", host, (unsigned)port);
    (void)fflush(stdout);
    int signal_number;
    while (sigwait(signals, &signal_number) != 0)
        continue;
    sim_stop(sim);
    server_stop(daemon);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    struct options options;
    struct sim *sim;
    sigset_t signals;
    int r = options_parse(&options, argc, argv);
    if (r != 0)
        return r;
    if (options.help) {
        options_print_help();
        return EXIT_SUCCESS;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGINT);
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL); /* threads that start later inherit the mask */
    json_object_seed(0);
    check_init();
    sim = sim_new(&options);
    r = sim_serve(sim, &options, &signals);
    sim_free(sim);
    check_done();
    return r;
}

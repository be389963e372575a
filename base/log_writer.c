#include "base/log_writer.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/buffer.h"
#include "base/env.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/thread.h"

enum { SEND_BYTES = 64 * 1024 }; /* the limit of one send, unless a single line is longer */

/* Each line in the queue comes after its head. */
struct head {
    log_send send;
    size_t len;
};
_Static_assert(sizeof(struct head) == 16, "LOG_QUEUE_BYTES says so");

static struct {
    pthread_mutex_t lock; /* protects the members below; the thread sends without it */
    pthread_cond_t added; /* the thread has something to do */
    pthread_cond_t moved; /* the thread has taken lines, or has sent what it took */
    pthread_t thread;
    struct buffer waiting; /* heads and lines */
    bool is_running;       /* the thread runs */
    bool is_abandoned;     /* the thread still waits for a reader, and nobody waits for the thread */
    bool is_stopping, is_sending;
} writer = {.lock = PTHREAD_MUTEX_INITIALIZER, .waiting.max = LOG_QUEUE_BYTES};
static _Atomic uint64_t dropped;

uint64_t log_writer_dropped(void)
{
    return atomic_load(&dropped);
}

/* ---- sending ---- */

/* Sends the lines from *at on that fit into one send, and moves *at behind them. Returns how many were lost.
 */
static unsigned send_some(const struct buffer *lines, size_t *at)
{
    struct iovec parts[LOG_AT_ONCE];
    unsigned count = 0;
    size_t bytes = 0;
    log_send send = NULL;
    while (*at < lines->len && count < LOG_AT_ONCE) {
        struct head head;
        memcpy(&head, lines->data + *at, sizeof(head));
        if (count && (head.send != send || bytes + head.len > SEND_BYTES))
            break;
        send = head.send;
        bytes += head.len;
        parts[count++] = (struct iovec){lines->data + *at + sizeof(head), head.len};
        *at += sizeof(head) + head.len;
    }
    const unsigned lost = count ? send(parts, count) : 0;
    atomic_fetch_add(&dropped, lost);
    return lost;
}

/* Sends all lines and empties the buffer. Returns how many were lost. */
static unsigned send_all(struct buffer *lines)
{
    unsigned lost = 0;
    for (size_t at = 0; at < lines->len;)
        lost += send_some(lines, &at);
    buffer_done(lines);
    return lost;
}

/* Tells in the log itself that lines are missing. `told` is the number that was told before. Called when the
 * thread has taken all lines: there is room, and what was dropped comes after the taken lines. */
static void tell_dropped(uint64_t *told)
{
    const uint64_t now = log_writer_dropped();
    if (now == *told)
        return;
    log_warning("{count} log lines were dropped: stderr or the journal was not read fast enough", "count",
                LOG_INT(now - *told));
    *told = now;
}

static void *write_lines(void *arg ATTR_UNUSED)
{
    struct buffer taken = {.max = LOG_QUEUE_BYTES};
    uint64_t told = log_writer_dropped();
    unsigned lost = 0;
    thread_in_background("log");
    mutex_lock(&writer.lock);
    for (;;) {
        while (!writer.waiting.len && !writer.is_stopping)
            cond_wait(&writer.added, &writer.lock);
        if (!writer.waiting.len)
            break;
        struct buffer empty = taken;
        taken = writer.waiting;
        writer.waiting = empty;
        writer.is_sending = true;
        cond_broadcast(&writer.moved);
        mutex_unlock(&writer.lock);
        if (!lost) /* after a loss the line that tells it would be lost as well, without end */
            tell_dropped(&told);
        lost = send_all(&taken);
        mutex_lock(&writer.lock);
        writer.is_sending = false;
        cond_broadcast(&writer.moved);
    }
    mutex_unlock(&writer.lock);
    return NULL;
}

/* ---- callers ---- */

/* Sends the waiting lines, when there is no thread that does. The lines behind which an abandoned thread
 * still waits stay where they are: their sender would wait like the thread. Called with the lock. */
static void send_without_thread(void)
{
    if (!writer.is_running && !writer.is_abandoned)
        (void)send_all(&writer.waiting);
}

/* Waits until the thread has no more than `left` bytes of lines, and with `left` 0 has sent all. Called with
 * the lock. Returns whether it came to that in time. */
static bool wait_for_thread(size_t left, int64_t patience_us)
{
    const struct timespec until = cond_until(patience_us);
    int r = 0;
    while (r == 0 && (writer.waiting.len > left || (!left && writer.is_sending))) {
        cond_signal(&writer.added);
        r = pthread_cond_timedwait(&writer.moved, &writer.lock, &until);
    }
    return r == 0;
}

bool log_writer_add(log_send send, const void *line, size_t len, bool is_held, int64_t patience_us)
{
    const struct head head = {send, len};
    const size_t whole = sizeof(head) + len;
    assert(send && whole <= LOG_QUEUE_BYTES / 2);
    mutex_lock(&writer.lock);
    bool fits = !writer.is_abandoned && writer.waiting.len + whole <= LOG_QUEUE_BYTES;
    if (patience_us > 0 && writer.is_running)
        fits = wait_for_thread(LOG_QUEUE_BYTES / 2 - whole, patience_us);
    if (fits) {
        buffer_add(&writer.waiting, &head, sizeof(head));
        buffer_add(&writer.waiting, line, len);
    } else {
        atomic_fetch_add(&dropped, 1);
    }
    if (writer.is_running && !is_held)
        cond_signal(&writer.added);
    else if (!is_held || writer.waiting.len > SEND_BYTES)
        send_without_thread();
    mutex_unlock(&writer.lock);
    return fits;
}

void log_writer_wake(void)
{
    mutex_lock(&writer.lock);
    if (writer.is_running)
        cond_signal(&writer.added);
    else
        send_without_thread();
    mutex_unlock(&writer.lock);
}

void log_writer_flush(int64_t patience_us)
{
    mutex_lock(&writer.lock);
    if (!writer.is_running)
        send_without_thread();
    else if (!pthread_equal(pthread_self(), writer.thread))
        (void)wait_for_thread(0, patience_us);
    mutex_unlock(&writer.lock);
}

/* ---- start and stop ---- */

void log_writer_start(void)
{
    assert(!writer.is_running && !writer.is_abandoned);
    cond_init(&writer.added);
    cond_init(&writer.moved);
    mutex_lock(&writer.lock);
    writer.is_stopping = writer.is_sending = false;
    writer.is_running = pthread_create(&writer.thread, NULL, write_lines, NULL) == 0;
    mutex_unlock(&writer.lock);
}

void log_writer_stop(int64_t patience_us)
{
    mutex_lock(&writer.lock);
    if (!writer.is_running) {
        mutex_unlock(&writer.lock);
        return;
    }
    writer.is_abandoned = !wait_for_thread(0, patience_us);
    writer.is_stopping = true;
    writer.is_running = false;
    cond_signal(&writer.added);
    mutex_unlock(&writer.lock);
    if (writer.is_abandoned) {
        (void)pthread_detach(writer.thread);
        return;
    }
    (void)pthread_join(writer.thread, NULL);
    cond_done(&writer.added);
    cond_done(&writer.moved);
}

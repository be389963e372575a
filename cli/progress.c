#include "cli/progress.h"

#include <assert.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/env.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/glyphs.h"
#include "cli/shootctl.h"
#include "cli/when.h"

enum {
    FIRST_AFTER_MS = 500,
    EVERY_MS = 100,
    SIGN_OF_LIFE_MS = 10000,
    BAR_MAX = 24,
    BAR_LEAST_WIDTH = 15, /* a terminal with fewer columns shows no bar */
    STEP_PERCENT = 10,    /* without bars, a line is printed when the progress has changed by this many
                           * percent */
    FRAME_MAX_BYTES = 1024 * 1024,
};

enum mode { MODE_NONE, MODE_LINES, MODE_BARS };

struct item {
    char *label, *message, *since;
    int percent, said_percent;
    enum progress_state state;
    bool is_set;
    bool changed; /* the item has changed since its last printed line */
};

struct progress {
    enum mode mode;
    struct item *items;
    size_t count;
    mono_us began, drawn_at, said_at;
    char *frame;    /* the text of the rows on the screen; NULL: no rows are shown */
    unsigned rows;  /* the number of these rows */
    size_t *widths; /* the width of each row */
    struct sigaction before, before_continue;
};

static volatile sig_atomic_t interrupted, continued;

static void on_interrupt(int number)
{
    interrupted = number;
}

/* After Ctrl-Z and fg other lines are below the bars, and the next frame begins below them. */
static void on_continue(int number)
{
    continued = number;
}

static enum mode mode_of(const struct cli *cli)
{
    const char *word = parsed_text(cli->parsed, "progress"), *variable = getenv("SHOOTCTL_PROGRESS");
    const char *accessible = getenv("ACCESSIBLE");
    word = word ? word : variable && *variable ? variable : "auto";
    if (strcmp(word, "none") == 0)
        return MODE_NONE;
    if (strcmp(word, "plain") == 0 || (accessible && *accessible))
        return MODE_LINES;
    return cli->err.moves ? MODE_BARS : MODE_LINES;
}

void progress_begin(struct cli *cli, size_t count)
{
    assert(!cli->progress && count); /* only one progress exists at a time */
    struct progress *p = MEM_NEW(struct progress);
    const struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    const struct sigaction going_on = {.sa_handler = on_continue, .sa_flags = SA_RESTART};
    p->mode = mode_of(cli);
    p->items = mem_calloc(count, sizeof(*p->items));
    p->count = count;
    p->widths = mem_calloc(count + 1, sizeof(*p->widths)); /* one more row is needed for "and 7 more" */
    p->began = p->said_at = env_mono(env_real());
    interrupted = continued = 0;
    (void)sigaction(SIGINT, NULL, &p->before);
    if (p->before.sa_handler != SIG_IGN) /* as nohup and background jobs of a script set it */
        (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGCONT, &going_on, &p->before_continue);
    cli->progress = p;
}

/* ---- one line ---- */

static char *elapsed_of(const struct item *item)
{
    wall_us since;
    if (!item->since || !time_parse_rfc3339(item->since, &since))
        return mem_strdup("");
    return when_lasting((when_now() - since) / US_PER_S);
}

static void add_bar(struct buffer *line, int percent, size_t cells)
{
    assert(percent >= 0 && percent <= 100);
    size_t filled = (size_t)percent * cells / 100;
    buffer_add_str(line, " [");
    for (size_t i = 0; i < cells; i++)
        buffer_add_str(line, i < filled ? "#" : "-");
    buffer_add_str(line, "]");
}

char *progress_line(const char *label, int percent, const char *message, const char *elapsed, size_t width)
{
    struct buffer line CLEANUP_BUFFER;
    size_t end = elapsed && *elapsed ? strlen(elapsed) + 2 : 0;
    buffer_init(&line, FRAME_MAX_BYTES);
    glyphs_show(&line, label);
    if (percent >= 0) {
        size_t used = glyphs_width(line.data) + end + 10, room = width > used ? width - used : 0;
        if (width >= BAR_LEAST_WIDTH && room / 2 >= 4)
            add_bar(&line, percent > 100 ? 100 : percent, room / 2 < BAR_MAX ? room / 2 : BAR_MAX);
        buffer_printf(&line, " %3d%%", percent);
    }
    if (message && *message) {
        buffer_add_str(&line, "  ");
        glyphs_show(&line, message);
    }
    char *text = buffer_take(&line, NULL);
    size_t room = width > end ? width - end : 0;
    if (glyphs_width(text) > room)
        text[glyphs_fit(text, room)] = '\0';
    if (!end || end > width)
        return text;
    char *whole = mem_printf("%s  %s", text, elapsed);
    free(text);
    return whole;
}

static enum style style_of(const struct item *item)
{
    return item->state == PROGRESS_SUCCEEDED ? STYLE_GOOD
           : item->state == PROGRESS_FAILED  ? STYLE_BAD
                                             : STYLE_PLAIN;
}

/* ---- a frame of bars ---- */

/* Forgets the frame when other lines may be below it. */
static void look_for_others(struct progress *p)
{
    if (!continued)
        return;
    continued = 0;
    mem_set_str(&p->frame, NULL);
    p->rows = 0;
}

/* Moves the cursor to the beginning of the frame. If the terminal has become narrower, a line may fill
 * several rows now. */
static void go_back(const struct cli *cli)
{
    const struct progress *p = cli->progress;
    size_t up = 0, width = terminal_width(&cli->err), height = terminal_height(&cli->err);
    for (unsigned i = 0; i < p->rows; i++)
        up += p->widths[i] > width ? (p->widths[i] + width - 1) / width : 1;
    up = up < height ? up : height; /* rows above the screen cannot be reached */
    if (up > 1)
        (void)fprintf(cli->err.file, "\033[%zuA", up - 1);
    (void)fputc('\r', cli->err.file);
}

/* Composes the rows, open items first. Returns how many items do not fit; `widths` receives the width of
 * each row. */
static size_t compose(const struct cli *cli, struct buffer *frame, size_t *widths, unsigned *ret_rows)
{
    const struct progress *p = cli->progress;
    unsigned width = terminal_width(&cli->err), height = terminal_height(&cli->err);
    size_t room = height > 2 ? height - 2 : 1, shown = 0, left = 0;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < p->count; i++) {
            const struct item *item = &p->items[i];
            if (!item->is_set || (item->state == PROGRESS_GOES_ON) != (pass == 0))
                continue;
            if (shown >= room && p->count > room) {
                left++;
                continue;
            }
            char *elapsed CLEANUP_FREE = elapsed_of(item);
            char *line CLEANUP_FREE =
                progress_line(item->label, item->percent, item->message, elapsed, width > 1 ? width - 1 : 1);
            buffer_printf(frame, "%s%s%s%s\033[K", shown ? "\n" : "",
                          terminal_begin(&cli->err, style_of(item)), line,
                          terminal_end(&cli->err, style_of(item)));
            widths[shown++] = glyphs_width(line);
        }
    }
    *ret_rows = (unsigned)shown;
    return left;
}

static void draw(struct cli *cli)
{
    struct progress *p = cli->progress;
    struct buffer frame CLEANUP_BUFFER;
    unsigned rows = 0;
    look_for_others(p);
    buffer_init(&frame, FRAME_MAX_BYTES);
    size_t *widths CLEANUP_FREE = mem_calloc(p->count + 1, sizeof(*widths));
    size_t left = compose(cli, &frame, widths, &rows);
    assert(rows <= p->count); /* `widths` has one more element than there are items */
    if (left) {
        buffer_printf(&frame, "\nand %zu more\033[K", left);
        widths[rows++] = 0; /* this line fits into one row of any terminal */
    }
    if (!rows || mem_same_str(frame.data, p->frame))
        return;
    go_back(cli);
    (void)fprintf(cli->err.file, "%s\033[J", frame.data);
    (void)fflush(cli->err.file);
    mem_set_str(&p->frame, frame.data);
    memcpy(p->widths, widths, (p->count + 1) * sizeof(*widths));
    p->rows = rows;
}

static void erase(struct cli *cli)
{
    struct progress *p = cli->progress;
    look_for_others(p);
    if (!p->frame)
        return;
    go_back(cli);
    (void)fprintf(cli->err.file, "\033[J");
    mem_set_str(&p->frame, NULL);
    p->rows = 0;
}

/* ---- lines ---- */

static void say_item(struct cli *cli, struct item *item)
{
    char *label CLEANUP_FREE = glyphs_shown(item->label), *elapsed CLEANUP_FREE = elapsed_of(item);
    char *message CLEANUP_FREE = glyphs_shown(item->message ? item->message : "");
    (void)fprintf(cli->err.file, "%s:", label);
    if (item->percent >= 0)
        (void)fprintf(cli->err.file, " %d%%", item->percent);
    (void)fprintf(cli->err.file, " %s%s%s%s\n", message, *elapsed ? " (" : "", elapsed, *elapsed ? ")" : "");
    item->changed = false;
    item->said_percent = item->percent;
    cli->progress->said_at = env_mono(env_real());
}

static void say_changes(struct cli *cli)
{
    struct progress *p = cli->progress;
    bool silent = env_mono(env_real()) - p->said_at >= SIGN_OF_LIFE_MS * US_PER_MS;
    for (size_t i = 0; i < p->count; i++)
        if (p->items[i].is_set && (p->items[i].changed || (silent && p->items[i].state == PROGRESS_GOES_ON)))
            say_item(cli, &p->items[i]);
    (void)fflush(cli->err.file);
}

/* ---- all ---- */

void progress_set(struct cli *cli, size_t i, const char *label, int percent, const char *message,
                  const char *since, enum progress_state state)
{
    assert(cli->progress && i < cli->progress->count);
    struct item *item = &cli->progress->items[i];
    bool moved = abs(percent - item->said_percent) >= STEP_PERCENT;
    item->changed = item->changed || !item->is_set || moved || state != item->state ||
                    !mem_same_str(message, item->message) || !mem_same_str(label, item->label);
    mem_set_str(&item->label, label);
    mem_set_str(&item->message, message);
    mem_set_str(&item->since, since);
    item->percent = percent;
    item->state = state;
    item->is_set = true;
    (void)progress_tick(cli);
}

bool progress_tick(void *ctx)
{
    struct cli *cli = ctx;
    struct progress *p = cli->progress;
    if (!p)
        return false;
    mono_us now = env_mono(env_real());
    if (p->mode == MODE_LINES) {
        say_changes(cli);
    } else if (p->mode == MODE_BARS && now - p->began >= FIRST_AFTER_MS * US_PER_MS &&
               now - p->drawn_at >= EVERY_MS * US_PER_MS) {
        p->drawn_at = now;
        draw(cli);
    }
    return interrupted != 0;
}

void progress_note(struct cli *cli, const char *format, ...)
{
    va_list args;
    char *text = NULL;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        abort();
    va_end(args);
    char *shown CLEANUP_FREE = glyphs_shown(text);
    if (cli->progress)
        erase(cli);
    (void)fprintf(cli->err.file, "%s\n", shown);
    free(text);
    if (cli->progress && cli->progress->mode == MODE_BARS)
        draw(cli);
}

void progress_end(struct cli *cli)
{
    struct progress *p = cli->progress;
    assert(p);
    if (p->mode == MODE_BARS && p->frame) {
        draw(cli);
        (void)fputc('\n', cli->err.file);
    } else if (p->mode == MODE_LINES) {
        say_changes(cli);
    }
    (void)fflush(cli->err.file);
    (void)sigaction(SIGINT, &p->before, NULL);
    (void)sigaction(SIGCONT, &p->before_continue, NULL);
    for (size_t i = 0; i < p->count; i++) {
        free(p->items[i].label);
        free(p->items[i].message);
        free(p->items[i].since);
    }
    free(p->items);
    free(p->widths);
    free(p->frame);
    free(p);
    cli->progress = NULL;
}

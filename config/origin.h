/* Web origins as browsers write them in the Origin field. Pure. */
#ifndef CONFIG_ORIGIN_H
#define CONFIG_ORIGIN_H

/* Why `text` is no origin that a browser could send; NULL when it is one. Static text. */
const char *origin_fault(const char *text);

#endif

/* Amounts of memory as Kubernetes writes them. Pure; any thread. */
#ifndef BASE_QUANTITY_H
#define BASE_QUANTITY_H

#include <stdint.h>

/* Returns the MiB of a text such as "8Gi" or "8192Mi"; -1 for NULL, for any other form, and for more than
 * an exbibyte. */
int64_t quantity_mib(const char *text);

#endif

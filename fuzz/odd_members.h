/* Part of the target `answer`: the effect of one odd member on an answer. */
#ifndef FUZZ_ODD_MEMBERS_H
#define FUZZ_ODD_MEMBERS_H

#include <stddef.h>

/*
 * Replaces every member of complete answers with the JSON text `odd`, one after the other. Ends the process
 * when this changes what shootd reads from another part of the answer.
 */
void check_odd_members(const char *odd, size_t len);

#endif

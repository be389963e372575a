/* Part of the target `answer`: what becomes of an answer with one odd member. */
#ifndef FUZZ_ODD_MEMBERS_H
#define FUZZ_ODD_MEMBERS_H

#include <stddef.h>

/*
 * Puts the JSON text `odd` in the place of every member of whole answers, one after the other. Ends the
 * process when something else of the answer changes by it.
 */
void check_odd_members(const char *odd, size_t len);

#endif

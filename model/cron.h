/*
 * Cron strings of hibernation schedules: what both ends take. Gardener reads them with the standard
 * five-field parser of robfig/cron (GA-12), Cleura lets pass what its P-CRON matches
 * (CL-10). Pure; any thread.
 */
#ifndef MODEL_CRON_H
#define MODEL_CRON_H

/* NULL when `text` is acceptable, else what is wrong with it ("hour 24 is ..."); the caller frees it. */
char *cron_fault(const char *text);

#endif

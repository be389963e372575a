/* Log lines as journal fields when stderr is the journal (SD-16). Set up before threads start. */
#ifndef DAEMON_JOURNAL_H
#define DAEMON_JOURNAL_H

/* Installs the journal sink when $JOURNAL_STREAM names our stderr; else leaves the default. */
void journal_setup(void);

#endif

/* The exit codes of shootctl, in one table. docs/shootctl.md, --help and the manual page show the same
 * codes. */
#ifndef CLI_EXITS_H
#define CLI_EXITS_H

#define EXIT_TABLE(X)                                                                                       \
    X(OK, 0, "done")                                                                                        \
    X(REFUSED, 1, "refused or failed")                                                                      \
    X(USAGE, 2, "the command line is wrong, or a setting is missing")                                       \
    X(NOT_FOUND, 3, "the object does not exist, or the token may not see it")                               \
    X(CONFLICT, 4, "conflict: it exists, is protected, frozen, changed meanwhile, or an operation is open") \
    X(NOT_ALLOWED, 5, "not logged in, or the token may not do this")                                        \
    X(TIMED_OUT, 6, "the wait has ended before its goal was reached")                                       \
    X(UNREACHABLE, 7, "the server cannot be reached, or is not shootd")                                     \
    X(OPERATION_FAILED, 8, "the operation failed")                                                          \
    X(DIFFERENT, 10, "diff: there are differences")

enum exit_code {
#define EXIT_MEMBER(name, code, text) END_##name = (code),
    EXIT_TABLE(EXIT_MEMBER)
#undef EXIT_MEMBER
};

#endif

/* Compiler attributes, and cleanups that run at the end of a variable's scope, for all folders. No state; any
 * thread. */
#ifndef BASE_ATTRS_H
#define BASE_ATTRS_H

#define ATTR_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define ATTR_NORETURN          __attribute__((noreturn))
#define ATTR_UNUSED            __attribute__((unused))
#define ATTR_SENTINEL          __attribute__((sentinel))
#define ATTR_CHECKED           __attribute__((warn_unused_result))

/* Calls `fn` on the variable when the variable's scope ends. */
#define CLEANUP(fn) __attribute__((cleanup(fn)))

/* Defines `name`, a cleanup that calls `fn` on the pointer in the variable. */
#define DEFINE_CLEANUP(name, type, fn) \
    static inline void name(type *p)   \
    {                                  \
        if (*p)                        \
            fn(*p);                    \
    }

/* Returns the pointer in a variable and sets the variable to NULL, so that the variable's cleanup does not
 * free it. */
#define TAKE_PTR(var)                      \
    __extension__({                        \
        __typeof__(var) take_ptr_ = (var); \
        (var) = NULL;                      \
        take_ptr_;                         \
    })

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Returns the struct that contains `member` at `ptr`. */
#define CONTAINER_OF(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#endif

/* What every call needs: its keywords, its times, its errors, and signals during a wait. */
#ifndef SHAREDSPACE_CALLS_H
#define SHAREDSPACE_CALLS_H

#include "codec.h"

/* Where a keyword's argument goes. */
typedef struct {
    const char *name;
    enum { SECONDS, LIFE, WAIT, FLAG, NUMBER, OBJECT_ } kind; /* LIFE: seconds, at least a millisecond */
    void *place; /* int64_t for SECONDS, LIFE, WAIT and NUMBER; uint32_t for FLAG; PyObject * (borrowed) for OBJECT_ */
    uint32_t flag; /* what FLAG adds */
} Keyword;

/* Reads the keywords of a call; -1 with an exception. */
int read_keywords(PyObject *const *arguments, PyObject *names, const Keyword *keywords, size_t count);

/* Milliseconds of a number of seconds, rounded up. None is `none`. */
int read_seconds(PyObject *seconds, int64_t none, int64_t *milliseconds);

/* The same for how long something is to last, at least a millisecond: to the library 0 means without end. None is 0. */
int read_life(PyObject *seconds, int64_t *milliseconds);

/* For O& of PyArg_ParseTuple: an integer from 0 that fits into 64 bits; K would take the lower bits of any other. */
int read_unsigned(PyObject *value, void *number);

/* Sets what makes exceptions: sharedspace._errors.make. */
int calls_begin(PyObject *module);

/* METH_FASTCALL functions have another type than PyCFunction. */
#define FAST(function) ((PyCFunction)(void (*)(void))(function))

/* Raises the exception of an error, or that of a signal's handler, and frees the error. Returns NULL. */
PyObject *raise_error(sharedspace_error *error);

/* Makes a call of the library while other threads run Python, and raises the exception of its error. The call gives
 * &error, a variable that stands here. */
#define CALL(status, ...)                                                                                               \
    do {                                                                                                                \
        sharedspace_error *error = NULL;                                                                                \
        PyThreadState *running = PyEval_SaveThread();                                                                   \
        (status) = (__VA_ARGS__);                                                                                       \
        PyEval_RestoreThread(running);                                                                                  \
        if ((status) < 0) raise_error(error);                                                                           \
    } while (0)

/* Raises `Closed` for a namespace that was closed before its first use. Returns NULL. */
PyObject *raise_closed(PyObject *name);

/* Notes that this process uses the library. */
void note_use(void);

/* For what needs no call of the library: raises `Forked`, and returns -1, in a child made by fork of a process that has
 * used it. */
int check_process(void);

/* Has a wait of the main thread ask for signals. */
void ask_for_signals(sharedspace_how *how);

/* After a call that has done what it says: an exception of a signal's handler that came too late to end it is raised
 * after the result is given, because what was taken would be lost with it. */
void keep_late_exception(void);

/* Strings and None as the library takes them; -1 with an exception. */
int read_text(PyObject *value, const char *what, const char **text);

/* A Python list of numbers. */
PyObject *list_of_numbers(const uint64_t *numbers, size_t count);

/* Moves the results of a list into a Python list, and frees it. `make` makes an object of each. After an exception of
 * `make`, `drop` gets the others; or NULL. */
PyObject *list_of(
    sharedspace_list *list, PyObject *(*make)(void *context, const sharedspace_result *result),
    void (*drop)(void *context, const sharedspace_result *result), void *context);

#endif

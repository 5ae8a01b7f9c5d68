#include "calls.h"

#include <math.h>
#include <sys/syscall.h>
#include <unistd.h>

static PyObject *make_error;

int calls_begin(PyObject *module) {
    Py_XDECREF(make_error);
    make_error = PyObject_GetAttrString(module, "make");
    return make_error == NULL ? -1 : 0;
}

/* --- Keywords -------------------------------------------------------------------------------------------- */

/* An integer, or a fraction, that no float can be: `number` becomes infinite. -1 if the exception is another one. */
static int too_large(PyObject *value, double *number) {
    if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return -1;
    PyErr_Clear();
    PyObject *zero = PyLong_FromLong(0);
    int is_negative = zero == NULL ? -1 : PyObject_RichCompareBool(value, zero, Py_LT);
    Py_XDECREF(zero);
    *number = is_negative ? -HUGE_VAL : HUGE_VAL;
    return is_negative < 0 ? -1 : 0;
}

int read_seconds(PyObject *seconds, int64_t none, int64_t *milliseconds) {
    if (seconds == Py_None) {
        *milliseconds = none;
        return 0;
    }
    double number = PyFloat_AsDouble(seconds);
    if (number == -1 && PyErr_Occurred() && too_large(seconds, &number) < 0) return -1;
    if (!(number >= 0)) {
        PyErr_Format(PyExc_ValueError, "%R is no number of seconds", seconds);
        return -1;
    }
    /* The library takes a thousand years for the longest time. */
    *milliseconds = number > 1e12 ? (int64_t)1e15 : (int64_t)ceil(number * 1000);
    return 0;
}

int read_life(PyObject *seconds, int64_t *milliseconds) {
    if (read_seconds(seconds, 0, milliseconds) < 0) return -1;
    if (seconds != Py_None && *milliseconds == 0) *milliseconds = 1;
    return 0;
}

int read_unsigned(PyObject *value, void *number) {
    PyObject *integer = PyNumber_Index(value);
    if (integer == NULL) return 0;
    int beyond;
    long long small = PyLong_AsLongLongAndOverflow(integer, &beyond);
    if (beyond < 0 || (beyond == 0 && small < 0)) PyErr_Format(PyExc_ValueError, "%R is negative", value);
    else *(uint64_t *)number = PyLong_AsUnsignedLongLong(integer);
    Py_DECREF(integer);
    return PyErr_Occurred() == NULL;
}

static int read_keyword(const Keyword *keyword, PyObject *value) {
    switch (keyword->kind) {
    case SECONDS: return read_seconds(value, 0, keyword->place);
    case LIFE: return read_life(value, keyword->place);
    case WAIT: return read_seconds(value, SHAREDSPACE_FOREVER, keyword->place);
    case FLAG: {
        int is_true = PyObject_IsTrue(value);
        if (is_true > 0) *(uint32_t *)keyword->place |= keyword->flag;
        return is_true < 0 ? -1 : 0;
    }
    case NUMBER: {
        if (value == Py_None) return 0;
        long long number = PyLong_AsLongLong(value);
        if (number == -1 && PyErr_Occurred()) return -1;
        *(int64_t *)keyword->place = number;
        return 0;
    }
    default: *(PyObject **)keyword->place = value; return 0;
    }
}

int read_keywords(PyObject *const *arguments, PyObject *names, const Keyword *keywords, size_t count) {
    if (names == NULL) return 0;
    for (Py_ssize_t i = 0; i < PyTuple_Size(names); i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        size_t k = 0;
        while (k < count && PyUnicode_CompareWithASCIIString(name, keywords[k].name) != 0)
            k++;
        if (k == count) {
            PyErr_Format(PyExc_TypeError, "unexpected keyword argument %R", name);
            return -1;
        }
        if (read_keyword(&keywords[k], arguments[i]) < 0) return -1;
    }
    return 0;
}

int read_text(PyObject *value, const char *what, const char **text) {
    if (value == NULL || value == Py_None) {
        *text = NULL;
        return 0;
    }
    Py_ssize_t count;
    if (!PyUnicode_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s is a string, not %R", what, value);
        return -1;
    }
    if ((*text = PyUnicode_AsUTF8AndSize(value, &count)) == NULL) return -1;
    if (strlen(*text) == (size_t)count) return 0;
    PyErr_Format(PyExc_ValueError, "%s contains a NUL character", what);
    return -1;
}

/* --- Errors and signals ---------------------------------------------------------------------------------- */

/* Raises what sharedspace._errors.make makes. */
static PyObject *raise_made(
    const char *code, const char *message, const char *operation, const char *namespace_, const char *advice,
    int holder) {
    PyObject *exception =
        make_error == NULL
            ? NULL
            : PyObject_CallFunction(make_error, "ssszzi", code, message, operation, namespace_, advice, holder);
    if (exception != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
        Py_DECREF(exception);
    } else if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_RuntimeError, "import sharedspace, not _sharedspace");
    }
    return NULL;
}

PyObject *raise_error(sharedspace_error *error) {
    if (!PyErr_Occurred()) {
        raise_made(
            sharedspace_error_code(error), sharedspace_error_message(error), sharedspace_error_operation(error),
            sharedspace_error_namespace(error), sharedspace_error_advice(error), (int)sharedspace_error_holder(error));
    }
    sharedspace_error_free(error);
    return NULL;
}

PyObject *raise_closed(PyObject *name) {
    const char *text;
    if (read_text(name, "the name", &text) < 0) return NULL;
    return raise_made("closed", "the namespace was closed", "use a namespace", text, "open another one", 0);
}

/* The process that has noted its use; 0 before. */
static pid_t user;

void note_use(void) {
    if (user == 0) user = getpid();
}

int check_process(void) {
    if (user == 0 || user == getpid()) return 0;
    /* In a child every call says so. */
    int status;
    CALL(status, sharedspace_holds(NULL, 0, &error));
    return status < 0 ? -1 : 0;
}

/* Runs Python's handlers of the signals that have come; nonzero if one has raised an exception, also when it is asked
 * again before the wait ends. */
static int interrupted(void *context) {
    (void)context;
    PyGILState_STATE state = PyGILState_Ensure();
    int status = PyErr_Occurred() != NULL || PyErr_CheckSignals() != 0;
    PyGILState_Release(state);
    return status;
}

void ask_for_signals(sharedspace_how *how) {
    /* Only the main thread runs handlers. Another one that asked could meet the interpreter's end. */
    if (how->timeout_ms != 0 && syscall(SYS_gettid) == getpid()) how->interrupted = interrupted;
}

static PyObject *late[3];

static int raise_late(void *context) {
    (void)context;
    PyErr_Restore(late[0], late[1], late[2]);
    late[0] = late[1] = late[2] = NULL;
    return -1;
}

void keep_late_exception(void) {
    if (!PyErr_Occurred()) return;
    PyObject *raised[3];
    PyErr_Fetch(&raised[0], &raised[1], &raised[2]);
    if (late[0] == NULL) {
        memcpy(late, raised, sizeof late);
        if (Py_AddPendingCall(raise_late, NULL) == 0) return;
        memset(late, 0, sizeof late);
    }
    for (int i = 0; i < 3; i++)
        Py_XDECREF(raised[i]);
}

/* --- Lists ----------------------------------------------------------------------------------------------- */

PyObject *list_of_numbers(const uint64_t *numbers, size_t count) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list != NULL && i < count; i++)
        PyList_SetItem(list, (Py_ssize_t)i, PyLong_FromUnsignedLongLong(numbers[i]));
    return list;
}

PyObject *list_of(
    sharedspace_list *list, PyObject *(*make)(void *context, const sharedspace_result *result),
    void (*drop)(void *context, const sharedspace_result *result), void *context) {
    PyObject *all = PyList_New(0);
    sharedspace_result result = sharedspace_no_result();
    sharedspace_error *error = NULL;
    int status = 0;
    while (list != NULL && (status = sharedspace_list_next(list, &result, &error)) == 1) {
        if (all == NULL) {
            if (drop == NULL) break;
            drop(context, &result);
            continue;
        }
        PyObject *one = make(context, &result);
        if (one == NULL || PyList_Append(all, one) < 0) Py_CLEAR(all);
        Py_XDECREF(one);
    }
    if (status < 0) {
        raise_error(error);
        Py_CLEAR(all);
    }
    sharedspace_result_free(&result);
    sharedspace_list_free(list);
    return all;
}

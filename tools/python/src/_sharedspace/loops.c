/* Event loops: waits that need no thread, behind one descriptor. A loop crosses as the number that its handle is;
 * Python's side is _loops.py. */
#include "namespace.h"

static sharedspace_loop *loop_of(PyObject *number) { return PyLong_AsVoidPtr(number); }

static PyObject *loop_open(PyObject *module, PyObject *nothing) {
    (void)module;
    (void)nothing;
    sharedspace_loop *loop = NULL;
    int status;
    CALL(status, sharedspace_loop_open(&loop, &error));
    return status < 0 ? NULL : PyLong_FromVoidPtr(loop);
}

static PyObject *loop_close(PyObject *module, PyObject *number) {
    (void)module;
    sharedspace_loop *loop = loop_of(number);
    if (PyErr_Occurred()) return NULL;
    Py_BEGIN_ALLOW_THREADS
    sharedspace_loop_close(loop);
    Py_END_ALLOW_THREADS
    return new_none();
}

static PyObject *loop_descriptor(PyObject *module, PyObject *number) {
    (void)module;
    sharedspace_loop *loop = loop_of(number);
    if (PyErr_Occurred()) return NULL;
    sharedspace_error *error = NULL;
    int descriptor = sharedspace_loop_descriptor(loop, &error);
    return descriptor < 0 ? raise_error(error) : PyLong_FromLong(descriptor);
}

/* loop_begin(loop, token, namespace, what, template, names, timeout, deadline, flags, permits, count, interval, value):
 * the data class that a match becomes, or None. */
static PyObject *loop_begin(PyObject *module, PyObject *arguments) {
    (void)module;
    enum { MOST = 64 };
    const char *names[MOST];
    PyObject *number, *namespace_, *template_, *all, *timeout, *deadline, *interval, *value;
    unsigned long long token;
    int what;
    unsigned int flags;
    long long permits, count;
    sharedspace_how how = sharedspace_defaults();
    if (!PyArg_ParseTuple(
            arguments, "OKOiOO!OOILLOO", &number, &token, &namespace_, &what, &template_, &PyTuple_Type, &all, &timeout,
            &deadline, &flags, &permits, &count, &interval, &value))
        return NULL;
    sharedspace_loop *loop = loop_of(number);
    Py_ssize_t n = PyTuple_Size(all);
    if (n > MOST) return PyErr_Format(PyExc_ValueError, "more than %d names", MOST);
    for (Py_ssize_t i = 0; i < n; i++) {
        if (read_text(PyTuple_GetItem(all, i), "a name", &names[i]) < 0) return NULL;
    }
    if (PyErr_Occurred() || read_seconds(timeout, SHAREDSPACE_FOREVER, &how.timeout_ms) < 0 ||
        read_life(deadline, &how.deadline_ms) < 0 || read_seconds(interval, 0, &how.interval_ms) < 0)
        return NULL;
    how.flags = flags;
    how.permits = permits;
    how.count = count;
    sharedspace_ns *handle = namespace_handle((Namespace *)namespace_);
    if (PyErr_Occurred()) return NULL;

    Buffer buffer;
    buffer_begin(&buffer);
    PyObject *type = NULL;
    Selection selection;
    int is_tuple = template_ != Py_None, status = 0;
    if (is_tuple) {
        status = selection_begin_with(&selection, template_);
        how.flags |= selection.flags;
    } else if (value != Py_None) {
        status = put_value(&buffer, value, 0, VALUES);
        how.value = buffer_bytes(&buffer);
    }
    if (status == 0) {
        const sharedspace_bytes *templates = is_tuple ? selection_bytes(&selection) : NULL;
        size_t several = is_tuple ? selection.count : (size_t)n;
        CALL(
            status, sharedspace_loop_begin(
                        loop, token, handle, what, templates, is_tuple ? NULL : names, several, &how, &error));
    }
    if (status >= 0) {
        type = is_tuple && selection.type != NULL ? selection.type : Py_None;
        Py_INCREF(type);
    }
    if (is_tuple) selection_end(&selection);
    buffer_end(&buffer);
    return type;
}

/* loop_watch(loop, token, watch, timeout) */
static PyObject *loop_watch(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *number, *capsule, *timeout;
    unsigned long long token;
    sharedspace_how how = sharedspace_defaults();
    if (!PyArg_ParseTuple(arguments, "OKOO", &number, &token, &capsule, &timeout)) return NULL;
    sharedspace_loop *loop = loop_of(number);
    if (PyErr_Occurred()) return NULL;
    sharedspace_watch *watch = watch_of(capsule);
    if (PyErr_Occurred() || read_seconds(timeout, SHAREDSPACE_FOREVER, &how.timeout_ms) < 0) return NULL;
    int status;
    CALL(status, sharedspace_loop_watch(loop, token, watch, &how, &error));
    if (status < 0) return NULL;
    return new_none();
}

static PyObject *loop_cancel(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *number;
    unsigned long long token;
    if (!PyArg_ParseTuple(arguments, "OK", &number, &token)) return NULL;
    sharedspace_loop *loop = loop_of(number);
    if (PyErr_Occurred()) return NULL;
    int status;
    CALL(status, sharedspace_loop_cancel(loop, token, &error));
    return status < 0 ? NULL : PyBool_FromLong(status);
}

/* What a wait has given, by what it waited for; 0 stands for the changes of a watch, -1 for the requests of a responder. */
static PyObject *
outcome_of(long what, PyObject *namespace_, PyObject *type, PyObject *responder, const sharedspace_result *result) {
    Selection selection = {.type = type == Py_None ? NULL : type};
    switch (what) {
    case 0: return change_of(result);
    case SHAREDSPACE_WAIT_READ:
    case SHAREDSPACE_WAIT_TAKE: return selection_match(&selection, result);
    case SHAREDSPACE_WAIT_CLAIM:
        return claim_new(claim_type, (Namespace *)namespace_, selection_match(&selection, result), result);
    case -1: return asked_new(responder, result);
    case SHAREDSPACE_WAIT_REPLY:
    case SHAREDSPACE_WAIT_CELL: return get_value(result->bytes, result->count);
    case SHAREDSPACE_WAIT_ITEM:
        return claim_new(item_type, (Namespace *)namespace_, get_value(result->bytes, result->count), result);
    case SHAREDSPACE_WAIT_LOCK:
    case SHAREDSPACE_WAIT_SEMAPHORE:
    case SHAREDSPACE_WAIT_ELECTION: return hold_new((Namespace *)namespace_, result);
    default: return new_none();
    }
}

/* The exception that is set, which is the outcome of a wait then. */
static PyObject *raised(void) {
    PyObject *kind, *value, *traceback;
    PyErr_Fetch(&kind, &value, &traceback);
    PyErr_NormalizeException(&kind, &value, &traceback);
    Py_XDECREF(kind);
    Py_XDECREF(traceback);
    return value;
}

/* The attributes of a wait, and what is called of its future. */
enum { WHAT, NAMESPACE, TYPE, RESPONDER, LEFT, FUTURE, VALUE, OUTCOME, DONE, SET_RESULT, NAMES };
static PyObject *names[NAMES];

int loops_begin(void) {
    static const char *const texts[] = {"what",   "namespace", "type",    "responder", "left",
                                        "future", "value",     "outcome", "done",      "set_result"};
    for (int i = 0; i < NAMES; i++)
        if (names[i] == NULL && (names[i] = PyUnicode_InternFromString(texts[i])) == NULL) return -1;
    return 0;
}

/* What a wait has obtained; NULL with an exception, and then it has gone back. */
static PyObject *obtained(PyObject *wait, const sharedspace_result *result) {
    enum { COUNT = LEFT + 1 };
    PyObject *all[COUNT] = {NULL}, *value = NULL;
    int count = 0;
    while (count < COUNT && (all[count] = PyObject_GetAttr(wait, names[count])) != NULL)
        count++;
    if (count == COUNT) {
        long what = PyLong_AsLong(all[WHAT]);
        value = outcome_of(what, all[NAMESPACE], all[TYPE], all[RESPONDER], result);
        /* A change stays with its watch until a task resumes with it. */
        if (what == 0 && value != NULL && PyList_Append(all[LEFT], value) < 0) Py_CLEAR(value);
    }
    while (count > 0)
        Py_DECREF(all[--count]);
    return value;
}

/* Tells the task of a wait that has ended; one that was cancelled knows. */
static int tell(PyObject *wait) {
    PyObject *future = PyObject_GetAttr(wait, names[FUTURE]), *answer = NULL;
    if (future != NULL && (answer = PyObject_CallMethodObjArgs(future, names[DONE], NULL)) == Py_False) {
        Py_DECREF(answer);
        answer = PyObject_CallMethodObjArgs(future, names[SET_RESULT], Py_None, NULL);
    }
    int status = answer == NULL ? -1 : 0;
    Py_XDECREF(answer);
    Py_XDECREF(future);
    return status;
}

/* Gives a wait its outcome and value, takes it out of `waits`, and tells its task. */
static int
end_wait(PyObject *waits, uint64_t token, int outcome, const sharedspace_result *result, sharedspace_error *error) {
    PyObject *key = PyLong_FromUnsignedLongLong(token), *value = NULL, *number = NULL;
    PyObject *wait = key == NULL ? NULL : PyDict_GetItemWithError(waits, key);
    /* A class that a record becomes may remove the wait. */
    Py_XINCREF(wait);
    if (outcome < 0) raise_error(error);
    else if (outcome == 0) value = PyLong_FromLong(result->pid);
    else if (wait != NULL) value = obtained(wait, result);
    else if (!PyErr_Occurred())
        PyErr_Format(PyExc_KeyError, "no wait has the token %llu", (unsigned long long)token);
    if (value == NULL && wait != NULL) {
        /* Also what could not be decoded is the outcome of its wait, and not of this call. */
        outcome = -1;
        value = raised();
    }
    int status = -1;
    if (wait != NULL && value != NULL && (number = PyLong_FromLong(outcome)) != NULL &&
        PyObject_SetAttr(wait, names[VALUE], value) == 0 && PyObject_SetAttr(wait, names[OUTCOME], number) == 0) {
        if (PyDict_DelItem(waits, key) < 0) PyErr_Clear();
        status = tell(wait);
    }
    Py_XDECREF(number);
    Py_XDECREF(value);
    Py_XDECREF(wait);
    Py_XDECREF(key);
    return status;
}

/* loop_next(loop, waits, most): ends the waits whose outcomes have come, but no more than `most`. Each goes from `waits`,
 * which has the waits by token, with its outcome and value, and its future is set. The value is an exception when the
 * outcome is -1, the PID of a holder or 0 when it is 0. If a signal's handler raises, which it can while a task is told,
 * the descriptor is readable still: a later call goes on with the next wait.
 *
 * The call never waits, so it keeps the interpreter's lock: a thread that collects garbage could else cancel the wait
 * that is just handed out. */
static PyObject *loop_next(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *number, *waits;
    int most;
    if (!PyArg_ParseTuple(arguments, "OO!i", &number, &PyDict_Type, &waits, &most)) return NULL;
    sharedspace_loop *loop = loop_of(number);
    if (PyErr_Occurred()) return NULL;
    sharedspace_result result = sharedspace_no_result();
    int status = 1;
    while (status > 0 && most-- > 0) {
        sharedspace_error *error = NULL;
        uint64_t token = 0;
        int outcome = 0;
        status = sharedspace_loop_next(loop, &token, &outcome, &result, &error);
        if (status < 0) raise_error(error);
        if (status > 0 && end_wait(waits, token, outcome, &result, error) < 0) status = -1;
    }
    sharedspace_result_free(&result);
    return status < 0 ? NULL : new_none();
}

PyMethodDef loop_functions[] = {
    {"loop_open", loop_open, METH_NOARGS, NULL},        {"loop_close", loop_close, METH_O, NULL},
    {"loop_descriptor", loop_descriptor, METH_O, NULL}, {"loop_begin", loop_begin, METH_VARARGS, NULL},
    {"loop_watch", loop_watch, METH_VARARGS, NULL},     {"loop_cancel", loop_cancel, METH_VARARGS, NULL},
    {"loop_next", loop_next, METH_VARARGS, NULL},       {NULL, NULL, 0, NULL}};

/* Watching. A watch is a capsule, which closes it when it is dropped; Python's side is _watching.py. */
#include "namespace.h"

static const char NAME[] = "sharedspace.watch";

/* The context of the capsule of a watch that was closed. */
static char closed;

sharedspace_watch *watch_of(PyObject *capsule) {
    sharedspace_watch *watch = PyCapsule_GetPointer(capsule, NAME);
    if (watch == NULL || PyCapsule_GetContext(capsule) != &closed) return watch;
    PyErr_SetString(PyExc_ValueError, "the watch is closed");
    return NULL;
}

static void close_watch(PyObject *capsule) {
    sharedspace_watch *watch = PyCapsule_GetPointer(capsule, NAME);
    if (PyCapsule_GetContext(capsule) == &closed) return;
    PyCapsule_SetContext(capsule, &closed);
    Py_BEGIN_ALLOW_THREADS
    sharedspace_watch_close(watch);
    Py_END_ALLOW_THREADS
}

/* watch_open(namespace, filter, from, subscription): a watch. */
static PyObject *watch_open(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *namespace_, *filter, *start, *subscription;
    sharedspace_how how = sharedspace_defaults();
    const char *from;
    if (!PyArg_ParseTuple(arguments, "OOOO", &namespace_, &filter, &start, &subscription)) return NULL;
    if (read_text(start, "the place to begin", &from) < 0 ||
        read_text(subscription, "the subscription", &how.subscription) < 0)
        return NULL;
    Buffer buffer;
    buffer_begin(&buffer);
    sharedspace_result json = sharedspace_no_result();
    sharedspace_ns *handle = NULL;
    sharedspace_watch *watch = NULL;
    int status = put_value(&buffer, filter, 0, VALUES);
    if (status == 0) handle = namespace_handle((Namespace *)namespace_);
    if (!PyErr_Occurred()) {
        CALL(status, sharedspace_unpack(buffer_bytes(&buffer), SHAREDSPACE_VALUE, &json, &error));
        sharedspace_bytes text = {json.bytes, json.count};
        if (status == 1) CALL(status, sharedspace_watch_open(handle, text, from, &how, &watch, &error));
    }
    sharedspace_result_free(&json);
    buffer_end(&buffer);
    if (PyErr_Occurred()) return NULL;
    PyObject *capsule = PyCapsule_New(watch, NAME, close_watch);
    if (capsule == NULL) sharedspace_watch_close(watch);
    return capsule;
}

PyObject *change_of(const sharedspace_result *result) {
    return result->flags & SHAREDSPACE_JSON
               ? PyUnicode_DecodeUTF8((const char *)result->bytes, (Py_ssize_t)result->count, NULL)
               : get_tuple(result);
}

/* watch_next(watch, timeout, left): whether a change has come, which is appended to the list `left`: a handler of a
 * signal that raises when this call has returned does not lose it. It is a dictionary, or its JSON if it is nested too
 * deep. */
static PyObject *watch_next(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *capsule, *timeout, *left;
    sharedspace_how how = sharedspace_defaults();
    if (!PyArg_ParseTuple(arguments, "OOO!", &capsule, &timeout, &PyList_Type, &left)) return NULL;
    sharedspace_watch *watch = watch_of(capsule);
    if (PyErr_Occurred() || read_seconds(timeout, SHAREDSPACE_FOREVER, &how.timeout_ms) < 0) return NULL;
    ask_for_signals(&how);
    sharedspace_result result = sharedspace_no_result();
    int status;
    CALL(status, sharedspace_watch_next(watch, &how, &result, &error));
    if (status >= 0) keep_late_exception();
    if (status > 0) {
        PyObject *change = change_of(&result);
        if (change == NULL || PyList_Append(left, change) < 0) status = -1;
        Py_XDECREF(change);
    }
    sharedspace_result_free(&result);
    return status < 0 ? NULL : PyBool_FromLong(status);
}

static PyObject *watch_point(PyObject *module, PyObject *capsule) {
    (void)module;
    sharedspace_watch *watch = watch_of(capsule);
    if (PyErr_Occurred()) return NULL;
    sharedspace_result result = sharedspace_no_result();
    int status;
    CALL(status, sharedspace_watch_point(watch, &result, &error));
    PyObject *point =
        status < 0 ? NULL : PyUnicode_DecodeUTF8((const char *)result.bytes, (Py_ssize_t)result.count, NULL);
    sharedspace_result_free(&result);
    return point;
}

static PyObject *watch_acknowledge(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *capsule;
    uint64_t sequence;
    if (!PyArg_ParseTuple(arguments, "OO&", &capsule, read_unsigned, &sequence)) return NULL;
    sharedspace_watch *watch = watch_of(capsule);
    if (PyErr_Occurred()) return NULL;
    int status;
    CALL(status, sharedspace_watch_acknowledge(watch, sequence, &error));
    if (status < 0) return NULL;
    return new_none();
}

/* watch_check(watch): an error if it was closed. */
static PyObject *watch_check(PyObject *module, PyObject *capsule) {
    (void)module;
    return watch_of(capsule) == NULL ? NULL : new_none();
}

static PyObject *watch_close(PyObject *module, PyObject *capsule) {
    (void)module;
    if (PyCapsule_GetPointer(capsule, NAME) == NULL) return NULL;
    close_watch(capsule);
    return new_none();
}

PyMethodDef watch_functions[] = {
    {"watch_open", watch_open, METH_VARARGS, NULL}, {"watch_next", watch_next, METH_VARARGS, NULL},
    {"watch_point", watch_point, METH_O, NULL},     {"watch_acknowledge", watch_acknowledge, METH_VARARGS, NULL},
    {"watch_check", watch_check, METH_O, NULL},     {"watch_close", watch_close, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

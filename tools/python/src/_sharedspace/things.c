/* Shared things: what is passed, ruled and looked at; ordered sets. Python's side is _gates.py, _holding.py, _queues.py and
 * _ordered.py. */
#include "namespace.h"

/* _pass(what, name, timeout, permits, count, interval): whether it was passed in time. */
static PyObject *namespace_pass(PyObject *object, PyObject *arguments) {
    sharedspace_how how = sharedspace_defaults();
    PyObject *name, *timeout, *interval;
    const char *text;
    int what;
    long long permits, count;
    if (!PyArg_ParseTuple(arguments, "iOOLLO", &what, &name, &timeout, &permits, &count, &interval) ||
        read_text(name, "the name", &text) < 0 || read_seconds(timeout, SHAREDSPACE_FOREVER, &how.timeout_ms) < 0 ||
        read_seconds(interval, 0, &how.interval_ms) < 0)
        return NULL;
    how.permits = permits;
    how.count = count;
    ask_for_signals(&how);
    sharedspace_ns *handle = namespace_handle((Namespace *)object);
    if (PyErr_Occurred()) return NULL;
    int status;
    CALL(status, sharedspace_pass(handle, what, text, &how, &error));
    if (status < 0) return NULL;
    keep_late_exception();
    return PyBool_FromLong(status);
}

/* _rule(verb, name, number=0, *, count, permits, delay, deadline, max, deliveries, bound, key, force): what the verb makes, or
 * None if there is nothing for which it is. */
static PyObject *namespace_rule(PyObject *object, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    sharedspace_how how = sharedspace_defaults();
    int64_t max = 0, outcome = 1;
    PyObject *key = NULL;
    const Keyword keywords[] = {
        {"count", NUMBER, &how.count, 0},
        {"permits", NUMBER, &how.permits, 0},
        {"delay", LIFE, &how.delay_ms, 0},
        {"deadline", LIFE, &how.deadline_ms, 0},
        {"max", NUMBER, &max, 0},
        {"deliveries", NUMBER, &how.deliveries, 0},
        {"bound", NUMBER, &how.bound, 0},
        {"key", OBJECT_, &key, 0},
        {"force", FLAG, &how.flags, SHAREDSPACE_FORCE}};
    const char *name;
    if (count < 2 || count > 3) return PyErr_Format(PyExc_TypeError, "_rule() takes a verb, a name and a number");
    if (read_keywords(arguments + count, names, keywords, sizeof keywords / sizeof *keywords) < 0 ||
        read_text(arguments[1], "the name", &name) < 0 || read_text(key, "the key", &how.unique) < 0)
        return NULL;
    if (max < 0) return PyErr_Format(PyExc_ValueError, "max is negative");
    how.max = (uint64_t)max;
    int verb = (int)PyLong_AsLong(arguments[0]);
    uint64_t number = count == 3 ? PyLong_AsUnsignedLongLong(arguments[2]) : 0;
    if (PyErr_Occurred()) return NULL;
    sharedspace_ns *handle = namespace_handle((Namespace *)object);
    if (PyErr_Occurred()) return NULL;
    int status;
    CALL(status, sharedspace_rule(handle, verb, name, number, &how, &outcome, &error));
    if (status < 0) return NULL;
    return status == 0 ? new_none() : PyLong_FromLongLong(outcome);
}

/* _leader(name): (value, pid, term), or None. */
static PyObject *namespace_leader(PyObject *object, PyObject *name) {
    Namespace *self = (Namespace *)object;
    const char *text;
    if (read_text(name, "the name", &text) < 0) return NULL;
    sharedspace_ns *handle = namespace_handle(self);
    if (PyErr_Occurred()) return NULL;
    sharedspace_result result = borrow_result(self);
    int status;
    CALL(status, sharedspace_leader(handle, text, NULL, &result, &error));
    PyObject *value = NULL, *leader = NULL;
    if (status == 0) leader = new_none();
    else if (status > 0 && (value = get_value(result.bytes, result.count)) != NULL)
        leader = Py_BuildValue("NiK", value, (int)result.pid, (unsigned long long)result.number);
    return_result(self, &result);
    return leader;
}

/* _proclaim(name, term, value) */
static PyObject *namespace_proclaim(PyObject *object, PyObject *arguments) {
    PyObject *name, *value;
    uint64_t term;
    const char *text;
    if (!PyArg_ParseTuple(arguments, "OO&O", &name, read_unsigned, &term, &value) ||
        read_text(name, "the name", &text) < 0)
        return NULL;
    Buffer buffer;
    buffer_begin(&buffer);
    sharedspace_ns *handle = NULL;
    int status = -1;
    if (put_value(&buffer, value, 0, VALUES) == 0) handle = namespace_handle((Namespace *)object);
    if (!PyErr_Occurred())
        CALL(status, sharedspace_proclaim(handle, text, term, buffer_bytes(&buffer), NULL, &error));
    buffer_end(&buffer);
    return status < 0 ? NULL : new_none();
}

/* --- Ordered sets ---------------------------------------------------------------------------------------- */

/* _ordered(name, verb, index, values): what the verb makes, or None if there is nothing to do. */
static PyObject *namespace_ordered(PyObject *object, PyObject *arguments) {
    PyObject *name, *all, *answer = NULL;
    const char *text;
    int verb;
    long long index;
    if (!PyArg_ParseTuple(arguments, "OiLO!", &name, &verb, &index, &PyTuple_Type, &all) ||
        read_text(name, "the name", &text) < 0)
        return NULL;
    Values values;
    if (values_begin(&values, all, put_one_value, NULL) == 0) {
        sharedspace_ns *handle = namespace_handle((Namespace *)object);
        if (!PyErr_Occurred()) {
            int64_t outcome = 1;
            int status;
            CALL(
                status,
                sharedspace_ordered(handle, text, verb, index, values.all, values.count, NULL, &outcome, &error));
            if (status >= 0) answer = status == 0 ? new_none() : PyLong_FromLongLong(outcome);
        }
    }
    values_end(&values);
    return answer;
}

static PyObject *make_value(void *context, const sharedspace_result *result) {
    (void)context;
    return get_value(result->bytes, result->count);
}

/* _elements(name, first, max) */
static PyObject *namespace_elements(PyObject *object, PyObject *arguments) {
    PyObject *name;
    const char *text;
    long long first;
    sharedspace_how how = sharedspace_defaults();
    if (!PyArg_ParseTuple(arguments, "OLO&", &name, &first, read_unsigned, &how.max) ||
        read_text(name, "the name", &text) < 0)
        return NULL;
    sharedspace_ns *handle = namespace_handle((Namespace *)object);
    if (PyErr_Occurred()) return NULL;
    sharedspace_list *list = NULL;
    int status;
    CALL(status, sharedspace_elements(handle, text, first, &how, &list, &error));
    return status < 0 ? NULL : list_of(status == 0 ? NULL : list, make_value, NULL, NULL);
}

PyMethodDef thing_methods[] = {
    {"_pass", namespace_pass, METH_VARARGS, NULL},
    {"_rule", FAST(namespace_rule), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"_leader", namespace_leader, METH_O, NULL},
    {"_proclaim", namespace_proclaim, METH_VARARGS, NULL},
    {"_ordered", namespace_ordered, METH_VARARGS, NULL},
    {"_elements", namespace_elements, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

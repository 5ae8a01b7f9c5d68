/* Locks, semaphores, elections; queues of work. Python's side (_holding.py, _queues.py) has the words that users see.
 */
#include "namespace.h"

#define FAST(function) ((PyCFunction)(void (*)(void))(function))

/* _hold(what, names, timeout, shared, permits, count, value): (number, fencing numbers), or the PID of a holder when
 * the time has passed; 0 if it is not known. */
static PyObject *namespace_hold(PyObject *object, PyObject *arguments) {
    Namespace *self = (Namespace *)object;
    sharedspace_how how = sharedspace_defaults();
    enum { MOST = 64 };
    const char *names[MOST];
    PyObject *all, *timeout, *value;
    int what, is_shared;
    long long permits, count;
    if (!PyArg_ParseTuple(
            arguments, "iO!OpLLO", &what, &PyTuple_Type, &all, &timeout, &is_shared, &permits, &count, &value))
        return NULL;
    Py_ssize_t n = PyTuple_Size(all);
    if (n > MOST) return PyErr_Format(PyExc_ValueError, "more than %d names", MOST);
    for (Py_ssize_t i = 0; i < n; i++) {
        if (read_text(PyTuple_GetItem(all, i), "a name", &names[i]) < 0) return NULL;
    }
    if (read_seconds(timeout, SHAREDSPACE_FOREVER, &how.timeout_ms) < 0) return NULL;
    if (is_shared) how.flags |= SHAREDSPACE_SHARED;
    how.permits = permits;
    how.count = count;
    ask_for_signals(&how);
    Buffer buffer;
    buffer_begin(&buffer);
    sharedspace_ns *handle = NULL;
    if (value == Py_None || put_value(&buffer, value, 0, VALUES) == 0) handle = namespace_handle(self);
    PyObject *answer = NULL;
    if (!PyErr_Occurred()) {
        if (buffer.count > 0) how.value = buffer_bytes(&buffer);
        sharedspace_result result = borrow_result(self);
        sharedspace_error *error = NULL;
        int status;
        Py_BEGIN_ALLOW_THREADS
        status = sharedspace_hold(handle, what, names, (size_t)n, &how, &result, &error);
        Py_END_ALLOW_THREADS
        if (status < 0) raise_error(error);
        else {
            keep_late_exception();
            answer = status == 0 ? PyLong_FromLong(result.pid)
                                 : Py_BuildValue("KN", (unsigned long long)result.number, get_tuple(&result));
        }
        return_result(self, &result);
    }
    buffer_end(&buffer);
    return answer;
}

/* Lets go of a hold, or says whether it is held. */
static PyObject *about_hold(
    PyObject *object, PyObject *argument, int (*function)(sharedspace_ns *, uint64_t, sharedspace_error **)) {
    unsigned long long number = PyLong_AsUnsignedLongLong(argument);
    if (number == (unsigned long long)-1 && PyErr_Occurred()) return NULL;
    sharedspace_ns *handle = namespace_handle((Namespace *)object);
    if (PyErr_Occurred()) return NULL;
    sharedspace_error *error = NULL;
    int status;
    Py_BEGIN_ALLOW_THREADS
    status = function(handle, number, &error);
    Py_END_ALLOW_THREADS
    return status < 0 ? raise_error(error) : PyBool_FromLong(status);
}

static PyObject *namespace_let_go(PyObject *self, PyObject *number) {
    return about_hold(self, number, sharedspace_let_go);
}

static PyObject *namespace_holds(PyObject *self, PyObject *number) {
    return about_hold(self, number, sharedspace_holds);
}

/* --- Queues ---------------------------------------------------------------------------------------------- */

/* _put(queue, items, timeout=0, priority=0, delay=None, group=None, unique=None, deliveries=0, bound=0): (whether they
 * were put, their numbers). */
static PyObject *namespace_put(PyObject *object, PyObject *arguments) {
    sharedspace_how how = sharedspace_defaults();
    PyObject *queue_name, *items, *timeout, *delay, *group, *unique;
    long long priority, deliveries, bound;
    const char *queue;
    if (!PyArg_ParseTuple(
            arguments, "OO!OLOOOLL", &queue_name, &PyList_Type, &items, &timeout, &priority, &delay, &group, &unique,
            &deliveries, &bound))
        return NULL;
    if (read_text(queue_name, "the queue's name", &queue) < 0 || read_text(group, "the group", &how.group) < 0 ||
        read_text(unique, "the unique key", &how.unique) < 0 || read_seconds(delay, 0, &how.delay_ms) < 0 ||
        read_seconds(timeout, SHAREDSPACE_FOREVER, &how.timeout_ms) < 0)
        return NULL;
    how.priority = priority;
    how.deliveries = deliveries;
    how.bound = bound;
    ask_for_signals(&how);
    size_t n = (size_t)PyList_Size(items);
    size_t *ends = PyMem_Calloc(n + 1, sizeof *ends);
    sharedspace_bytes *all = PyMem_Calloc(n + 1, sizeof *all);
    uint64_t *numbers = PyMem_Calloc(n + 1, sizeof *numbers);
    PyObject *answer = NULL;
    Buffer buffer;
    buffer_begin(&buffer);
    if (ends == NULL || all == NULL || numbers == NULL) {
        PyErr_NoMemory();
        goto end;
    }
    for (size_t i = 0; i < n; i++) {
        if (put_value(&buffer, PyList_GetItem(items, (Py_ssize_t)i), 0, VALUES) < 0) goto end;
        ends[i] = buffer.count;
    }
    for (size_t i = 0; i < n; i++) {
        size_t start = i == 0 ? 0 : ends[i - 1];
        all[i].bytes = buffer.bytes + start;
        all[i].count = ends[i] - start;
    }
    sharedspace_ns *handle = namespace_handle((Namespace *)object);
    if (PyErr_Occurred()) goto end;
    sharedspace_error *error = NULL;
    int status;
    Py_BEGIN_ALLOW_THREADS
    status = sharedspace_put(handle, queue, all, n, &how, numbers, &error);
    Py_END_ALLOW_THREADS
    if (status < 0) {
        raise_error(error);
        goto end;
    }
    keep_late_exception();
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list != NULL && i < n; i++)
        PyList_SetItem(list, (Py_ssize_t)i, PyLong_FromUnsignedLongLong(numbers[i]));
    if (list != NULL) answer = Py_BuildValue("NN", PyBool_FromLong(status), list);
end:
    PyMem_Free(ends);
    PyMem_Free(all);
    PyMem_Free(numbers);
    buffer_end(&buffer);
    return answer;
}

/* _item(queue, timeout, deadline): an Item, or None. */
static PyObject *namespace_item(PyObject *object, PyObject *arguments) {
    Namespace *self = (Namespace *)object;
    sharedspace_how how = sharedspace_defaults();
    PyObject *queue_name, *timeout, *deadline;
    const char *queue;
    if (!PyArg_ParseTuple(arguments, "OOO", &queue_name, &timeout, &deadline)) return NULL;
    if (read_text(queue_name, "the queue's name", &queue) < 0 || read_seconds(deadline, 0, &how.deadline_ms) < 0 ||
        read_seconds(timeout, SHAREDSPACE_FOREVER, &how.timeout_ms) < 0)
        return NULL;
    ask_for_signals(&how);
    sharedspace_ns *handle = namespace_handle(self);
    if (PyErr_Occurred()) return NULL;
    sharedspace_result result = borrow_result(self);
    sharedspace_error *error = NULL;
    int status;
    Py_BEGIN_ALLOW_THREADS
    status = sharedspace_item(handle, queue, &how, &result, &error);
    Py_END_ALLOW_THREADS
    PyObject *answer = NULL;
    if (status < 0) raise_error(error);
    else {
        keep_late_exception();
        if (status == 0) answer = new_none();
        else answer = claim_new(item_type, self, get_value(result.bytes, result.count), &result);
    }
    return_result(self, &result);
    return answer;
}

static PyObject *make_listed(void *context, const sharedspace_result *result) {
    (void)context;
    PyObject *value = get_value(result->bytes, result->count);
    if (value == NULL) return NULL;
    return Py_BuildValue("NKIi", value, (unsigned long long)result->id, result->deliveries, (int)result->kind);
}

/* _items(queue, state, max): (value, id, deliveries, state) of each. */
static PyObject *namespace_items(PyObject *object, PyObject *arguments) {
    sharedspace_how how = sharedspace_defaults();
    PyObject *queue_name;
    const char *queue;
    int state;
    unsigned long long max;
    if (!PyArg_ParseTuple(arguments, "OiK", &queue_name, &state, &max)) return NULL;
    if (read_text(queue_name, "the queue's name", &queue) < 0) return NULL;
    how.max = max;
    sharedspace_ns *handle = namespace_handle((Namespace *)object);
    if (PyErr_Occurred()) return NULL;
    sharedspace_list *list = NULL;
    sharedspace_error *error = NULL;
    int status;
    Py_BEGIN_ALLOW_THREADS
    status = sharedspace_items(handle, queue, state, &how, &list, &error);
    Py_END_ALLOW_THREADS
    return status < 0 ? raise_error(error) : list_of(status == 0 ? NULL : list, make_listed, NULL, NULL);
}

PyMethodDef hold_methods[] = {
    {"_hold", namespace_hold, METH_VARARGS, NULL},
    {"_let_go", namespace_let_go, METH_O, NULL},
    {"_holds", namespace_holds, METH_O, NULL},
    {"_put", namespace_put, METH_VARARGS, NULL},
    {"_item", namespace_item, METH_VARARGS, NULL},
    {"_items", namespace_items, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

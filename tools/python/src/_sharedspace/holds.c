/* Locks, semaphores, elections; queues of work. Python's side (_holding.py, _queues.py) has the words that users see.
 */
#include "namespace.h"

#include <structmember.h>

/* --- What is held ---------------------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD Namespace *namespace_;
    PyObject *fencings;
    uint64_t number;
    int has_ended;
} Hold;

static PyTypeObject *hold_type;

/* Lets go without an exception: what can't be let go now is let go as soon as no process is in the way. */
static void drop(Hold *self) {
    PyObject *kind, *value, *traceback;
    PyErr_Fetch(&kind, &value, &traceback);
    sharedspace_ns *handle = self->namespace_->handle;
    uint64_t number = self->number;
    Py_BEGIN_ALLOW_THREADS
    sharedspace_end(handle, number, SHAREDSPACE_DROP, NULL, NULL);
    Py_END_ALLOW_THREADS
    PyErr_Restore(kind, value, traceback);
}

PyObject *hold_new(Namespace *namespace_, const sharedspace_result *result) {
    Hold *self = (Hold *)((allocfunc)PyType_GetSlot(hold_type, Py_tp_alloc))(hold_type, 0);
    if (self == NULL) {
        Hold lost = {.namespace_ = namespace_, .number = result->number};
        drop(&lost);
        return NULL;
    }
    Py_INCREF(namespace_);
    self->namespace_ = namespace_;
    self->number = result->number;
    if ((self->fencings = get_tuple(result)) == NULL) Py_CLEAR(self);
    return (PyObject *)self;
}

static PyObject *hold_release(PyObject *object, PyObject *nothing) {
    (void)nothing;
    Hold *self = (Hold *)object;
    sharedspace_ns *handle = self->namespace_->handle;
    uint64_t number = self->number;
    int status;
    CALL(status, sharedspace_let_go(handle, number, &error));
    if (status < 0) return NULL;
    self->has_ended = 1;
    return new_none();
}

static PyObject *get_is_held(PyObject *object, void *context) {
    (void)context;
    sharedspace_ns *handle = ((Hold *)object)->namespace_->handle;
    uint64_t number = ((Hold *)object)->number;
    int status;
    CALL(status, sharedspace_holds(handle, number, &error));
    return status < 0 ? NULL : PyBool_FromLong(status);
}

static int hold_traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    Py_VISIT((PyObject *)((Hold *)object)->namespace_);
    return 0;
}

/* A hold that is dropped is let go: also when a signal's handler raises before Python has stored it. */
static void hold_dealloc(PyObject *object) {
    Hold *self = (Hold *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    if (!self->has_ended && self->namespace_ != NULL) drop(self);
    Py_XDECREF((PyObject *)self->namespace_);
    Py_XDECREF(self->fencings);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyMethodDef own_methods[] = {
    {"release", hold_release, METH_NOARGS, "release($self, /)\n--\n\nLets go of it."}, {NULL, NULL, 0, NULL}};

static PyGetSetDef properties[] = {
    {"is_held", get_is_held, NULL, "Whether it is held; False if it was taken away.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMemberDef members[] = {
    {"number", T_ULONGLONG, offsetof(Hold, number), READONLY, NULL},
    {"fencings", T_OBJECT_EX, offsetof(Hold, fencings), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_dealloc, hold_dealloc}, {Py_tp_traverse, hold_traverse},
                              {Py_tp_methods, own_methods},  {Py_tp_getset, properties},
                              {Py_tp_members, members},      {0, NULL}};

static PyType_Spec specification = {
    "sharedspace._sharedspace.Hold", sizeof(Hold), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

/* --- Who holds ------------------------------------------------------------------------------------------- */

/* The base of Lock and the others: a with-block that begins with a hold ends without it, also when a signal's handler
 * raises, because Python runs none inside of these calls. What is held is in the list `_held`. */

/* _keep(answer): keeps a Hold, and returns None; the PID of a holder is returned. */
static PyObject *holder_keep(PyObject *self, PyObject *answer) {
    if (Py_TYPE(answer) != hold_type) {
        Py_INCREF(answer);
        return answer;
    }
    PyObject *held = PyObject_GetAttrString(self, "_held");
    int status = held == NULL ? -1 : PyList_Append(held, answer);
    Py_XDECREF(held);
    return status < 0 ? NULL : new_none();
}

static PyObject *holder_release(PyObject *self, PyObject *nothing) {
    (void)nothing;
    PyObject *held = PyObject_GetAttrString(self, "_held"), *answer = NULL;
    if (held == NULL) return NULL;
    Py_ssize_t last = PyList_Size(held) - 1;
    PyObject *hold = last < 0 ? NULL : PyList_GetItem(held, last);
    if (hold == NULL) {
        if (!PyErr_Occurred()) PyErr_Format(PyExc_RuntimeError, "%S is not held", self);
    } else if (Py_TYPE(hold) != hold_type) {
        PyErr_Format(PyExc_TypeError, "%R is no hold", hold);
    } else {
        Py_INCREF(hold);
        if (PyList_SetSlice(held, last, last + 1, NULL) == 0) answer = hold_release(hold, NULL);
        if (answer == NULL && !((Hold *)hold)->has_ended) {
            /* What could not be let go, and was not taken away, is still held. */
            PyObject *kind, *value, *traceback;
            PyErr_Fetch(&kind, &value, &traceback);
            PyObject *is_held = get_is_held(hold, NULL);
            if (is_held == NULL || (is_held == Py_True && PyList_Append(held, hold) < 0)) PyErr_Clear();
            Py_XDECREF(is_held);
            PyErr_Restore(kind, value, traceback);
        }
        Py_DECREF(hold);
    }
    Py_DECREF(held);
    return answer;
}

/* Acquires by the method `_obtain`. If the time has passed, the method `_raise_time_out` gets the PID of a holder. */
static PyObject *holder_enter(PyObject *self, PyObject *nothing) {
    (void)nothing;
    PyObject *timeout = PyObject_GetAttrString(self, "_timeout"), *answer = NULL, *holder = NULL;
    if (timeout != NULL) answer = PyObject_CallMethod(self, "_obtain", "O", timeout);
    Py_XDECREF(timeout);
    if (answer != NULL) holder = holder_keep(self, answer);
    Py_XDECREF(answer);
    if (holder == NULL) return NULL;
    if (holder != Py_None) {
        PyObject *nothing_raised = PyObject_CallMethod(self, "_raise_time_out", "O", holder);
        Py_XDECREF(nothing_raised);
        Py_DECREF(holder);
        if (nothing_raised != NULL) PyErr_SetString(PyExc_SystemError, "a time-out was not raised");
        return NULL;
    }
    Py_DECREF(holder);
    Py_INCREF(self);
    return self;
}

static PyObject *holder_exit(PyObject *self, PyObject *arguments) {
    (void)arguments;
    return holder_release(self, NULL);
}

static PyMethodDef holder_methods[] = {
    {"_keep", holder_keep, METH_O, NULL},
    {"release", holder_release, METH_NOARGS,
     "release($self, /)\n--\n\nLets go of what was acquired last.\n\nRaises `HoldLost` if it had been taken away, "
     "RuntimeError if nothing is held through this object."},
    {"__enter__", holder_enter, METH_NOARGS, NULL},
    {"__exit__", holder_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyType_Slot holder_slots[] = {{Py_tp_methods, holder_methods}, {0, NULL}};

static PyType_Spec holder_specification = {
    "sharedspace._sharedspace.Holder", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, holder_slots};

int holds_begin(PyObject *module) {
    static PyObject *holder_type;
    if (hold_type == NULL) hold_type = (PyTypeObject *)PyType_FromSpec(&specification);
    if (holder_type == NULL) holder_type = PyType_FromSpec(&holder_specification);
    if (hold_type == NULL || holder_type == NULL) return -1;
    Py_INCREF(hold_type);
    Py_INCREF(holder_type);
    if (PyModule_AddObject(module, "Holder", holder_type) < 0) return -1;
    return PyModule_AddObject(module, "Hold", (PyObject *)hold_type);
}

/* _hold(what, names, timeout, shared, permits, count, value): a Hold, or the PID of a holder when the time has passed; 0
 * if it is not known. */
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
        int status;
        CALL(status, sharedspace_hold(handle, what, names, (size_t)n, &how, &result, &error));
        if (status >= 0) {
            keep_late_exception();
            answer = status == 0 ? PyLong_FromLong(result.pid) : hold_new(self, &result);
        }
        return_result(self, &result);
    }
    buffer_end(&buffer);
    return answer;
}

/* --- Queues ---------------------------------------------------------------------------------------------- */

/* _put(queue, items, timeout, deliveries, bound, flags, *, priority, delay, group, unique): (whether they were put,
 * their numbers). */
static PyObject *namespace_put(PyObject *object, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    sharedspace_how how = sharedspace_defaults();
    PyObject *group = NULL, *unique = NULL;
    const Keyword keywords[] = {
        {"priority", NUMBER, &how.priority, 0},
        {"delay", SECONDS, &how.delay_ms, 0},
        {"group", OBJECT_, &group, 0},
        {"unique", OBJECT_, &unique, 0}};
    const char *queue;
    if (count != 6 || !PyList_Check(arguments[1]))
        return PyErr_Format(PyExc_TypeError, "_put() takes six arguments, of which the second is a list");
    PyObject *items = arguments[1];
    if (read_keywords(arguments + count, names, keywords, sizeof keywords / sizeof *keywords) < 0 ||
        read_text(arguments[0], "the queue's name", &queue) < 0 || read_text(group, "the group", &how.group) < 0 ||
        read_text(unique, "the unique key", &how.unique) < 0 ||
        read_seconds(arguments[2], SHAREDSPACE_FOREVER, &how.timeout_ms) < 0)
        return NULL;
    how.deliveries = PyLong_AsLongLong(arguments[3]);
    how.bound = PyLong_AsLongLong(arguments[4]);
    how.flags = (uint32_t)PyLong_AsLong(arguments[5]);
    if (PyErr_Occurred()) return NULL;
    ask_for_signals(&how);
    Values values;
    uint64_t *numbers = NULL;
    PyObject *answer = NULL, *list = NULL;
    sharedspace_ns *handle = NULL;
    if (values_begin(&values, items, put_one_value, NULL) == 0) handle = namespace_handle((Namespace *)object);
    if (!PyErr_Occurred() && (numbers = PyMem_Calloc(values.count + 1, sizeof *numbers)) == NULL) PyErr_NoMemory();
    if (!PyErr_Occurred()) {
        int status;
        CALL(status, sharedspace_put(handle, queue, values.all, values.count, &how, numbers, &error));
        if (status >= 0) {
            keep_late_exception();
            list = list_of_numbers(numbers, values.count);
            if (list != NULL) answer = Py_BuildValue("NN", PyBool_FromLong(status), list);
        }
    }
    PyMem_Free(numbers);
    values_end(&values);
    return answer;
}

/* _item(queue, timeout, deadline, id): an Item, or None. */
static PyObject *namespace_item(PyObject *object, PyObject *arguments) {
    Namespace *self = (Namespace *)object;
    sharedspace_how how = sharedspace_defaults();
    PyObject *queue_name, *timeout, *deadline;
    const char *queue;
    if (!PyArg_ParseTuple(arguments, "OOOO&", &queue_name, &timeout, &deadline, read_unsigned, &how.id)) return NULL;
    if (read_text(queue_name, "the queue's name", &queue) < 0 || read_life(deadline, &how.deadline_ms) < 0 ||
        read_seconds(timeout, SHAREDSPACE_FOREVER, &how.timeout_ms) < 0)
        return NULL;
    ask_for_signals(&how);
    sharedspace_ns *handle = namespace_handle(self);
    if (PyErr_Occurred()) return NULL;
    sharedspace_result result = borrow_result(self);
    int status;
    CALL(status, sharedspace_item(handle, queue, &how, &result, &error));
    PyObject *answer = NULL;
    if (status >= 0) {
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
    if (!PyArg_ParseTuple(arguments, "OiO&", &queue_name, &state, read_unsigned, &how.max)) return NULL;
    if (read_text(queue_name, "the queue's name", &queue) < 0) return NULL;
    sharedspace_ns *handle = namespace_handle((Namespace *)object);
    if (PyErr_Occurred()) return NULL;
    sharedspace_list *list = NULL;
    int status;
    CALL(status, sharedspace_items(handle, queue, state, &how, &list, &error));
    return status < 0 ? NULL : list_of(status == 0 ? NULL : list, make_listed, NULL, NULL);
}

PyMethodDef hold_methods[] = {
    {"_hold", namespace_hold, METH_VARARGS, NULL},
    {"_put", FAST(namespace_put), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"_item", namespace_item, METH_VARARGS, NULL},
    {"_items", namespace_items, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

/* Requests, and what answers them. A responder is a capsule, which closes it when it is dropped; Python's side is
 * _responders.py. */
#include "namespace.h"

#include <structmember.h>

static const char NAME[] = "sharedspace.responder";

static sharedspace_responder *responder_of(PyObject *capsule) { return PyCapsule_GetPointer(capsule, NAME); }

static void close_responder(PyObject *capsule) {
    sharedspace_responder *responder = responder_of(capsule);
    Py_BEGIN_ALLOW_THREADS
    sharedspace_responder_close(responder);
    Py_END_ALLOW_THREADS
}

/* What a call with an argument that may be missing gives. */
static sharedspace_bytes bytes_of(const Buffer *buffer) {
    sharedspace_bytes nothing = {NULL, 0};
    return buffer->count == 0 ? nothing : buffer_bytes(buffer);
}

/* request(namespace, name, argument, timeout, is_now): (1, the reply, who answered), or (0, None, who was asked). */
static PyObject *request(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *namespace_, *name, *argument, *timeout, *answer = NULL;
    const char *text;
    int is_now;
    sharedspace_how how = sharedspace_defaults();
    if (!PyArg_ParseTuple(arguments, "OOOOp", &namespace_, &name, &argument, &timeout, &is_now) ||
        read_text(name, "the name", &text) < 0 || read_seconds(timeout, SHAREDSPACE_FOREVER, &how.timeout_ms) < 0)
        return NULL;
    if (is_now) how.flags |= SHAREDSPACE_NOW;
    if (how.timeout_ms == 0) how.timeout_ms = 1;
    ask_for_signals(&how);
    Buffer buffer;
    buffer_begin(&buffer);
    sharedspace_result reply = sharedspace_no_result();
    sharedspace_ns *handle = NULL;
    if (put_value(&buffer, argument, 0, VALUES) == 0) handle = namespace_handle((Namespace *)namespace_);
    if (!PyErr_Occurred()) {
        int status;
        CALL(status, sharedspace_request(handle, text, buffer_bytes(&buffer), &how, &reply, &error));
        if (status >= 0) {
            keep_late_exception();
            PyObject *value = status == 1 ? get_value(reply.bytes, reply.count) : new_none();
            if (value != NULL) answer = Py_BuildValue("iNi", status, value, (int)reply.pid);
        }
    }
    sharedspace_result_free(&reply);
    buffer_end(&buffer);
    return answer;
}

/* responder_open(namespace, name, key, is_base) */
static PyObject *responder_open(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *namespace_, *name, *key;
    const char *text;
    int is_base;
    sharedspace_how how = sharedspace_defaults();
    if (!PyArg_ParseTuple(arguments, "OOOp", &namespace_, &name, &key, &is_base) ||
        read_text(name, "the name", &text) < 0 || read_text(key, "the key", &how.unique) < 0)
        return NULL;
    if (is_base) how.flags |= SHAREDSPACE_BASE;
    sharedspace_ns *handle = namespace_handle((Namespace *)namespace_);
    if (PyErr_Occurred()) return NULL;
    sharedspace_responder *responder = NULL;
    int status;
    CALL(status, sharedspace_responder_open(handle, text, &how, &responder, &error));
    if (status < 0) return NULL;
    PyObject *capsule = PyCapsule_New(responder, NAME, close_responder);
    if (capsule == NULL) sharedspace_responder_close(responder);
    return capsule;
}

/* Gives a request back without touching the exception that is set. */
static void give_back(sharedspace_responder *responder, uint64_t number) {
    sharedspace_error *error = NULL;
    Py_BEGIN_ALLOW_THREADS
    sharedspace_responder_give_back(responder, number, &error);
    Py_END_ALLOW_THREADS
    sharedspace_error_free(error);
}

/* --- Requests that are in hand ---------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD PyObject *responder, *argument; /* the capsule; what is asked */
    uint64_t number;
    int pid;
    int has_ended;
} Asked;

static PyTypeObject *asked_type;

PyObject *asked_new(PyObject *capsule, const sharedspace_result *result) {
    sharedspace_responder *responder = responder_of(capsule);
    if (responder == NULL) return NULL;
    PyObject *argument = get_value(result->bytes, result->count);
    Asked *self =
        argument == NULL ? NULL : (Asked *)((allocfunc)PyType_GetSlot(asked_type, Py_tp_alloc))(asked_type, 0);
    if (self == NULL) {
        Py_XDECREF(argument);
        give_back(responder, result->number);
        return NULL;
    }
    Py_INCREF(capsule);
    self->responder = capsule;
    self->argument = argument;
    self->number = result->number;
    self->pid = (int)result->pid;
    return (PyObject *)self;
}

static Asked *asked_of(PyObject *object) {
    if (Py_TYPE(object) == asked_type) return (Asked *)object;
    PyErr_Format(PyExc_TypeError, "%R is no request", object);
    return NULL;
}

static int asked_traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((Asked *)object)->argument);
    return 0;
}

/* A request that is dropped without an answer goes back, and comes next. */
static void asked_dealloc(PyObject *object) {
    Asked *self = (Asked *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    if (!self->has_ended && self->responder != NULL) {
        PyObject *kind, *value, *traceback;
        PyErr_Fetch(&kind, &value, &traceback);
        give_back(responder_of(self->responder), self->number);
        PyErr_Restore(kind, value, traceback);
    }
    Py_XDECREF(self->responder);
    Py_XDECREF(self->argument);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyObject *get_has_ended(PyObject *object, void *context) {
    (void)context;
    return PyBool_FromLong(((Asked *)object)->has_ended);
}

static PyGetSetDef asked_properties[] = {
    {"has_ended", get_has_ended, NULL, "Whether it was answered, or given back.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMemberDef asked_members[] = {
    {"argument", T_OBJECT_EX, offsetof(Asked, argument), READONLY, NULL},
    {"number", T_ULONGLONG, offsetof(Asked, number), READONLY, NULL},
    {"pid", T_INT, offsetof(Asked, pid), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

static PyType_Slot asked_slots[] = {
    {Py_tp_dealloc, asked_dealloc},  {Py_tp_traverse, asked_traverse}, {Py_tp_getset, asked_properties},
    {Py_tp_members, asked_members}, {0, NULL}};

static PyType_Spec asked_specification = {
    "sharedspace._sharedspace.Asked", sizeof(Asked), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, asked_slots};

int responders_begin(PyObject *module) {
    if (asked_type == NULL) asked_type = (PyTypeObject *)PyType_FromSpec(&asked_specification);
    if (asked_type == NULL) return -1;
    Py_INCREF(asked_type);
    return PyModule_AddObject(module, "Asked", (PyObject *)asked_type);
}

/* --- Responders ------------------------------------------------------------------------------------------- */

/* responder_next(responder, timeout): an Asked, or None. */
static PyObject *responder_next(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *number, *timeout;
    sharedspace_how how = sharedspace_defaults();
    if (!PyArg_ParseTuple(arguments, "OO", &number, &timeout)) return NULL;
    sharedspace_responder *responder = responder_of(number);
    if (PyErr_Occurred() || read_seconds(timeout, SHAREDSPACE_FOREVER, &how.timeout_ms) < 0) return NULL;
    ask_for_signals(&how);
    sharedspace_result result = sharedspace_no_result();
    int status;
    CALL(status, sharedspace_responder_next(responder, &how, &result, &error));
    PyObject *asked = NULL;
    if (status >= 0) {
        keep_late_exception();
        asked = status == 0 ? new_none() : asked_new(number, &result);
    }
    sharedspace_result_free(&result);
    return asked;
}

/* responder_reply(asked, value, reason): whether it was wanted. */
static PyObject *responder_reply(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *object, *value, *reason;
    sharedspace_how how = sharedspace_defaults();
    if (!PyArg_ParseTuple(arguments, "OOO", &object, &value, &reason) ||
        read_text(reason, "the reason", &how.reason) < 0)
        return NULL;
    Asked *asked = asked_of(object);
    sharedspace_responder *responder = asked == NULL ? NULL : responder_of(asked->responder);
    if (PyErr_Occurred()) return NULL;
    Buffer buffer;
    buffer_begin(&buffer);
    uint64_t number = asked->number;
    int status = put_value(&buffer, value, 0, VALUES);
    if (status == 0) CALL(status, sharedspace_responder_reply(responder, number, buffer_bytes(&buffer), &how, &error));
    buffer_end(&buffer);
    if (status < 0) return NULL;
    asked->has_ended = 1;
    return PyBool_FromLong(status);
}

/* responder_give_back(asked) */
static PyObject *responder_give_back(PyObject *module, PyObject *object) {
    (void)module;
    Asked *asked = asked_of(object);
    sharedspace_responder *responder = asked == NULL ? NULL : responder_of(asked->responder);
    if (PyErr_Occurred()) return NULL;
    uint64_t number = asked->number;
    int status;
    CALL(status, sharedspace_responder_give_back(responder, number, &error));
    if (status < 0) return NULL;
    asked->has_ended = 1;
    return new_none();
}

/* responder_pass(asked, argument…, timeout): (the reply,), or None; without an argument that of the request. */
static PyObject *responder_pass(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *object, *given, *timeout, *answer = NULL;
    sharedspace_how how = sharedspace_defaults();
    if (!PyArg_ParseTuple(arguments, "OO!O", &object, &PyTuple_Type, &given, &timeout)) return NULL;
    Asked *asked = asked_of(object);
    sharedspace_responder *responder = asked == NULL ? NULL : responder_of(asked->responder);
    if (PyErr_Occurred() || read_seconds(timeout, SHAREDSPACE_FOREVER, &how.timeout_ms) < 0) return NULL;
    ask_for_signals(&how);
    Buffer buffer;
    buffer_begin(&buffer);
    sharedspace_result reply = sharedspace_no_result();
    uint64_t number = asked->number;
    int status = PyTuple_Size(given) == 0 ? 0 : put_value(&buffer, PyTuple_GetItem(given, 0), 0, VALUES);
    if (status == 0)
        CALL(status, sharedspace_responder_pass(responder, number, bytes_of(&buffer), &how, &reply, &error));
    if (status >= 0) keep_late_exception();
    if (status == 0) {
        answer = new_none();
    } else if (status > 0) {
        PyObject *value = get_value(reply.bytes, reply.count);
        if (value != NULL) answer = Py_BuildValue("(N)", value);
    }
    sharedspace_result_free(&reply);
    buffer_end(&buffer);
    return answer;
}

static PyObject *responder_close(PyObject *module, PyObject *capsule) {
    (void)module;
    if (responder_of(capsule) == NULL) return NULL;
    close_responder(capsule);
    return new_none();
}

/* loop_responder(loop, token, responder, timeout) */
static PyObject *loop_responder(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *loop_number, *number, *timeout;
    unsigned long long token;
    sharedspace_how how = sharedspace_defaults();
    if (!PyArg_ParseTuple(arguments, "OKOO", &loop_number, &token, &number, &timeout)) return NULL;
    sharedspace_loop *loop = PyLong_AsVoidPtr(loop_number);
    sharedspace_responder *responder = responder_of(number);
    if (PyErr_Occurred() || read_seconds(timeout, SHAREDSPACE_FOREVER, &how.timeout_ms) < 0) return NULL;
    int status;
    CALL(status, sharedspace_loop_responder(loop, token, responder, &how, &error));
    return status < 0 ? NULL : new_none();
}

PyMethodDef responder_functions[] = {
    {"request", request, METH_VARARGS, NULL},
    {"responder_open", responder_open, METH_VARARGS, NULL},
    {"responder_next", responder_next, METH_VARARGS, NULL},
    {"responder_reply", responder_reply, METH_VARARGS, NULL},
    {"responder_give_back", responder_give_back, METH_O, NULL},
    {"responder_pass", responder_pass, METH_VARARGS, NULL},
    {"responder_close", responder_close, METH_O, NULL},
    {"loop_responder", loop_responder, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

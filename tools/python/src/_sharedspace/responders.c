/* Requests, and what answers them. A responder is a capsule, which closes it when it is dropped; Python's side is
 * _responders.py. */
#include "namespace.h"

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

PyObject *request_of(const sharedspace_result *result) {
    PyObject *argument = get_value(result->bytes, result->count);
    if (argument == NULL) return NULL;
    return Py_BuildValue("NKi", argument, (unsigned long long)result->number, (int)result->pid);
}

/* responder_next(responder, timeout): (argument, number, pid), or None. */
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
        asked = status == 0 ? new_none() : request_of(&result);
        /* Without memory for it, it is there for the next call. */
        if (asked == NULL) give_back(responder, result.number);
    }
    sharedspace_result_free(&result);
    return asked;
}

/* responder_reply(responder, number, value, reason): whether it was wanted. */
static PyObject *responder_reply(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *handle, *value, *reason;
    unsigned long long number;
    sharedspace_how how = sharedspace_defaults();
    if (!PyArg_ParseTuple(arguments, "OKOO", &handle, &number, &value, &reason) ||
        read_text(reason, "the reason", &how.reason) < 0)
        return NULL;
    sharedspace_responder *responder = responder_of(handle);
    if (PyErr_Occurred()) return NULL;
    Buffer buffer;
    buffer_begin(&buffer);
    int status = put_value(&buffer, value, 0, VALUES);
    if (status == 0) CALL(status, sharedspace_responder_reply(responder, number, buffer_bytes(&buffer), &how, &error));
    buffer_end(&buffer);
    return status < 0 ? NULL : PyBool_FromLong(status);
}

/* responder_give_back(responder, number) */
static PyObject *responder_give_back(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *handle;
    unsigned long long number;
    if (!PyArg_ParseTuple(arguments, "OK", &handle, &number)) return NULL;
    sharedspace_responder *responder = responder_of(handle);
    if (PyErr_Occurred()) return NULL;
    int status;
    CALL(status, sharedspace_responder_give_back(responder, number, &error));
    return status < 0 ? NULL : new_none();
}

/* responder_pass(responder, number, argument…, timeout): (the reply,), or None; without an argument that of the request. */
static PyObject *responder_pass(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *handle, *given, *timeout, *answer = NULL;
    unsigned long long number;
    sharedspace_how how = sharedspace_defaults();
    if (!PyArg_ParseTuple(arguments, "OKO!O", &handle, &number, &PyTuple_Type, &given, &timeout)) return NULL;
    sharedspace_responder *responder = responder_of(handle);
    if (PyErr_Occurred() || read_seconds(timeout, SHAREDSPACE_FOREVER, &how.timeout_ms) < 0) return NULL;
    ask_for_signals(&how);
    Buffer buffer;
    buffer_begin(&buffer);
    sharedspace_result reply = sharedspace_no_result();
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
    {"responder_give_back", responder_give_back, METH_VARARGS, NULL},
    {"responder_pass", responder_pass, METH_VARARGS, NULL},
    {"responder_close", responder_close, METH_O, NULL},
    {"loop_responder", loop_responder, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

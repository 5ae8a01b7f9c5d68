/* Cells: values with names. And notifications. */
#include "namespace.h"

static PyObject *namespace_get(PyObject *object, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    Namespace *self = (Namespace *)object;
    sharedspace_how how = sharedspace_defaults();
    PyObject *otherwise = count > 1 ? arguments[1] : Py_None;
    const Keyword keywords[] = {{"timeout", WAIT, &how.timeout_ms, 0}, {"default", OBJECT_, &otherwise, 0}};
    const char *key;
    if (count < 1 || count > 2) return PyErr_Format(PyExc_TypeError, "get() takes a key and a default");
    if (read_keywords(arguments + count, names, keywords, 2) < 0 || read_text(arguments[0], "a key", &key) < 0)
        return NULL;
    sharedspace_ns *handle = namespace_handle(self);
    if (PyErr_Occurred()) return NULL;
    ask_for_signals(&how);
    sharedspace_result result = borrow_result(self);
    int status;
    CALL(status, sharedspace_get(handle, key, &how, &result, &error));
    PyObject *value = NULL;
    if (status >= 0) {
        keep_late_exception();
        if (status == 0) Py_INCREF(value = otherwise);
        else value = get_value(result.bytes, result.count);
    }
    return_result(self, &result);
    return value;
}

static PyObject *namespace_set(PyObject *object, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    sharedspace_how how = sharedspace_defaults();
    PyObject *expected = NULL, *version = NULL;
    const Keyword keywords[] = {
        {"if_absent", FLAG, &how.flags, SHAREDSPACE_IF_ABSENT},
        {"own_lifetime", FLAG, &how.flags, SHAREDSPACE_OWN_LIFETIME},
        {"if_equal", OBJECT_, &expected, 0},
        {"if_version", OBJECT_, &version, 0},
        {"expires", LIFE, &how.expires_ms, 0}};
    const char *key;
    if (count != 2) return PyErr_Format(PyExc_TypeError, "set() takes a key and a value");
    if (read_keywords(arguments + count, names, keywords, 5) < 0 || read_text(arguments[0], "a key", &key) < 0)
        return NULL;
    if (version != NULL) {
        how.flags |= SHAREDSPACE_IF_VERSION;
        how.version = PyLong_AsUnsignedLongLong(version);
        if (PyErr_Occurred()) return NULL;
    }
    Buffer value, wanted;
    buffer_begin(&value);
    buffer_begin(&wanted);
    sharedspace_ns *handle = NULL;
    PyObject *answer = NULL;
    if (put_value(&value, arguments[1], 0, VALUES) == 0 &&
        (expected == NULL || put_value(&wanted, expected, 0, VALUES) == 0))
        handle = namespace_handle((Namespace *)object);
    if (!PyErr_Occurred()) {
        if (expected != NULL) {
            how.flags |= SHAREDSPACE_IF_EQUAL;
            how.value = buffer_bytes(&wanted);
        }
        int status;
        CALL(status, sharedspace_set(handle, key, buffer_bytes(&value), &how, NULL, &error));
        answer = status < 0 ? NULL : PyBool_FromLong(status);
    }
    buffer_end(&value);
    buffer_end(&wanted);
    return answer;
}

/* versioned(key): the value and the version, or None. */
static PyObject *namespace_versioned(PyObject *object, PyObject *name) {
    Namespace *self = (Namespace *)object;
    const char *key;
    if (read_text(name, "a key", &key) < 0) return NULL;
    sharedspace_ns *handle = namespace_handle(self);
    if (PyErr_Occurred()) return NULL;
    sharedspace_result result = borrow_result(self);
    int status;
    CALL(status, sharedspace_get(handle, key, NULL, &result, &error));
    PyObject *value = NULL, *pair = NULL;
    if (status == 0) pair = new_none();
    else if (status > 0 && (value = get_value(result.bytes, result.count)) != NULL)
        pair = Py_BuildValue("NK", value, (unsigned long long)result.number);
    return_result(self, &result);
    return pair;
}

/* A cell's key, or a tuple's id. */
static int read_key_or_id(PyObject *subject, const char **key, uint64_t *id) {
    *key = NULL;
    *id = 0;
    if (PyUnicode_Check(subject)) return read_text(subject, "a key", key);
    *id = PyLong_AsUnsignedLongLong(subject);
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *namespace_expire(PyObject *object, PyObject *const *arguments, Py_ssize_t count) {
    sharedspace_how how = sharedspace_defaults();
    const char *key;
    uint64_t id;
    if (count != 2) return PyErr_Format(PyExc_TypeError, "expire() takes a key or an id, and seconds or None");
    if (read_key_or_id(arguments[0], &key, &id) < 0 || read_life(arguments[1], &how.expires_ms) < 0) return NULL;
    sharedspace_ns *handle = namespace_handle((Namespace *)object);
    if (PyErr_Occurred()) return NULL;
    int status;
    CALL(status, sharedspace_expire(handle, key, id, &how, &error));
    return status < 0 ? NULL : PyBool_FromLong(status);
}

static PyObject *namespace_time_left(PyObject *object, PyObject *subject) {
    const char *key;
    uint64_t id;
    if (read_key_or_id(subject, &key, &id) < 0) return NULL;
    sharedspace_ns *handle = namespace_handle((Namespace *)object);
    if (PyErr_Occurred()) return NULL;
    int64_t left = 0;
    int status;
    CALL(status, sharedspace_ttl(handle, key, id, &left, &error));
    if (status < 0) return NULL;
    if (status == 0) return PyErr_Format(PyExc_KeyError, "%R is not there", subject);
    return left == SHAREDSPACE_FOREVER ? new_none() : PyFloat_FromDouble((double)left / 1000);
}

static PyObject *namespace_unset(PyObject *object, PyObject *name) {
    const char *key;
    if (read_text(name, "a key", &key) < 0) return NULL;
    sharedspace_ns *handle = namespace_handle((Namespace *)object);
    if (PyErr_Occurred()) return NULL;
    int status;
    CALL(status, sharedspace_unset(handle, key, NULL, NULL, &error));
    return status < 0 ? NULL : PyBool_FromLong(status);
}

static PyObject *namespace_add(PyObject *object, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    int64_t amount = 1, sum = 0;
    const Keyword keywords[] = {{"amount", NUMBER, &amount, 0}};
    const char *key;
    if (count < 1 || count > 2) return PyErr_Format(PyExc_TypeError, "add() takes a key and an amount");
    if (read_keywords(arguments + count, names, keywords, 1) < 0 || read_text(arguments[0], "a key", &key) < 0)
        return NULL;
    if (count == 2) {
        amount = PyLong_AsLongLong(arguments[1]);
        if (amount == -1 && PyErr_Occurred()) return NULL;
    }
    sharedspace_ns *handle = namespace_handle((Namespace *)object);
    if (PyErr_Occurred()) return NULL;
    int status;
    CALL(status, sharedspace_add(handle, key, amount, &sum, &error));
    return status < 0 ? NULL : PyLong_FromLongLong(sum);
}

static PyObject *make_tuple(void *context, const sharedspace_result *result) {
    (void)context;
    return get_tuple(result);
}

static PyObject *namespace_cells(PyObject *object, PyObject *const *arguments, Py_ssize_t count) {
    const char *pattern = NULL;
    if (count > 1) return PyErr_Format(PyExc_TypeError, "cells() takes a pattern");
    if (count == 1 && read_text(arguments[0], "the pattern", &pattern) < 0) return NULL;
    sharedspace_ns *handle = namespace_handle((Namespace *)object);
    if (PyErr_Occurred()) return NULL;
    sharedspace_list *list = NULL;
    int status;
    CALL(status, sharedspace_cells(handle, pattern, NULL, &list, &error));
    if (status < 0) return NULL;
    PyObject *pairs = list_of(status == 0 ? NULL : list, make_tuple, NULL, NULL), *cells = NULL;
    if (pairs != NULL && (cells = PyDict_New()) != NULL && PyDict_MergeFromSeq2(cells, pairs, 1) < 0) Py_CLEAR(cells);
    Py_XDECREF(pairs);
    return cells;
}

static PyObject *namespace_post(PyObject *object, PyObject *const *arguments, Py_ssize_t count) {
    const char *name;
    if (count < 1 || count > 2) return PyErr_Format(PyExc_TypeError, "post() takes a name and a value");
    if (read_text(arguments[0], "a name", &name) < 0) return NULL;
    Buffer value;
    buffer_begin(&value);
    sharedspace_ns *handle = NULL;
    PyObject *answer = NULL;
    if (put_value(&value, count == 2 ? arguments[1] : Py_None, 0, VALUES) == 0)
        handle = namespace_handle((Namespace *)object);
    if (!PyErr_Occurred()) {
        int status;
        CALL(status, sharedspace_post(handle, name, buffer_bytes(&value), NULL, &error));
        if (status >= 0) answer = new_none();
    }
    buffer_end(&value);
    return answer;
}

PyMethodDef cell_methods[] = {
    {"get", FAST(namespace_get), METH_FASTCALL | METH_KEYWORDS,
     "get($self, key, /, default=None, *, timeout=0)\n--\n\nThe value of a cell, or the default."},
    {"set", FAST(namespace_set), METH_FASTCALL | METH_KEYWORDS,
     "set($self, key, value, /, *, if_absent=False, if_equal=..., if_version=..., expires=None, own_lifetime=False)\n--\n\nSet a cell; "
     "False if it was not as the condition wants it."},
    {"versioned", namespace_versioned, METH_O,
     "versioned($self, key, /)\n--\n\nThe value of a cell and its version, or None."},
    {"expire", FAST(namespace_expire), METH_FASTCALL,
     "expire($self, key_or_id, seconds, /)\n--\n\nHave a cell, or a tuple, go after so many seconds; None: never. False "
     "if it is not there."},
    {"time_left", namespace_time_left, METH_O,
     "time_left($self, key_or_id, /)\n--\n\nHow many seconds a cell, or a tuple, still has; None without end. KeyError "
     "if it is not there."},
    {"unset", namespace_unset, METH_O, "unset($self, key, /)\n--\n\nUnset a cell; False if it was not set."},
    {"add", FAST(namespace_add), METH_FASTCALL | METH_KEYWORDS,
     "add($self, key, /, amount=1)\n--\n\nAdd to the integer in a cell; the sum."},
    {"cells", FAST(namespace_cells), METH_FASTCALL,
     "cells($self, pattern='*', /)\n--\n\nThe cells whose keys match a pattern, of one moment."},
    {"post", FAST(namespace_post), METH_FASTCALL,
     "post($self, name, value=None, /)\n--\n\nPost a notification to all that watch now."},
    {NULL, NULL, 0, NULL}};

#include "namespace.h"

/* Handles of namespaces that were dropped without being closed, by root, name and whether they own it. A namespace
 * stays until the process closes it or ends, because `Space().namespace("jobs").write("x")` must not make and delete
 * it. An observer's handle does not replace an owner's, which would end the ownership. */
static PyObject *kept;

/* The objects that have a handle, open or closed: `leave` finds them here. */
static Namespace *used;

static void list_used(Namespace *self) {
    self->next = used;
    if (used != NULL) used->previous = self;
    used = self;
}

static void unlist_used(Namespace *self) {
    if (self->previous != NULL) self->previous->next = self->next;
    else used = self->next;
    if (self->next != NULL) self->next->previous = self->previous;
}

sharedspace_result borrow_result(Namespace *namespace_) {
    sharedspace_result result = namespace_->result.bytes == NULL ? sharedspace_no_result() : namespace_->result;
    namespace_->result = sharedspace_no_result();
    return result;
}

void return_result(Namespace *namespace_, sharedspace_result *result) {
    enum { LARGE = 1 << 16 };
    if (namespace_->result.bytes == NULL && result->capacity <= LARGE) namespace_->result = *result;
    else sharedspace_result_free(result);
}

static sharedspace_ns *open_handle(Namespace *self) {
    sharedspace_how how = sharedspace_defaults(), patience = sharedspace_defaults();
    const char *name, *root = NULL;
    if (self->name == NULL) {
        PyErr_SetString(PyExc_TypeError, "Namespace.__init__ was not called");
        return NULL;
    }
    if (read_text(self->name, "the name", &name) < 0 || read_text(self->mode, "the mode", &how.mode) < 0) return NULL;
    if (self->root != Py_None && (root = PyBytes_AsString(self->root)) == NULL) return NULL;
    how.flags = self->flags;
    how.limit_bytes = self->limit;
    patience.timeout_ms = self->lock_timeout;
    sharedspace *space;
    sharedspace_ns *handle = NULL;
    sharedspace_error *error = NULL;
    int status;
    Py_BEGIN_ALLOW_THREADS
    if ((status = sharedspace_open(root, &patience, &space, &error)) == 1) {
        status = sharedspace_ns_open(space, name, &how, &handle, &error);
        sharedspace_close(space);
    }
    Py_END_ALLOW_THREADS
    if (status >= 0) return handle;
    raise_error(error);
    return NULL;
}

sharedspace_ns *namespace_handle(Namespace *self) {
    if (self->handle == NULL && !self->is_closed) {
        note_use();
        sharedspace_ns *handle = open_handle(self);
        if (handle == NULL) return NULL;
        /* Another thread may have opened or closed it meanwhile. */
        if (self->handle == NULL && !self->is_closed) {
            self->handle = handle;
            list_used(self);
        } else {
            sharedspace_ns_close(handle, NULL);
        }
    }
    /* A handle that was closed stays where it is, and is an error of every call. */
    if (self->handle == NULL) raise_closed(self->name);
    return self->handle;
}

static int namespace_init(PyObject *object, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {"root", "name", "mode", "flags", "limit", "lock_timeout", NULL};
    Namespace *self = (Namespace *)object;
    PyObject *root, *name, *mode;
    unsigned int flags;
    uint64_t limit;
    long long lock_timeout;
    if (!PyArg_ParseTupleAndKeywords(
            arguments, keywords, "OUOIO&L", names, &root, &name, &mode, &flags, read_unsigned, &limit, &lock_timeout))
        return -1;
    PyObject *path = NULL;
    if (root == Py_None) {
        path = new_none();
    } else if (!PyUnicode_FSConverter(root, &path)) {
        return -1;
    }
    if (self->name != NULL) {
        /* Another thread may be opening it, with the strings that it has. */
        Py_DECREF(path);
        PyErr_SetString(PyExc_RuntimeError, "Namespace.__init__ was called already");
        return -1;
    }
    Py_INCREF(name);
    Py_INCREF(mode);
    self->root = path;
    self->name = name;
    self->mode = mode;
    self->flags = flags;
    self->limit = limit;
    self->lock_timeout = lock_timeout;
    return 0;
}

static PyObject *namespace_close(PyObject *object, PyObject *nothing) {
    (void)nothing;
    Namespace *self = (Namespace *)object;
    int status = 1;
    int was_open = self->handle != NULL && !self->is_closed;
    sharedspace_ns *handle = self->handle;
    self->is_closed = 1;
    if (was_open) {
        CALL(status, sharedspace_ns_close(handle, &error));
    }
    if (status < 0) return NULL;
    return new_none();
}

/* Keeps the handle until the process ends, in the place of an older one of its kind. */
static void keep(Namespace *self) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *is_observer = self->flags & SHAREDSPACE_OBSERVER ? Py_True : Py_False;
    PyObject *key = PyTuple_Pack(3, self->root, self->name, is_observer), *handle = PyLong_FromVoidPtr(self->handle);
    if (key != NULL && handle != NULL && kept != NULL) {
        PyObject *older = PyDict_GetItemWithError(kept, key);
        sharedspace_ns *superseded = older == NULL ? NULL : PyLong_AsVoidPtr(older);
        if (PyDict_SetItem(kept, key, handle) == 0 && superseded != NULL) {
            Py_BEGIN_ALLOW_THREADS
            sharedspace_ns_close(superseded, NULL);
            Py_END_ALLOW_THREADS
        }
    }
    Py_XDECREF(key);
    Py_XDECREF(handle);
    PyErr_Restore(type, value, traceback);
}

static void namespace_dealloc(PyObject *object) {
    Namespace *self = (Namespace *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->handle != NULL && !self->is_closed) keep(self);
    if (self->handle != NULL) unlist_used(self);
    sharedspace_result_free(&self->result);
    Py_XDECREF(self->root);
    Py_XDECREF(self->name);
    Py_XDECREF(self->mode);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyObject *text_of(sharedspace_result *result) {
    PyObject *text = PyUnicode_DecodeUTF8((const char *)result->bytes, (Py_ssize_t)result->count, NULL);
    sharedspace_result_free(result);
    return text;
}

static PyObject *namespace_show(PyObject *object, PyObject *nothing) {
    (void)nothing;
    sharedspace_ns *handle = namespace_handle((Namespace *)object);
    if (PyErr_Occurred()) return NULL;
    sharedspace_result result = sharedspace_no_result();
    int status;
    CALL(status, sharedspace_ns_show(handle, &result, &error));
    return status < 0 ? NULL : text_of(&result);
}

/* _rule(what, number, bytes): what is ruled for the namespace. */
static PyObject *namespace_rule(PyObject *object, PyObject *arguments) {
    int what;
    long long number;
    sharedspace_how how = sharedspace_defaults();
    if (!PyArg_ParseTuple(arguments, "iLO&", &what, &number, read_unsigned, &how.limit_bytes)) return NULL;
    sharedspace_ns *handle = namespace_handle((Namespace *)object);
    if (PyErr_Occurred()) return NULL;
    int status;
    CALL(status, sharedspace_ns_set(handle, what, number, &how, &error));
    return status < 0 ? NULL : PyBool_FromLong(status);
}

static PyObject *namespace_unsubscribe(PyObject *object, PyObject *name) {
    const char *text;
    if (read_text(name, "the name", &text) < 0) return NULL;
    sharedspace_ns *handle = namespace_handle((Namespace *)object);
    if (PyErr_Occurred()) return NULL;
    int status;
    CALL(status, sharedspace_unsubscribe(handle, text, &error));
    return status < 0 ? NULL : PyBool_FromLong(status);
}

static PyObject *get_is_open(PyObject *object, void *context) {
    (void)context;
    Namespace *self = (Namespace *)object;
    return PyBool_FromLong(self->handle != NULL && !self->is_closed);
}

static PyObject *get_name(PyObject *object, void *context) {
    (void)context;
    PyObject *name = ((Namespace *)object)->name;
    if (name == NULL) name = Py_None;
    Py_INCREF(name);
    return name;
}

/* --- The module ------------------------------------------------------------------------------------------ */

static PyMethodDef own_methods[] = {
    {"close", namespace_close, METH_NOARGS,
     "close($self, /)\n--\n\nLeave the namespace, and release what was obtained through this object."},
    {"_show", namespace_show, METH_NOARGS, NULL},
    {"_set_rule", namespace_rule, METH_VARARGS, NULL},
    {"unsubscribe", namespace_unsubscribe, METH_O,
     "unsubscribe($self, name, /)\n--\n\nEnd a subscription; False if there is none."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef properties[] = {
    {"name", get_name, NULL, "The namespace's name.", NULL},
    {"is_open", get_is_open, NULL, "Whether it has been used, and not been closed.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

/* All methods in one array, as a type's description wants them. */
static PyMethodDef methods[64];

static PyType_Slot slots[] = {{Py_tp_init, namespace_init},   {Py_tp_dealloc, namespace_dealloc},
                              {Py_tp_methods, methods},       {Py_tp_getset, properties},
                              {Py_tp_new, PyType_GenericNew}, {0, NULL}};

static PyType_Spec specification = {
    "sharedspace._sharedspace.Namespace", sizeof(Namespace), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

static PyObject *make_name(void *context, const sharedspace_result *result) {
    (void)context;
    return PyUnicode_DecodeUTF8((const char *)result->bytes, (Py_ssize_t)result->count, NULL);
}

/* A space, to be closed after the call; NULL with an exception. */
static sharedspace *space_of(PyObject *root) {
    PyObject *path = NULL;
    if (root != Py_None && !PyUnicode_FSConverter(root, &path)) return NULL;
    const char *folder = path == NULL ? NULL : PyBytes_AsString(path);
    sharedspace *space = NULL;
    int status;
    CALL(status, sharedspace_open(folder, NULL, &space, &error));
    Py_XDECREF(path);
    return space;
}

static PyObject *module_names(PyObject *module, PyObject *root) {
    (void)module;
    sharedspace *space = space_of(root);
    if (space == NULL) return NULL;
    sharedspace_list *list = NULL;
    int status;
    CALL(status, sharedspace_names(space, &list, &error));
    sharedspace_close(space);
    return status < 0 ? NULL : list_of(list, make_name, NULL, NULL);
}

static PyObject *module_reap(PyObject *module, PyObject *root) {
    (void)module;
    sharedspace *space = space_of(root);
    if (space == NULL) return NULL;
    sharedspace_list *list = NULL;
    int status;
    CALL(status, sharedspace_reap(space, &list, &error));
    sharedspace_close(space);
    return status < 0 ? NULL : list_of(list, make_name, NULL, NULL);
}

static PyObject *module_delete(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *root, *name;
    const char *text;
    if (!PyArg_ParseTuple(arguments, "OO", &root, &name) || read_text(name, "the name", &text) < 0) return NULL;
    sharedspace *space = space_of(root);
    if (space == NULL) return NULL;
    int status;
    CALL(status, sharedspace_delete(space, text, &error));
    sharedspace_close(space);
    return status < 0 ? NULL : PyBool_FromLong(status);
}

static void close_handle(sharedspace_ns *handle) {
    Py_BEGIN_ALLOW_THREADS
    sharedspace_ns_close(handle, NULL);
    Py_END_ALLOW_THREADS
}

/* leave(root): closes the namespaces of a root that this process has open, also those whose objects were dropped. */
static PyObject *module_leave(PyObject *module, PyObject *root) {
    (void)module;
    PyObject *path;
    if (!PyUnicode_FSConverter(root, &path)) return NULL;
    for (Namespace *one = used; one != NULL;) {
        if (one->is_closed || PyObject_RichCompareBool(one->root, path, Py_EQ) != 1) {
            one = one->next;
            continue;
        }
        one->is_closed = 1;
        close_handle(one->handle);
        /* Another thread may have changed the list meanwhile. */
        one = used;
    }
    PyObject *keys = PyDict_Keys(kept);
    for (Py_ssize_t i = 0; keys != NULL && i < PyList_Size(keys); i++) {
        PyObject *key = PyList_GetItem(keys, i), *address;
        if (PyObject_RichCompareBool(PyTuple_GetItem(key, 0), path, Py_EQ) != 1) continue;
        if ((address = PyDict_GetItemWithError(kept, key)) == NULL) continue;
        sharedspace_ns *handle = PyLong_AsVoidPtr(address);
        if (PyDict_DelItem(kept, key) == 0) close_handle(handle);
    }
    Py_XDECREF(keys);
    Py_DECREF(path);
    return PyErr_Occurred() ? NULL : new_none();
}

/* life(seconds): milliseconds of how long something is to last, for a step of a transaction and for a namespace. */
static PyObject *module_life(PyObject *module, PyObject *seconds) {
    (void)module;
    int64_t milliseconds;
    if (seconds == Py_None) return PyErr_Format(PyExc_TypeError, "None is no number of seconds");
    return read_life(seconds, &milliseconds) < 0 ? NULL : PyLong_FromLongLong(milliseconds);
}

/* await_namespace(root, name, is_gone, timeout) */
static PyObject *module_await(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *root, *name, *timeout;
    const char *text;
    int is_gone;
    sharedspace_how how = sharedspace_defaults();
    if (!PyArg_ParseTuple(arguments, "OOpO", &root, &name, &is_gone, &timeout) ||
        read_text(name, "the name", &text) < 0 || read_seconds(timeout, SHAREDSPACE_FOREVER, &how.timeout_ms) < 0)
        return NULL;
    if (is_gone) how.flags |= SHAREDSPACE_GONE;
    ask_for_signals(&how);
    sharedspace *space = space_of(root);
    if (space == NULL) return NULL;
    int status;
    CALL(status, sharedspace_await(space, text, &how, &error));
    sharedspace_close(space);
    if (status >= 0) keep_late_exception();
    return status < 0 ? NULL : PyBool_FromLong(status);
}

/* A template as the value that steps and filters have: formals are words, "?int". */
static PyObject *module_words(PyObject *module, PyObject *template_) {
    (void)module;
    Buffer buffer;
    buffer_begin(&buffer);
    PyObject *words = put_value(&buffer, template_, 0, STEP) < 0 ? NULL : get_value(buffer.bytes, buffer.count);
    buffer_end(&buffer);
    return words;
}

static PyObject *module_begin(PyObject *module, PyObject *errors) {
    (void)module;
    codec_begin();
    return calls_begin(errors) < 0 ? NULL : new_none();
}

static PyObject *module_version(PyObject *module, PyObject *nothing) {
    (void)module;
    (void)nothing;
    return PyUnicode_FromString(sharedspace_version());
}

static PyObject *module_check_process(PyObject *module, PyObject *nothing) {
    (void)module;
    (void)nothing;
    return check_process() < 0 ? NULL : new_none();
}

extern PyMethodDef watch_functions[], loop_functions[], responder_functions[];

static PyMethodDef functions[40] = {
    {"begin", module_begin, METH_O, NULL}, {"version", module_version, METH_NOARGS, NULL},
    {"names", module_names, METH_O, NULL},       {"delete", module_delete, METH_VARARGS, NULL},
    {"reap", module_reap, METH_O, NULL},         {"await_namespace", module_await, METH_VARARGS, NULL},
    {"words", module_words, METH_O, NULL},       {"leave", module_leave, METH_O, NULL},
    {"life", module_life, METH_O, NULL},         {"check_process", module_check_process, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static void append(PyMethodDef *to, const PyMethodDef *from) {
    while (to->ml_name != NULL)
        to++;
    while (from->ml_name != NULL)
        *to++ = *from++;
}

/* Classes and what the codec asks belong to the interpreter that has loaded the module first: only the main one may. */
static int module_exec(PyObject *module) {
    static PyObject *type;
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
        PyErr_SetString(PyExc_ImportError, "sharedspace can't be imported in a subinterpreter; use a process");
        return -1;
    }
    if (type == NULL) type = PyType_FromSpec(&specification);
    if (kept == NULL) kept = PyDict_New();
    if (type == NULL || kept == NULL) return -1;
    Py_INCREF(type);
    if (PyModule_AddObject(module, "Namespace", type) < 0 || claims_begin(module) < 0) return -1;
    return holds_begin(module) < 0 || loops_begin() < 0 ? -1 : responders_begin(module);
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};
static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_sharedspace", NULL, 0, functions, module_slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__sharedspace(void) {
    /* A second import, by another name, finds the arrays filled. */
    if (methods[0].ml_name == NULL) {
        static const PyMethodDef *const all[] = {own_methods,  tuple_methods, cell_methods,
                                                  hold_methods, thing_methods};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            append(methods, all[i]);
        append(functions, watch_functions);
        append(functions, loop_functions);
        append(functions, responder_functions);
    }
    return PyModuleDef_Init(&definition);
}

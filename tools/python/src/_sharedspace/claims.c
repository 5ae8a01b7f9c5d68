#include "namespace.h"

#include <structmember.h>

PyTypeObject *claim_type, *item_type;

void claim_give_back(Namespace *namespace_, const sharedspace_result *result) {
    sharedspace_ns *handle = namespace_->handle;
    uint64_t number = result->number;
    Py_BEGIN_ALLOW_THREADS
    sharedspace_end(handle, number, SHAREDSPACE_DROP, NULL, NULL);
    Py_END_ALLOW_THREADS
}

PyObject *claim_new(PyTypeObject *type, Namespace *namespace_, PyObject *content, const sharedspace_result *result) {
    Claim *self = content == NULL ? NULL : (Claim *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (self == NULL) {
        Py_XDECREF(content);
        claim_give_back(namespace_, result);
        return NULL;
    }
    Py_INCREF(namespace_);
    self->namespace_ = namespace_;
    self->content = content;
    self->id = result->id;
    self->number = result->number;
    self->deliveries = result->deliveries;
    return (PyObject *)self;
}

static PyObject *end(Claim *self, int how_it_ends, const sharedspace_how *how) {
    sharedspace_ns *handle = namespace_handle(self->namespace_);
    if (PyErr_Occurred()) return NULL;
    uint64_t number = self->number;
    int status;
    CALL(status, sharedspace_end(handle, number, how_it_ends, how, &error));
    if (status < 0) return NULL;
    if (how_it_ends != SHAREDSPACE_EXTEND) self->has_ended = 1;
    return PyBool_FromLong(status);
}

PyObject *claim_take(PyObject *object) {
    if (object == NULL) return NULL;
    PyObject *answer = end((Claim *)object, SHAREDSPACE_COMPLETE, NULL), *content = NULL;
    if (answer != NULL) Py_INCREF(content = ((Claim *)object)->content);
    Py_XDECREF(answer);
    Py_DECREF(object);
    return content;
}

static PyObject *nothing_of(PyObject *answer) {
    if (answer == NULL) return NULL;
    Py_DECREF(answer);
    return new_none();
}

static PyObject *claim_complete(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    sharedspace_how how = sharedspace_defaults();
    const Keyword keywords[] = {{"keep", FLAG, &how.flags, SHAREDSPACE_KEEP}};
    if (count > 0) return PyErr_Format(PyExc_TypeError, "complete() takes no positional arguments");
    if (read_keywords(arguments, names, keywords, 1) < 0) return NULL;
    return nothing_of(end((Claim *)self, SHAREDSPACE_COMPLETE, &how));
}

static PyObject *claim_release(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    sharedspace_how how = sharedspace_defaults();
    const Keyword keywords[] = {{"delay", SECONDS, &how.delay_ms, 0}, {"priority", NUMBER, &how.priority, 0}};
    if (count > 0) return PyErr_Format(PyExc_TypeError, "release() takes no positional arguments");
    if (read_keywords(arguments, names, keywords, 2) < 0) return NULL;
    return end((Claim *)self, SHAREDSPACE_RELEASE, &how);
}

static PyObject *claim_bury(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    sharedspace_how how = sharedspace_defaults();
    PyObject *reason = NULL;
    const Keyword keywords[] = {{"reason", OBJECT_, &reason, 0}};
    if (count > 0) return PyErr_Format(PyExc_TypeError, "bury() takes no positional arguments");
    if (read_keywords(arguments, names, keywords, 1) < 0 || read_text(reason, "the reason", &how.reason) < 0)
        return NULL;
    return nothing_of(end((Claim *)self, SHAREDSPACE_BURY, &how));
}

static PyObject *claim_extend(PyObject *self, PyObject *seconds) {
    sharedspace_how how = sharedspace_defaults();
    if (read_life(seconds, &how.deadline_ms) < 0) return NULL;
    return nothing_of(end((Claim *)self, SHAREDSPACE_EXTEND, &how));
}

static PyObject *claim_enter(PyObject *self, PyObject *nothing) {
    (void)nothing;
    Py_INCREF(self);
    return self;
}

/* Completes the claim; after an exception it is released, and the exception goes on. */
static PyObject *claim_exit(PyObject *object, PyObject *arguments) {
    Claim *self = (Claim *)object;
    if (PyTuple_Size(arguments) < 1) return PyErr_Format(PyExc_TypeError, "__exit__() takes three arguments");
    if (!self->has_ended) {
        int is_done = PyTuple_GetItem(arguments, 0) == Py_None;
        PyObject *answer = end(self, is_done ? SHAREDSPACE_COMPLETE : SHAREDSPACE_RELEASE, NULL);
        if (answer == NULL && is_done) return NULL;
        if (answer == NULL) PyErr_Clear();
        Py_XDECREF(answer);
    }
    return PyBool_FromLong(0);
}

static PyObject *claim_repr(PyObject *object) {
    Claim *self = (Claim *)object;
    return PyUnicode_FromFormat(
        "<%s %llu of %R%s>", (PyTypeObject *)Py_TYPE(object) == item_type ? "Item" : "Claim",
        (unsigned long long)self->number, self->content == NULL ? Py_None : self->content,
        self->has_ended ? ", ended" : "");
}

static int claim_traverse(PyObject *object, visitproc visit, void *arg) {
    Claim *self = (Claim *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT((PyObject *)self->namespace_);
    Py_VISIT(self->content);
    return 0;
}

/* The namespace stays: the claim goes back to it. */
static int claim_clear(PyObject *object) {
    Py_CLEAR(((Claim *)object)->content);
    return 0;
}

/* A claim that is dropped goes back. */
static void claim_dealloc(PyObject *object) {
    Claim *self = (Claim *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    if (!self->has_ended && self->namespace_ != NULL && self->namespace_->handle != NULL) {
        PyObject *kind, *value, *traceback;
        PyErr_Fetch(&kind, &value, &traceback);
        Py_XDECREF(end(self, SHAREDSPACE_DROP, NULL));
        PyErr_Restore(kind, value, traceback);
    }
    Py_XDECREF((PyObject *)self->namespace_);
    Py_XDECREF(self->content);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyObject *get_has_ended(PyObject *self, void *context) {
    (void)context;
    return check_process() < 0 ? NULL : PyBool_FromLong(((Claim *)self)->has_ended);
}

static PyMethodDef methods[] = {
    {"complete", FAST(claim_complete), METH_FASTCALL | METH_KEYWORDS,
     "complete($self, /, *, keep=False)\n--\n\nThe work is done: it is gone for good."},
    {"release", FAST(claim_release), METH_FASTCALL | METH_KEYWORDS,
     "release($self, /, *, delay=0, priority=0)\n--\n\nIt goes back; False if it had returned already."},
    {"bury", FAST(claim_bury), METH_FASTCALL | METH_KEYWORDS,
     "bury($self, /, *, reason=None)\n--\n\nIt is handed out no more."},
    {"extend", claim_extend, METH_O,
     "extend($self, seconds, /)\n--\n\nIt lasts so many seconds from now, if that is longer than before."},
    {"__enter__", claim_enter, METH_NOARGS, NULL},
    {"__exit__", claim_exit, METH_VARARGS, NULL},
    {"__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS, NULL},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef properties[] = {
    {"has_ended", get_has_ended, NULL, "Whether it was ended through this object.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

// clang-format off
#define MEMBERS(content_name) { \
    {content_name, T_OBJECT_EX, offsetof(Claim, content), READONLY, NULL}, \
    {"namespace", T_OBJECT_EX, offsetof(Claim, namespace_), READONLY, NULL}, \
    {"id", T_ULONGLONG, offsetof(Claim, id), READONLY, NULL}, \
    {"number", T_ULONGLONG, offsetof(Claim, number), READONLY, NULL}, \
    {"fencing", T_ULONGLONG, offsetof(Claim, number), READONLY, NULL}, \
    {"deliveries", T_UINT, offsetof(Claim, deliveries), READONLY, NULL}, \
    {NULL, 0, 0, 0, NULL}}

static PyMemberDef claim_members[] = MEMBERS("tuple"), item_members[] = MEMBERS("value");

#define SLOTS(members) { \
    {Py_tp_dealloc, claim_dealloc}, {Py_tp_traverse, claim_traverse}, {Py_tp_clear, claim_clear}, \
    {Py_tp_repr, claim_repr}, {Py_tp_methods, methods}, {Py_tp_getset, properties}, {Py_tp_members, members}, \
    {0, NULL}}

static PyType_Slot claim_slots[] = SLOTS(claim_members), item_slots[] = SLOTS(item_members);
// clang-format on

enum { FLAGS = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION };

static PyType_Spec claim_specification = {"sharedspace._sharedspace.Claim", sizeof(Claim), 0, FLAGS, claim_slots};
static PyType_Spec item_specification = {"sharedspace._sharedspace.Item", sizeof(Claim), 0, FLAGS, item_slots};

int claims_begin(PyObject *module) {
    if (claim_type == NULL) claim_type = (PyTypeObject *)PyType_FromSpec(&claim_specification);
    if (item_type == NULL) item_type = (PyTypeObject *)PyType_FromSpec(&item_specification);
    if (claim_type == NULL || item_type == NULL) return -1;
    Py_INCREF(claim_type);
    Py_INCREF(item_type);
    return PyModule_AddObject(module, "Claim", (PyObject *)claim_type) < 0 ||
                   PyModule_AddObject(module, "Item", (PyObject *)item_type) < 0
               ? -1
               : 0;
}

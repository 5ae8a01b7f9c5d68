/* Tuples: write, read, take, claim, count. */
#include "namespace.h"

/* --- Writing --------------------------------------------------------------------------------------------- */

static PyObject *namespace_write(PyObject *object, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    sharedspace_how how = sharedspace_defaults();
    const Keyword keywords[] = {
        {"expires", LIFE, &how.expires_ms, 0}, {"own_lifetime", FLAG, &how.flags, SHAREDSPACE_OWN_LIFETIME}};
    if (read_keywords(arguments + count, names, keywords, 2) < 0) return NULL;
    Buffer buffer;
    buffer_begin(&buffer);
    sharedspace_ns *handle = NULL;
    if (put_tuple(&buffer, arguments, count, &how.flags) == 0) handle = namespace_handle((Namespace *)object);
    if (PyErr_Occurred()) {
        buffer_end(&buffer);
        return NULL;
    }
    sharedspace_bytes tuple = buffer_bytes(&buffer);
    uint64_t id = 0;
    int status;
    CALL(status, sharedspace_write(handle, &tuple, 1, &how, &id, &error));
    buffer_end(&buffer);
    return status < 0 ? NULL : PyLong_FromUnsignedLongLong(id);
}

/* How many of several tuples were records. */
typedef struct {
    size_t all, records;
} Kinds;

/* Appends one of several tuples: a sequence of fields, or a mapping or an instance of a data class, a record. */
static int put_one_tuple(Buffer *buffer, PyObject *tuple, void *context) {
    Kinds *kinds = context;
    kinds->all++;
    if (!PyTuple_Check(tuple) && !PyList_Check(tuple)) {
        uint32_t flags = 0;
        if (put_tuple(buffer, &tuple, 1, &flags) < 0) return -1;
        kinds->records++;
        if (flags & SHAREDSPACE_RECORD) return 0;
        PyErr_Format(PyExc_TypeError, "%R is no tuple", tuple);
        return -1;
    }
    return put_elements(buffer, tuple, 0, VALUES);
}

static PyObject *namespace_write_all(PyObject *object, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    sharedspace_how how = sharedspace_defaults();
    const Keyword keywords[] = {
        {"expires", LIFE, &how.expires_ms, 0}, {"own_lifetime", FLAG, &how.flags, SHAREDSPACE_OWN_LIFETIME}};
    if (count != 1) return PyErr_Format(PyExc_TypeError, "write_all() takes one positional argument, the tuples");
    if (read_keywords(arguments + count, names, keywords, 2) < 0) return NULL;
    Values values;
    Kinds kinds = {0, 0};
    uint64_t *numbers = NULL;
    PyObject *ids = NULL;
    sharedspace_ns *handle = NULL;
    if (values_begin(&values, arguments[0], put_one_tuple, &kinds) == 0) handle = namespace_handle((Namespace *)object);
    if (!PyErr_Occurred() && kinds.records > 0 && kinds.records < kinds.all)
        PyErr_SetString(PyExc_ValueError, "records and other tuples are not written in one call; use a transaction");
    if (!PyErr_Occurred() && (numbers = PyMem_Calloc(values.count + 1, sizeof *numbers)) == NULL) PyErr_NoMemory();
    if (!PyErr_Occurred()) {
        if (kinds.records > 0) how.flags |= SHAREDSPACE_RECORD;
        int status = 1;
        if (values.count > 0)
            CALL(status, sharedspace_write(handle, values.all, values.count, &how, numbers, &error));
        if (status >= 0) ids = list_of_numbers(numbers, values.count);
    }
    PyMem_Free(numbers);
    values_end(&values);
    return ids;
}

/* --- Finding --------------------------------------------------------------------------------------------- */

static PyObject *find(PyObject *object, PyObject *const *arguments, Py_ssize_t count, PyObject *names, int what) {
    Namespace *self = (Namespace *)object;
    sharedspace_how how = sharedspace_defaults();
    const Keyword keywords[] = {
        {"timeout", WAIT, &how.timeout_ms, 0},
        {"newest", FLAG, &how.flags, SHAREDSPACE_NEWEST},
        {"deadline", LIFE, &how.deadline_ms, 0}};
    if (read_keywords(arguments + count, names, keywords, what == SHAREDSPACE_CLAIM ? 3 : 2) < 0) return NULL;
    Selection selection;
    sharedspace_ns *handle = NULL;
    if (selection_begin(&selection, arguments, count) == 0) handle = namespace_handle(self);
    if (PyErr_Occurred()) {
        selection_end(&selection);
        return NULL;
    }
    how.flags |= selection.flags;
    /* A data class may refuse a record, which stays then: its take is a claim until the instance is made. */
    int is_claimed_first = what == SHAREDSPACE_TAKE && selection.type != NULL;
    if (is_claimed_first) what = SHAREDSPACE_CLAIM;
    ask_for_signals(&how);
    sharedspace_result result = borrow_result(self);
    int status;
    CALL(status, sharedspace_find(handle, what, selection_bytes(&selection), selection.count, &how, &result, &error));
    PyObject *found = NULL;
    if (status >= 0) {
        keep_late_exception();
        if (status == 0) {
            found = new_none();
        } else {
            found = selection_match(&selection, &result);
            if (what == SHAREDSPACE_CLAIM) found = claim_new(claim_type, self, found, &result);
            if (is_claimed_first) found = claim_take(found);
        }
    }
    return_result(self, &result);
    selection_end(&selection);
    return found;
}

static PyObject *namespace_read(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    return find(self, arguments, count, names, SHAREDSPACE_READ);
}

static PyObject *namespace_take(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    return find(self, arguments, count, names, SHAREDSPACE_TAKE);
}

static PyObject *namespace_claim(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    return find(self, arguments, count, names, SHAREDSPACE_CLAIM);
}

/* What the results of find_all become. */
typedef struct {
    const Selection *selection;
    Namespace *namespace_;
    int what;
} Finding;

static PyObject *make_match(void *context, const sharedspace_result *result) {
    const Finding *finding = context;
    PyObject *match = selection_match(finding->selection, result);
    return finding->what == SHAREDSPACE_CLAIM ? claim_new(claim_type, finding->namespace_, match, result) : match;
}

static void drop_match(void *context, const sharedspace_result *result) {
    const Finding *finding = context;
    if (finding->what == SHAREDSPACE_CLAIM) claim_give_back(finding->namespace_, result);
}

/* Completes the claims of a list, which others have not seen since they were claimed in one transaction, and puts what
 * they hold in their places. Takes over the reference. */
static PyObject *take_claims(PyObject *all) {
    for (Py_ssize_t i = 0; all != NULL && i < PyList_Size(all); i++) {
        PyObject *claim = PyList_GetItem(all, i);
        Py_INCREF(claim);
        PyObject *content = claim_take(claim);
        if (content == NULL) Py_CLEAR(all);
        else PyList_SetItem(all, i, content);
    }
    return all;
}

static PyObject *find_all(PyObject *object, PyObject *const *arguments, Py_ssize_t count, PyObject *names, int what) {
    sharedspace_how how = sharedspace_defaults();
    int64_t max = 0;
    const Keyword keywords[] = {
        {"max", NUMBER, &max, 0},
        {"newest", FLAG, &how.flags, SHAREDSPACE_NEWEST},
        {"deadline", LIFE, &how.deadline_ms, 0}};
    if (read_keywords(arguments + count, names, keywords, what == SHAREDSPACE_CLAIM ? 3 : 2) < 0) return NULL;
    if (max < 0) return PyErr_Format(PyExc_ValueError, "max is negative");
    how.max = (uint64_t)max;
    Selection selection;
    sharedspace_ns *handle = NULL;
    if (selection_begin(&selection, arguments, count) == 0) handle = namespace_handle((Namespace *)object);
    PyObject *all = NULL;
    if (!PyErr_Occurred()) {
        how.flags |= selection.flags;
        int is_claimed_first = what == SHAREDSPACE_TAKE && selection.type != NULL;
        if (is_claimed_first) what = SHAREDSPACE_CLAIM;
        sharedspace_list *list = NULL;
        int status;
        const sharedspace_bytes *templates = selection_bytes(&selection);
        CALL(status, sharedspace_find_all(handle, what, templates, selection.count, &how, &list, &error));
        Finding finding = {&selection, (Namespace *)object, what};
        all = status < 0 ? NULL : list_of(status == 0 ? NULL : list, make_match, drop_match, &finding);
        if (is_claimed_first) all = take_claims(all);
    }
    selection_end(&selection);
    return all;
}

static PyObject *namespace_read_all(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    return find_all(self, arguments, count, names, SHAREDSPACE_READ);
}

static PyObject *namespace_take_all(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    return find_all(self, arguments, count, names, SHAREDSPACE_TAKE);
}

static PyObject *namespace_claim_all(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    return find_all(self, arguments, count, names, SHAREDSPACE_CLAIM);
}

static PyObject *namespace_count(PyObject *object, PyObject *const *arguments, Py_ssize_t count) {
    sharedspace_how how = sharedspace_defaults();
    Selection selection;
    sharedspace_ns *handle = NULL;
    if (selection_begin(&selection, arguments, count) == 0) handle = namespace_handle((Namespace *)object);
    PyObject *number = NULL;
    if (!PyErr_Occurred()) {
        how.flags |= selection.flags;
        int64_t found;
        CALL(found, sharedspace_count(handle, selection_bytes(&selection), selection.count, &how, &error));
        number = found < 0 ? NULL : PyLong_FromLongLong(found);
    }
    selection_end(&selection);
    return number;
}

static PyObject *bury_or_kick(
    PyObject *object, PyObject *const *arguments, Py_ssize_t count, PyObject *names, int is_kick) {
    sharedspace_how how = sharedspace_defaults();
    int64_t max = 0, id = 0;
    const Keyword keywords[] = {{"max", NUMBER, &max, 0}, {"id", NUMBER, &id, 0}};
    if (read_keywords(arguments + count, names, keywords, is_kick ? 2 : 1) < 0) return NULL;
    if (max < 0 || id < 0) return PyErr_Format(PyExc_ValueError, "a number is negative");
    how.max = (uint64_t)max;
    how.id = (uint64_t)id;
    Selection selection;
    sharedspace_ns *handle = NULL;
    if (selection_begin(&selection, arguments, count) == 0) handle = namespace_handle((Namespace *)object);
    PyObject *number = NULL;
    if (!PyErr_Occurred()) {
        how.flags |= selection.flags;
        const sharedspace_bytes *templates = selection_bytes(&selection);
        int64_t moved;
        if (is_kick) CALL(moved, sharedspace_kick(handle, templates, selection.count, &how, &error));
        else CALL(moved, sharedspace_bury(handle, templates, selection.count, &how, &error));
        number = moved < 0 ? NULL : PyLong_FromLongLong(moved);
    }
    selection_end(&selection);
    return number;
}

static PyObject *namespace_bury(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    return bury_or_kick(self, arguments, count, names, 0);
}

static PyObject *namespace_kick(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    return bury_or_kick(self, arguments, count, names, 1);
}

static PyObject *make_seen(void *context, const sharedspace_result *result) {
    PyObject *match = selection_match(((const Finding *)context)->selection, result);
    if (match == NULL) return NULL;
    return Py_BuildValue(
        "NKIKiL", match, (unsigned long long)result->id, result->deliveries, (unsigned long long)result->number,
        (int)result->pid, (long long)result->time_ms);
}

/* _out_of_sight(what, max, template): (match, id, deliveries, number, pid, deadline) of each. */
static PyObject *namespace_out_of_sight(PyObject *object, PyObject *arguments) {
    sharedspace_how how = sharedspace_defaults();
    PyObject *template_;
    int what;
    if (!PyArg_ParseTuple(arguments, "iO&O!", &what, read_unsigned, &how.max, &PyTuple_Type, &template_)) return NULL;
    Selection selection;
    sharedspace_ns *handle = NULL;
    if (selection_begin_with(&selection, template_) == 0) handle = namespace_handle((Namespace *)object);
    PyObject *all = NULL;
    if (!PyErr_Occurred()) {
        how.flags |= selection.flags;
        const sharedspace_bytes *templates = selection_bytes(&selection);
        sharedspace_list *list = NULL;
        int status;
        CALL(status, sharedspace_find_all(handle, what, templates, selection.count, &how, &list, &error));
        Finding finding = {&selection, (Namespace *)object, what};
        if (status >= 0) all = list_of(status == 0 ? NULL : list, make_seen, NULL, &finding);
    }
    selection_end(&selection);
    return all;
}

/* evaluate(*words, timeout=None): the id of the tuple, or None if the time has passed. */
static PyObject *namespace_evaluate(PyObject *object, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    enum { MOST = 256 };
    const char *words[MOST];
    sharedspace_how how = sharedspace_defaults();
    how.timeout_ms = SHAREDSPACE_FOREVER;
    const Keyword keywords[] = {{"timeout", WAIT, &how.timeout_ms, 0}};
    if (read_keywords(arguments + count, names, keywords, 1) < 0) return NULL;
    if (count > MOST) return PyErr_Format(PyExc_ValueError, "more than %d words", MOST);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (read_text(arguments[i], "a word", &words[i]) < 0) return NULL;
    }
    sharedspace_ns *handle = namespace_handle((Namespace *)object);
    if (PyErr_Occurred()) return NULL;
    if (how.timeout_ms == 0) how.timeout_ms = 1;
    ask_for_signals(&how);
    uint64_t id = 0;
    int status;
    CALL(status, sharedspace_evaluate(handle, words, (size_t)count, &how, &id, &error));
    if (status < 0) return NULL;
    keep_late_exception();
    return status == 0 ? new_none() : PyLong_FromUnsignedLongLong(id);
}

/* --- Transactions ---------------------------------------------------------------------------------------- */

/* _transact(steps, claims): 1 and the results, or 0 and which step has found nothing. The claims have ended with the
 * steps when it returns: a signal's handler that raises after it finds them so. */
static PyObject *namespace_transact(PyObject *object, PyObject *arguments) {
    Namespace *self = (Namespace *)object;
    PyObject *steps, *claims;
    if (!PyArg_ParseTuple(arguments, "O!O!", &PyList_Type, &steps, &PyTuple_Type, &claims)) return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_Size(claims); i++) {
        PyObject *claim = PyTuple_GetItem(claims, i);
        if (Py_TYPE(claim) != claim_type && Py_TYPE(claim) != item_type)
            return PyErr_Format(PyExc_TypeError, "%R is no claim", claim);
    }
    Buffer buffer;
    buffer_begin(&buffer);
    sharedspace_ns *handle = NULL;
    int status = 0;
    for (Py_ssize_t i = 0; i < PyList_Size(steps) && status == 0; i++)
        status = put_value(&buffer, PyList_GetItem(steps, i), 0, VALUES);
    if (status == 0) handle = namespace_handle(self);
    if (PyErr_Occurred()) {
        buffer_end(&buffer);
        return NULL;
    }
    sharedspace_result result = borrow_result(self);
    CALL(status, sharedspace_transact(handle, buffer_bytes(&buffer), NULL, &result, &error));
    buffer_end(&buffer);
    for (Py_ssize_t i = 0; status == 1 && i < PyTuple_Size(claims); i++)
        ((Claim *)PyTuple_GetItem(claims, i))->has_ended = 1;
    /* Results that are nested too deep for bytes are JSON. */
    PyObject *answer;
    if (status < 0) answer = NULL;
    else if (status == 1 && !(result.flags & SHAREDSPACE_JSON)) answer = get_tuple(&result);
    else answer = PyUnicode_DecodeUTF8((const char *)result.bytes, (Py_ssize_t)result.count, NULL);
    if (answer != NULL) {
        PyObject *pair = Py_BuildValue("iN", status, answer);
        answer = pair;
    }
    return_result(self, &result);
    return answer;
}

PyMethodDef tuple_methods[] = {
    {"write", FAST(namespace_write), METH_FASTCALL | METH_KEYWORDS,
     "write($self, /, *fields, expires=None, own_lifetime=False)\n--\n\nWrite a tuple, or a record; its id."},
    {"write_all", FAST(namespace_write_all), METH_FASTCALL | METH_KEYWORDS,
     "write_all($self, tuples, /, *, expires=None, own_lifetime=False)\n--\n\nWrite tuples, all or none; their ids."},
    {"read", FAST(namespace_read), METH_FASTCALL | METH_KEYWORDS,
     "read($self, /, *template, timeout=0, newest=False)\n--\n\nThe oldest tuple that matches; it stays. None if there "
     "is none in time."},
    {"take", FAST(namespace_take), METH_FASTCALL | METH_KEYWORDS,
     "take($self, /, *template, timeout=0, newest=False)\n--\n\nRemove the oldest tuple that matches, for good. None "
     "if there is none in time."},
    {"claim", FAST(namespace_claim), METH_FASTCALL | METH_KEYWORDS,
     "claim($self, /, *template, timeout=0, newest=False, deadline=None)\n--\n\nClaim the oldest tuple that matches: "
     "it returns if this process ends first. None if there is none in time."},
    {"read_all", FAST(namespace_read_all), METH_FASTCALL | METH_KEYWORDS,
     "read_all($self, /, *template, max=None, newest=False)\n--\n\nAll tuples that match, of one moment."},
    {"take_all", FAST(namespace_take_all), METH_FASTCALL | METH_KEYWORDS,
     "take_all($self, /, *template, max=None, newest=False)\n--\n\nRemove all tuples that match, in one transaction."},
    {"claim_all", FAST(namespace_claim_all), METH_FASTCALL | METH_KEYWORDS,
     "claim_all($self, /, *template, max=None, newest=False, deadline=None)\n--\n\nClaim all tuples that match, in one "
     "transaction."},
    {"count", FAST(namespace_count), METH_FASTCALL,
     "count($self, /, *template)\n--\n\nHow many tuples match; without a template all."},
    {"bury", FAST(namespace_bury), METH_FASTCALL | METH_KEYWORDS,
     "bury($self, /, *template, max=None)\n--\n\nPut tuples that match out of sight until they are kicked; how many."},
    {"kick", FAST(namespace_kick), METH_FASTCALL | METH_KEYWORDS,
     "kick($self, /, *template, max=None, id=None)\n--\n\nPut buried tuples that match, or that with an id, back; how "
     "many."},
    {"evaluate", FAST(namespace_evaluate), METH_FASTCALL | METH_KEYWORDS,
     "evaluate($self, /, *words, timeout=None)\n--\n\nRun a program, and write the tuple that it prints in JSON form; "
     "its id, or None if the time has passed."},
    {"_out_of_sight", namespace_out_of_sight, METH_VARARGS, NULL},
    {"_transact", namespace_transact, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

#include "codec.h"

/* --- Buffers --------------------------------------------------------------------------------------------- */

void buffer_begin(Buffer *buffer) {
    buffer->bytes = buffer->local;
    buffer->count = 0;
    buffer->capacity = sizeof buffer->local;
}

void buffer_end(Buffer *buffer) {
    if (buffer->bytes != buffer->local) PyMem_Free(buffer->bytes);
}

sharedspace_bytes buffer_bytes(const Buffer *buffer) {
    sharedspace_bytes bytes = {buffer->bytes, buffer->count};
    return bytes;
}

static int need(Buffer *buffer, size_t more) {
    if (buffer->count + more <= buffer->capacity) return 0;
    size_t capacity = (buffer->count + more) + (buffer->count + more) / 2;
    uint8_t *bytes = PyMem_Malloc(capacity);
    if (bytes == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(bytes, buffer->bytes, buffer->count);
    buffer_end(buffer);
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return 0;
}

static int put_byte(Buffer *buffer, uint8_t byte) {
    if (need(buffer, 1) < 0) return -1;
    buffer->bytes[buffer->count++] = byte;
    return 0;
}

/* --- Encoding -------------------------------------------------------------------------------------------- */

/* As deep as the tuple layer goes. */
enum { DEEPEST = 64 };

// clang-format off
enum {
    NOTHING = 0x00, BYTES = 0x01, STRING = 0x02, ARRAY = 0x05, SMALLEST = 0x0c, ZERO = 0x14, LARGEST = 0x1c, DOUBLE = 0x21,
    FALSE = 0x26, TRUE = 0x27, UUID = 0x30, OBJECT = 0x40, FORMAL = 0x41, RANGE = 0x42, PATTERN = 0x43, REST = 0x44, ANY = 0x45
};
// clang-format on

/* What sharedspace._fields.adapt says about a value that is not known here. */
enum { AGAIN = 0, A_FORMAL = 1, A_RANGE = 2, A_PATTERN = 3, A_REST = 4, A_WORD = 5, A_UUID = 6 };

/* What is asked in Python: its module is imported at the first question. */
typedef struct {
    const char *module, *name;
    PyObject *found;
} Asked;

static Asked adapt = {"sharedspace._fields", "adapt", NULL}, select_one = {"sharedspace._fields", "select", NULL},
             named = {"sharedspace._fields", "named", NULL},
             instantiate = {"sharedspace._fields", "instantiate", NULL}, uuid_type = {"uuid", "UUID", NULL};

void codec_begin(void) {
    Asked *const all[] = {&adapt, &select_one, &named, &instantiate, &uuid_type};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        Py_CLEAR(all[i]->found);
}

/* A borrowed reference; NULL with an exception. */
static PyObject *ask(Asked *asked) {
    if (asked->found == NULL) {
        PyObject *module = PyImport_ImportModule(asked->module);
        PyObject *found = module == NULL ? NULL : PyObject_GetAttrString(module, asked->name);
        Py_XDECREF(module);
        /* Another thread may have found it meanwhile. */
        if (asked->found == NULL) asked->found = found;
        else Py_XDECREF(found);
    }
    return asked->found;
}

static int put_escaped(Buffer *buffer, uint8_t code, const char *content, Py_ssize_t count) {
    size_t zeros = 0;
    const char *end = content + count, *zero = content;
    while ((zero = memchr(zero, 0, (size_t)(end - zero))) != NULL) {
        zeros++;
        if (++zero == end) break;
    }
    if (need(buffer, (size_t)count + zeros + 2) < 0) return -1;
    buffer->bytes[buffer->count++] = code;
    if (zeros == 0) {
        memcpy(buffer->bytes + buffer->count, content, (size_t)count);
        buffer->count += (size_t)count;
    } else {
        for (; content < end; content++) {
            buffer->bytes[buffer->count++] = (uint8_t)*content;
            if (*content == 0) buffer->bytes[buffer->count++] = 0xff;
        }
    }
    buffer->bytes[buffer->count++] = 0;
    return 0;
}

static int put_string(Buffer *buffer, PyObject *string) {
    Py_ssize_t count;
    const char *content = PyUnicode_AsUTF8AndSize(string, &count);
    return content == NULL ? -1 : put_escaped(buffer, STRING, content, count);
}

static int put_bytes(Buffer *buffer, PyObject *bytes) {
    Py_ssize_t count;
    char *content;
    if (PyBytes_AsStringAndSize(bytes, &content, &count) < 0) return -1;
    return put_escaped(buffer, BYTES, content, count);
}

static int put_big_endian(Buffer *buffer, uint8_t code, uint64_t number, int length) {
    if (need(buffer, 9) < 0) return -1;
    buffer->bytes[buffer->count++] = code;
    for (int i = length - 1; i >= 0; i--)
        buffer->bytes[buffer->count++] = (uint8_t)(number >> (8 * i));
    return 0;
}

static int put_integer(Buffer *buffer, PyObject *integer) {
    int beyond;
    long long number = PyLong_AsLongLongAndOverflow(integer, &beyond);
    if (beyond != 0) {
        PyErr_SetString(PyExc_OverflowError, "an integer has more than 64 bits; use a string");
        return -1;
    }
    if (number == -1 && PyErr_Occurred()) return -1;
    uint64_t magnitude = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    int length = magnitude == 0 ? 0 : 8 - __builtin_clzll(magnitude) / 8;
    return put_big_endian(
        buffer, (uint8_t)(number < 0 ? ZERO - length : ZERO + length), number < 0 ? ~magnitude : magnitude, length);
}

static int put_double(Buffer *buffer, PyObject *value) {
    double number = PyFloat_AsDouble(value);
    if (number != number) {
        PyErr_SetString(PyExc_ValueError, "NaN is no field: it equals nothing, not even itself");
        return -1;
    }
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return put_big_endian(buffer, DOUBLE, bits >> 63 ? ~bits : bits | 1ULL << 63, 8);
}

static int open_container(Buffer *buffer, uint8_t code, int depth) {
    if (depth >= DEEPEST) {
        PyErr_Format(
            PyExc_ValueError, "nested deeper than %d levels, or a list or dictionary contains itself", DEEPEST);
        return -1;
    }
    return put_byte(buffer, code);
}

static int has_changed(const char *what) {
    PyErr_Format(PyExc_RuntimeError, "%s changed while it was written", what);
    return -1;
}

int put_elements(Buffer *buffer, PyObject *sequence, int depth, Mode mode) {
    /* What a subclass says about its length need not be true: its elements are those over which it iterates. */
    int is_plain_one = PyList_CheckExact(sequence) || PyTuple_CheckExact(sequence);
    PyObject *elements = is_plain_one ? sequence : PySequence_List(sequence);
    if (elements == NULL) return -1;
    if (is_plain_one) Py_INCREF(elements);
    Py_ssize_t count = PySequence_Size(elements);
    int status = 0;
    for (Py_ssize_t i = 0; i < count && status == 0; i++) {
        PyObject *element = PySequence_GetItem(elements, i);
        status = element == NULL ? -1 : put_value(buffer, element, depth, mode);
        Py_XDECREF(element);
        /* What is asked about an element may change the list. */
        if (status == 0 && PySequence_Size(elements) != count) status = has_changed("the list");
    }
    Py_DECREF(elements);
    return status;
}

static int put_sequence(Buffer *buffer, PyObject *sequence, int depth, Mode mode) {
    if (open_container(buffer, ARRAY, depth) < 0 || put_elements(buffer, sequence, depth + 1, mode) < 0) return -1;
    return put_byte(buffer, 0);
}

static int put_object(Buffer *buffer, PyObject *dictionary, int depth, Mode mode);

/* Whether all names are strings, and none is of a class of its own, whose order and equality may be others. */
static int has_plain_names(PyObject *names) {
    for (Py_ssize_t i = 0; i < PyList_Size(names); i++) {
        if (!PyUnicode_CheckExact(PyList_GetItem(names, i))) return 0;
    }
    return 1;
}

/* The dictionary with strings as names. */
static int put_named(Buffer *buffer, PyObject *dictionary, int depth, Mode mode) {
    PyObject *function = ask(&named), *other = NULL;
    if (function != NULL) other = PyObject_CallFunctionObjArgs(function, dictionary, NULL);
    int status = other == NULL ? -1 : put_object(buffer, other, depth, mode);
    Py_XDECREF(other);
    return status;
}

static int put_object(Buffer *buffer, PyObject *dictionary, int depth, Mode mode) {
    PyObject *names = PyDict_Keys(dictionary);
    if (names == NULL) return -1;
    if (!has_plain_names(names)) {
        Py_DECREF(names);
        return put_named(buffer, dictionary, depth, mode);
    }
    /* They come in the order of their bytes, which is that of their code points. */
    int status = PyList_Sort(names) < 0 ? -1 : open_container(buffer, OBJECT, depth);
    for (Py_ssize_t i = 0; i < PyList_Size(names) && status == 0; i++) {
        PyObject *name = PyList_GetItem(names, i), *value = PyDict_GetItemWithError(dictionary, name);
        if (value == NULL) {
            status = PyErr_Occurred() ? -1 : has_changed("the dictionary");
            break;
        }
        Py_INCREF(value);
        status = put_string(buffer, name) < 0 ? -1 : put_value(buffer, value, depth + 1, mode);
        Py_DECREF(value);
        if (status == 0 && PyDict_Size(dictionary) != PyList_Size(names)) status = has_changed("the dictionary");
    }
    Py_DECREF(names);
    return status < 0 ? -1 : put_byte(buffer, 0);
}

/* A bound of a range; None for none. */
static int put_bound(Buffer *buffer, PyObject *bound) {
    return bound == Py_None ? put_byte(buffer, NOTHING) : put_value(buffer, bound, 0, VALUES);
}

/* A value that is not known here. */
static int put_other(Buffer *buffer, PyObject *value, int depth, Mode mode) {
    PyObject *function = ask(&adapt), *answer = NULL;
    if (function != NULL) answer = PyObject_CallFunction(function, "Oi", value, (int)mode);
    if (answer == NULL) return -1;
    int kind, status = -1;
    PyObject *content;
    if (PyArg_ParseTuple(answer, "iO", &kind, &content)) {
        switch (kind) {
        case AGAIN: status = put_value(buffer, content, depth, mode); break;
        case A_FORMAL:
            status = put_byte(buffer, FORMAL) < 0 ? -1 : put_byte(buffer, (uint8_t)PyLong_AsLong(content));
            break;
        case A_RANGE: {
            PyObject *lower, *upper;
            int is_closed;
            if (!PyArg_ParseTuple(content, "OOp", &lower, &upper, &is_closed)) break;
            if (put_byte(buffer, RANGE) < 0 || put_bound(buffer, lower) < 0 || put_bound(buffer, upper) < 0) break;
            status = put_byte(buffer, is_closed ? TRUE : FALSE);
            break;
        }
        case A_PATTERN: status = put_byte(buffer, PATTERN) < 0 ? -1 : put_string(buffer, content); break;
        case A_REST: status = put_byte(buffer, REST); break;
        case A_WORD: status = put_string(buffer, content); break;
        case A_UUID: {
            char *bytes;
            Py_ssize_t count;
            if (need(buffer, 17) < 0 || PyBytes_AsStringAndSize(content, &bytes, &count) < 0) break;
            if (count != 16) {
                PyErr_Format(PyExc_ValueError, "%R has not the 16 bytes of a UUID", value);
                break;
            }
            buffer->bytes[buffer->count++] = UUID;
            memcpy(buffer->bytes + buffer->count, bytes, 16);
            buffer->count += 16;
            status = 0;
            break;
        }
        default: PyErr_Format(PyExc_SystemError, "adapt answers %d", kind);
        }
    }
    Py_DECREF(answer);
    return status;
}

/* The code of the type that a formal stands for; -1 if it is none. */
static int formal_code(PyObject *value) {
    if (value == Py_Ellipsis) return NOTHING;
    if (!PyType_Check(value)) return -1;
    if (value == (PyObject *)&PyLong_Type) return ZERO;
    if (value == (PyObject *)&PyUnicode_Type) return STRING;
    if (value == (PyObject *)&PyFloat_Type) return DOUBLE;
    if (value == (PyObject *)&PyBool_Type) return FALSE;
    if (value == (PyObject *)&PyBytes_Type) return BYTES;
    if (value == (PyObject *)&PyList_Type) return ARRAY;
    if (value == (PyObject *)&PyDict_Type) return OBJECT;
    return -1;
}

/* A string that stands for itself in a step, where words that begin with a question mark are formals. */
static int put_word(Buffer *buffer, PyObject *string) {
    Py_ssize_t count;
    const char *content = PyUnicode_AsUTF8AndSize(string, &count);
    if (content == NULL) return -1;
    if (count == 0 || content[0] != '?') return put_escaped(buffer, STRING, content, count);
    PyObject *word = PyUnicode_FromFormat("?%U", string);
    int status = word == NULL ? -1 : put_string(buffer, word);
    Py_XDECREF(word);
    return status;
}

int put_value(Buffer *buffer, PyObject *value, int depth, Mode mode) {
    if (PyUnicode_Check(value)) return mode == STEP ? put_word(buffer, value) : put_string(buffer, value);
    if (value == Py_True) return put_byte(buffer, TRUE);
    if (value == Py_False) return put_byte(buffer, FALSE);
    if (PyLong_Check(value)) return put_integer(buffer, value);
    if (value == Py_None) {
        if (put_byte(buffer, NOTHING) < 0) return -1;
        /* In a list a bare zero would be its end. */
        return depth > 0 ? put_byte(buffer, 0xff) : 0;
    }
    if (PyFloat_Check(value)) return put_double(buffer, value);
    if (PyBytes_Check(value)) return put_bytes(buffer, value);
    if (mode == TEMPLATE) {
        int code = formal_code(value);
        if (code >= 0) return put_byte(buffer, FORMAL) < 0 ? -1 : put_byte(buffer, (uint8_t)code);
    }
    if (PyList_Check(value) || PyTuple_Check(value)) return put_sequence(buffer, value, depth, mode);
    if (PyDict_Check(value)) return put_object(buffer, value, depth, mode);
    if (Py_EnterRecursiveCall(" while a field is encoded")) return -1;
    int status = put_other(buffer, value, depth, mode);
    Py_LeaveRecursiveCall();
    return status;
}

int put_fields(Buffer *buffer, PyObject *const *fields, Py_ssize_t count, Mode mode) {
    for (Py_ssize_t i = 0; i < count; i++) {
        if (put_value(buffer, fields[i], 0, mode) < 0) return -1;
    }
    return 0;
}

int put_one_value(Buffer *buffer, PyObject *value, void *nothing) {
    (void)nothing;
    return put_value(buffer, value, 0, VALUES);
}

int values_begin(
    Values *values, PyObject *sequence, int (*put)(Buffer *buffer, PyObject *one, void *context), void *context) {
    buffer_begin(&values->buffer);
    values->all = NULL;
    values->count = 0;
    /* A copy: encoding may run code of the caller's. */
    PyObject *list = PySequence_List(sequence);
    if (list == NULL) return -1;
    int status = 0;
    size_t count = (size_t)PyList_Size(list);
    values->all = PyMem_Calloc(count + 1, sizeof *values->all);
    if (values->all == NULL) {
        PyErr_NoMemory();
        status = -1;
    }
    for (size_t i = 0; i < count && status == 0; i++) {
        size_t start = values->buffer.count;
        status = put(&values->buffer, PyList_GetItem(list, (Py_ssize_t)i), context);
        values->all[i].count = values->buffer.count - start;
    }
    Py_DECREF(list);
    if (status < 0) return -1;
    /* The buffer moves no more. */
    const uint8_t *bytes = values->buffer.bytes;
    for (size_t i = 0; i < count; i++) {
        values->all[i].bytes = bytes;
        bytes += values->all[i].count;
    }
    values->count = count;
    return 0;
}

void values_end(Values *values) {
    PyMem_Free(values->all);
    buffer_end(&values->buffer);
}

/* Whether one argument can only be a field: what is asked most is not asked in Python. */
static int is_plain(PyObject *value) {
    return PyUnicode_Check(value) || PyLong_Check(value) || PyFloat_Check(value) || PyBytes_Check(value) ||
           value == Py_None || formal_code(value) >= 0;
}

int put_tuple(Buffer *buffer, PyObject *const *fields, Py_ssize_t count, uint32_t *flags) {
    if (count != 1 || is_plain(fields[0]) || PyList_Check(fields[0]) || PyTuple_Check(fields[0]))
        return put_fields(buffer, fields, count, VALUES);
    if (PyDict_Check(fields[0])) {
        *flags |= SHAREDSPACE_RECORD;
        return put_object(buffer, fields[0], 0, VALUES);
    }
    size_t start = buffer->count;
    if (put_value(buffer, fields[0], 0, VALUES) < 0) return -1;
    if (buffer->bytes[start] == OBJECT) *flags |= SHAREDSPACE_RECORD;
    return 0;
}

/* --- Templates ------------------------------------------------------------------------------------------- */

/* One template: a tuple of fields, or a dictionary for records. */
static int put_template(Buffer *buffer, PyObject *template_) {
    if (!PyTuple_Check(template_)) return put_value(buffer, template_, 0, TEMPLATE);
    for (Py_ssize_t i = 0; i < PyTuple_Size(template_); i++) {
        if (put_value(buffer, PyTuple_GetItem(template_, i), 0, TEMPLATE) < 0) return -1;
    }
    return 0;
}

/* Several templates, or one of a data class or mapping, as sharedspace._fields.select says it. */
static int put_selection(Selection *selection, PyObject *templates) {
    Py_ssize_t count = PyList_Size(templates);
    if (count < 1) return -1;
    if (put_template(&selection->first, PyList_GetItem(templates, 0)) < 0) return -1;
    selection->one = buffer_bytes(&selection->first);
    if (count == 1) return 0;
    selection->more = PyMem_Malloc(sizeof(Buffer) * (size_t)(count - 1));
    selection->all = PyMem_Malloc(sizeof(sharedspace_bytes) * (size_t)count);
    if (selection->more == NULL || selection->all == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    selection->all[0] = selection->one;
    for (Py_ssize_t i = 1; i < count; i++) {
        Buffer *buffer = &selection->more[i - 1];
        buffer_begin(buffer);
        selection->count++;
        if (put_template(buffer, PyList_GetItem(templates, i)) < 0) return -1;
        selection->all[i] = buffer_bytes(buffer);
    }
    return 0;
}

int selection_begin(Selection *selection, PyObject *const *fields, Py_ssize_t count) {
    buffer_begin(&selection->first);
    selection->more = NULL;
    selection->all = NULL;
    selection->count = 1;
    selection->flags = 0;
    selection->type = NULL;
    int status;
    if (count == 0) {
        status = put_byte(&selection->first, ANY);
    } else if (count > 1 || is_plain(fields[0])) {
        status = put_fields(&selection->first, fields, count, TEMPLATE);
    } else {
        PyObject *function = ask(&select_one), *answer = NULL, *templates, *type;
        int is_record;
        status = -1;
        if (function != NULL) answer = PyObject_CallFunction(function, "O", fields[0]);
        if (answer != NULL && PyArg_ParseTuple(answer, "O!pO", &PyList_Type, &templates, &is_record, &type)) {
            if (is_record) selection->flags = SHAREDSPACE_RECORD;
            if (type != Py_None) {
                Py_INCREF(type);
                selection->type = type;
            }
            status = put_selection(selection, templates);
        }
        Py_XDECREF(answer);
    }
    selection->one = buffer_bytes(&selection->first);
    return status;
}

int selection_begin_with(Selection *selection, PyObject *template_) {
    enum { FEW = 16 };
    Py_ssize_t count = PyTuple_Size(template_);
    PyObject *few[FEW], **fields = count <= FEW ? few : PyMem_Malloc(sizeof *fields * (size_t)count);
    if (count < 0 || fields == NULL) {
        if (!PyErr_Occurred()) PyErr_NoMemory();
        count = 0;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        fields[i] = PyTuple_GetItem(template_, i);
    int status = selection_begin(selection, fields, count);
    if (fields != few) PyMem_Free(fields);
    return PyErr_Occurred() ? -1 : status;
}

void selection_end(Selection *selection) {
    for (size_t i = 1; i < selection->count; i++)
        buffer_end(&selection->more[i - 1]);
    PyMem_Free(selection->more);
    PyMem_Free(selection->all);
    buffer_end(&selection->first);
    Py_XDECREF(selection->type);
}

PyObject *selection_match(const Selection *selection, const sharedspace_result *result) {
    PyObject *tuple = get_tuple(result);
    if (tuple == NULL || selection->type == NULL) return tuple;
    PyObject *function = ask(&instantiate), *instance = NULL;
    if (function != NULL) instance = PyObject_CallFunctionObjArgs(function, selection->type, tuple, NULL);
    Py_DECREF(tuple);
    return instance;
}

/* --- Decoding -------------------------------------------------------------------------------------------- */

/* Bytes that are being read. */
typedef struct {
    const uint8_t *next, *end;
} Reader;

static PyObject *malformed(void) {
    PyErr_SetString(PyExc_ValueError, "the library gave bytes that are no tuple");
    return NULL;
}

static PyObject *read_value(Reader *reader, int depth);

static PyObject *read_text(Reader *reader, uint8_t code) {
    const uint8_t *start = reader->next, *end = start;
    int escapes = 0;
    for (;;) {
        end = memchr(end, 0, (size_t)(reader->end - end));
        if (end == NULL) return malformed();
        if (end + 1 == reader->end || end[1] != 0xff) break;
        escapes++;
        end += 2;
    }
    reader->next = end + 1;
    char *content = (char *)start;
    Py_ssize_t count = end - start - escapes;
    if (escapes > 0) {
        if ((content = PyMem_Malloc((size_t)count)) == NULL) return PyErr_NoMemory();
        char *to = content;
        for (; start < end; start++) {
            *to++ = (char)*start;
            if (*start == 0) start++;
        }
    }
    PyObject *value =
        code == STRING ? PyUnicode_DecodeUTF8(content, count, NULL) : PyBytes_FromStringAndSize(content, count);
    if (escapes > 0) PyMem_Free(content);
    return value;
}

static int read_big_endian(Reader *reader, int length, uint64_t *number) {
    if (reader->end - reader->next < length) {
        malformed();
        return -1;
    }
    for (*number = 0; length > 0; length--)
        *number = *number << 8 | *reader->next++;
    return 0;
}

static PyObject *read_integer(Reader *reader, uint8_t code) {
    int length = code >= ZERO ? code - ZERO : ZERO - code;
    uint64_t number;
    if (read_big_endian(reader, length, &number) < 0) return NULL;
    if (code >= ZERO) return PyLong_FromLongLong((long long)number);
    if (length < 8) number |= ~0ULL << (8 * length);
    /* The complement of the magnitude is the number minus one. */
    return PyLong_FromLongLong((long long)(number + 1));
}

static PyObject *read_double(Reader *reader) {
    uint64_t bits;
    if (read_big_endian(reader, 8, &bits) < 0) return NULL;
    bits = bits >> 63 ? bits & ~(1ULL << 63) : ~bits;
    double number;
    memcpy(&number, &bits, sizeof number);
    return PyFloat_FromDouble(number);
}

static PyObject *read_uuid(Reader *reader) {
    if (reader->end - reader->next < 16) return malformed();
    PyObject *type = ask(&uuid_type);
    PyObject *bytes = type == NULL ? NULL : PyBytes_FromStringAndSize((const char *)reader->next, 16);
    reader->next += 16;
    return bytes == NULL ? NULL : PyObject_CallFunction(type, "ON", Py_None, bytes);
}

/* Whether a list or an object ends here; the end is read. */
static int at_end(Reader *reader) {
    if (reader->next >= reader->end || reader->next[0] != 0) return 0;
    if (reader->next + 1 < reader->end && reader->next[1] == 0xff) return 0;
    reader->next++;
    return 1;
}

static PyObject *read_array(Reader *reader, int depth) {
    PyObject *list = PyList_New(0);
    while (list != NULL && !at_end(reader)) {
        PyObject *value = read_value(reader, depth + 1);
        if (value == NULL || PyList_Append(list, value) < 0) Py_CLEAR(list);
        Py_XDECREF(value);
    }
    return list;
}

static PyObject *read_object(Reader *reader, int depth) {
    PyObject *dictionary = PyDict_New();
    while (dictionary != NULL && !at_end(reader)) {
        PyObject *name = read_value(reader, depth + 1), *value = name == NULL ? NULL : read_value(reader, depth + 1);
        if (value == NULL || PyDict_SetItem(dictionary, name, value) < 0) Py_CLEAR(dictionary);
        Py_XDECREF(name);
        Py_XDECREF(value);
    }
    return dictionary;
}

static PyObject *read_value(Reader *reader, int depth) {
    if (reader->next >= reader->end || depth > 2 * DEEPEST) return malformed();
    uint8_t code = *reader->next++;
    switch (code) {
    case STRING:
    case BYTES: return read_text(reader, code);
    case DOUBLE: return read_double(reader);
    case FALSE:
    case TRUE: return PyBool_FromLong(code == TRUE);
    case UUID: return read_uuid(reader);
    case ARRAY: return read_array(reader, depth);
    case OBJECT: return read_object(reader, depth);
    case NOTHING:
        if (depth > 0) reader->next++;
        return new_none();
    default: return code >= SMALLEST && code <= LARGEST ? read_integer(reader, code) : malformed();
    }
}

PyObject *get_value(const uint8_t *bytes, size_t count) {
    Reader reader = {bytes, bytes + count};
    return read_value(&reader, 0);
}

PyObject *get_tuple(const sharedspace_result *result) {
    if (result->flags & SHAREDSPACE_RECORD) return get_value(result->bytes, result->count);
    enum { FEW = 16 };
    PyObject *fields[FEW], *list = NULL, *tuple = NULL;
    Py_ssize_t count = 0;
    Reader reader = {result->bytes, result->bytes + result->count};
    while (reader.next < reader.end && count < FEW) {
        if ((fields[count] = read_value(&reader, 0)) == NULL) goto end;
        count++;
    }
    if (reader.next == reader.end) {
        if ((tuple = PyTuple_New(count)) == NULL) goto end;
        for (Py_ssize_t i = 0; i < count; i++)
            PyTuple_SetItem(tuple, i, fields[i]);
        return tuple;
    }
    if ((list = PyList_New(0)) == NULL) goto end;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (PyList_Append(list, fields[i]) < 0) goto end;
    }
    while (reader.next < reader.end) {
        PyObject *field = read_value(&reader, 0);
        int status = field == NULL ? -1 : PyList_Append(list, field);
        Py_XDECREF(field);
        if (status < 0) goto end;
    }
    tuple = PyList_AsTuple(list);
end:
    for (Py_ssize_t i = 0; i < count; i++)
        Py_DECREF(fields[i]);
    Py_XDECREF(list);
    return tuple;
}

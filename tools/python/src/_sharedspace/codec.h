/* Between Python's values and bytes of the tuple layer, so that a call of the library crosses once. */
#ifndef SHAREDSPACE_CODEC_H
#define SHAREDSPACE_CODEC_H

#define Py_LIMITED_API 0x030A0000
/* No format with '#': which function it means depends on the Python that the extension was built with. */
#include <Python.h>

#include <sharedspace.h>

/* A new reference to None. Py_RETURN_NONE of the headers of 3.12 and later takes none, which 3.10 and 3.11 need. */
static inline PyObject *new_none(void) {
    Py_INCREF(Py_None);
    return Py_None;
}

/* What is encoded. */
typedef enum {
    VALUES = 0,   /* the fields of a tuple, a value */
    TEMPLATE = 1, /* the same with formals, as bytes */
    STEP = 2      /* a template in a step of a transaction: formals are the words of JSON, "?int" */
} Mode;

/* Bytes that are being written; short ones need no memory of their own. */
typedef struct {
    uint8_t *bytes;
    size_t count, capacity;
    uint8_t local[256];
} Buffer;

void buffer_begin(Buffer *buffer);
void buffer_end(Buffer *buffer);
sharedspace_bytes buffer_bytes(const Buffer *buffer);

/* Forgets what the codec has asked: the package may be imported again. */
void codec_begin(void);

/* Appends a value; -1 with an exception. `depth` is the number of lists and objects around it. */
int put_value(Buffer *buffer, PyObject *value, int depth, Mode mode);

/* Appends the elements of a list or tuple, or of a subclass of one. */
int put_elements(Buffer *buffer, PyObject *sequence, int depth, Mode mode);

/* Appends the fields of a tuple, one after the other. */
int put_fields(Buffer *buffer, PyObject *const *fields, Py_ssize_t count, Mode mode);

/* Several values or tuples, one after the other. */
typedef struct {
    Buffer buffer;
    sharedspace_bytes *all;
    size_t count;
} Values;

/* Encodes what a sequence has, each by `put`, which gets the context; values_end follows in any case. */
int values_begin(
    Values *values, PyObject *sequence, int (*put)(Buffer *buffer, PyObject *one, void *context), void *context);
void values_end(Values *values);

/* A `put` for values. */
int put_one_value(Buffer *buffer, PyObject *value, void *nothing);

/* The one value of these bytes; NULL with an exception. */
PyObject *get_value(const uint8_t *bytes, size_t count);

/* The tuple of these bytes; a dictionary for a record. */
PyObject *get_tuple(const sharedspace_result *result);

/* The templates of a call, and what their matches become. */
typedef struct {
    Buffer first;
    Buffer *more;           /* those after the first */
    sharedspace_bytes *all; /* all of them, if there are several */
    sharedspace_bytes one;
    size_t count;
    uint32_t flags; /* SHAREDSPACE_RECORD */
    PyObject *type; /* the data class whose instances matches become; or NULL */
} Selection;

/* Reads the template in the positional arguments of a call; selection_end follows in any case. */
int selection_begin(Selection *selection, PyObject *const *fields, Py_ssize_t count);
/* The same for a template that is a Python tuple. */
int selection_begin_with(Selection *selection, PyObject *template_);
void selection_end(Selection *selection);
static inline const sharedspace_bytes *selection_bytes(const Selection *selection) {
    return selection->all != NULL ? selection->all : &selection->one;
}

/* A match: a tuple, a dictionary, or an instance of a data class. */
PyObject *selection_match(const Selection *selection, const sharedspace_result *result);

/* Reads what is to be written: the fields of a tuple, or one mapping or instance of a data class, a record. */
int put_tuple(Buffer *buffer, PyObject *const *fields, Py_ssize_t count, uint32_t *flags);

#endif

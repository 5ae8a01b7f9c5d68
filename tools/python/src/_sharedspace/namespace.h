/* The extension's types: a namespace that opens at its first use, and what is claimed from it. */
#ifndef SHAREDSPACE_NAMESPACE_H
#define SHAREDSPACE_NAMESPACE_H

#include "calls.h"

typedef struct Namespace {
    PyObject_HEAD PyObject *root, *name, *mode; /* strings or None; the root as bytes or None */
    uint32_t flags;
    uint64_t limit;
    int64_t lock_timeout;
    sharedspace_ns *handle; /* NULL until the first use */
    int is_closed;
    sharedspace_result result; /* used again by the next call */
    struct Namespace *previous, *next; /* among those that have a handle */
} Namespace;

/* The handle, which is opened if it is the first use; NULL with an exception. */
sharedspace_ns *namespace_handle(Namespace *namespace_);

/* Methods, by subject. */
extern PyMethodDef tuple_methods[], cell_methods[], hold_methods[], thing_methods[];

/* A claim, or an item of a queue that is worked on. */
typedef struct {
    PyObject_HEAD Namespace *namespace_;
    PyObject *content;
    uint64_t id, number;
    uint32_t deliveries;
    int has_ended;
} Claim;

extern PyTypeObject *claim_type, *item_type;
int claims_begin(PyObject *module);

/* Makes one of what a call gave; takes over the reference to `content`. If it fails, also because there is no content,
 * the claim goes back. */
PyObject *claim_new(PyTypeObject *type, Namespace *namespace_, PyObject *content, const sharedspace_result *result);

/* Gives back a claim that no object has. An exception that is set stays. */
void claim_give_back(Namespace *namespace_, const sharedspace_result *result);

/* Completes a claim, and returns its content; takes over the reference. */
PyObject *claim_take(PyObject *claim);

/* Makes a Hold of what a call gave; if it fails, it is let go. */
PyObject *hold_new(Namespace *namespace_, const sharedspace_result *result);
int holds_begin(PyObject *module);

/* A request that is in hand, which goes back when it is dropped without an answer. If it can't be made it goes back. */
PyObject *asked_new(PyObject *responder, const sharedspace_result *result);
int responders_begin(PyObject *module);

/* Makes the names of what a loop reads and sets. */
int loops_begin(void);

/* The watch of a capsule; NULL with an exception, also if it was closed. */
sharedspace_watch *watch_of(PyObject *capsule);

/* A change as a dictionary, or its JSON if it is nested too deep. */
PyObject *change_of(const sharedspace_result *result);

/* The result of a namespace, for one call, and its return. */
sharedspace_result borrow_result(Namespace *namespace_);
void return_result(Namespace *namespace_, sharedspace_result *result);

#endif

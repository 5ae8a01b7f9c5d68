// Atomic words in memory that several processes map.
//
// These are static inline functions over the compiler's __atomic builtins, so that a debug build of Swift code pays one
// call that clang inlines instead of the generic machinery of a package of wrappers. The builtins take plain pointers,
// because Swift can't import `_Atomic`. Words of these sizes are lock-free on every 64-bit target. Therefore they work
// between processes; a lock table would be private to each process.

#ifndef SPACE_ATOMICS_H
#define SPACE_ATOMICS_H

#include <stdbool.h>
#include <stdint.h>

_Static_assert(__atomic_always_lock_free(sizeof(uint32_t), 0), "32-bit atomics must be lock-free");
_Static_assert(__atomic_always_lock_free(sizeof(uint64_t), 0), "64-bit atomics must be lock-free");

#define SPACE_DEFINE_ATOMICS(width)                                                                                    \
    static inline uint##width##_t space_load##width##_relaxed(const uint##width##_t *_Nonnull word) {                  \
        return __atomic_load_n(word, __ATOMIC_RELAXED);                                                                \
    }                                                                                                                  \
    static inline uint##width##_t space_load##width##_acquire(const uint##width##_t *_Nonnull word) {                  \
        return __atomic_load_n(word, __ATOMIC_ACQUIRE);                                                                \
    }                                                                                                                  \
    static inline uint##width##_t space_load##width##_sequential(const uint##width##_t *_Nonnull word) {               \
        return __atomic_load_n(word, __ATOMIC_SEQ_CST);                                                                \
    }                                                                                                                  \
    static inline void space_store##width##_relaxed(uint##width##_t *_Nonnull word, uint##width##_t value) {           \
        __atomic_store_n(word, value, __ATOMIC_RELAXED);                                                               \
    }                                                                                                                  \
    static inline void space_store##width##_release(uint##width##_t *_Nonnull word, uint##width##_t value) {           \
        __atomic_store_n(word, value, __ATOMIC_RELEASE);                                                               \
    }                                                                                                                  \
    static inline void space_store##width##_sequential(uint##width##_t *_Nonnull word, uint##width##_t value) {        \
        __atomic_store_n(word, value, __ATOMIC_SEQ_CST);                                                               \
    }                                                                                                                  \
    static inline uint##width##_t space_exchange##width(uint##width##_t *_Nonnull word, uint##width##_t value) {       \
        return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);                                                     \
    }                                                                                                                  \
    static inline uint##width##_t space_fetch_add##width(uint##width##_t *_Nonnull word, uint##width##_t value) {      \
        return __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);                                                      \
    }                                                                                                                  \
    static inline uint##width##_t space_fetch_or##width(uint##width##_t *_Nonnull word, uint##width##_t value) {       \
        return __atomic_fetch_or(word, value, __ATOMIC_SEQ_CST);                                                       \
    }                                                                                                                  \
    static inline uint##width##_t space_fetch_and##width(uint##width##_t *_Nonnull word, uint##width##_t value) {      \
        return __atomic_fetch_and(word, value, __ATOMIC_SEQ_CST);                                                      \
    }                                                                                                                  \
    static inline bool space_compare_exchange##width(                                                                  \
        uint##width##_t *_Nonnull word, uint##width##_t *_Nonnull expected, uint##width##_t desired) {                 \
        return __atomic_compare_exchange_n(word, expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);        \
    }

SPACE_DEFINE_ATOMICS(32)
SPACE_DEFINE_ATOMICS(64)

/// A sequentially consistent fence.
static inline void space_fence(void) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/// Orders the loads before the fence before all accesses after it.
static inline void space_acquire_fence(void) {
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/// Orders all accesses before the fence before the stores after it.
static inline void space_release_fence(void) {
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

/// Whether the number of the processor can be read without a system call; set before main.
extern bool space_processor_is_at_hand;
extern int sched_getcpu(void);

/// The number of the processor on which this thread runs, plus 1; 0 if it takes a system call to know.
///
/// It may be another one by the time that the caller looks at it.
static inline uint32_t space_processor(void) {
    return space_processor_is_at_hand ? (uint32_t)sched_getcpu() + 1 : 0;
}

/// Tells the processor that this is a spin loop: this saves power, and on x86 it avoids a memory-order mis-speculation
/// at the end.
static inline void space_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    // `isb` stalls for about as long as x86's pause; `yield` is a no-op on most cores.
    __asm__ __volatile__("isb" ::: "memory");
#endif
}

#endif

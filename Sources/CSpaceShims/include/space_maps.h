// Mapped files that may be cut short while they are mapped.

#ifndef SPACE_MAPS_H
#define SPACE_MAPS_H

#include <stddef.h>
#include <stdint.h>

/// Watches over a mapping of a file: an access to a page that the file no longer has reads zeros, from a page that only this
/// process has, instead of ending the process by SIGBUS (mmap(2)).
///
/// Returns a word that is 0 until that happens; it is valid, and 0 again, for a later mapping too. NULL if too many mappings
/// are watched; then this one is not.
uint32_t *_Nullable space_map_watch(const void *_Nonnull start, size_t size);

/// Ends the watching, before the mapping ends.
void space_map_unwatch(const void *_Nonnull start);

#endif

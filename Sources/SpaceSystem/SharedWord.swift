// Atomic words at addresses that come from a mapping.
//
// C atomics in CSpaceShims instead of swift-atomics' `UnsafeAtomic`: one type fewer to convert through, no generic
// dispatch in debug builds, and a word is usable by a futex and by these operations alike. Every access to such a word
// goes through here: mixing in a plain load or store would be a data race.

import CSpaceShims

/// A 32-bit word in shared memory with atomic operations.
///
/// Plain names acquire and release; `sequential` ones, and all that read and write in one step, take part in the single
/// order of all sequentially consistent operations.
///
/// `@unchecked Sendable`: it holds an address, and every access to the memory there is atomic. Keeping it mapped is the
/// duty of whoever made this value; so is an address aligned to 4 bytes.
package struct SharedWord32: @unchecked Sendable {
    package let address: UnsafeMutablePointer<UInt32>

    @inlinable
    package init(at address: UnsafeMutablePointer<UInt32>) {
        self.address = address
    }

    /// Reads, and sees everything written before the value was released.
    @inlinable
    package func load() -> UInt32 { space_load32_acquire(address) }

    @inlinable
    package func loadRelaxed() -> UInt32 { space_load32_relaxed(address) }

    @inlinable
    package func loadSequential() -> UInt32 { space_load32_sequential(address) }

    /// Writes, and releases everything written before it to whoever loads the value.
    @inlinable
    package func store(_ value: UInt32) { space_store32_release(address, value) }

    @inlinable
    package func storeRelaxed(_ value: UInt32) { space_store32_relaxed(address, value) }

    @inlinable
    package func storeSequential(_ value: UInt32) { space_store32_sequential(address, value) }

    /// Writes a value and returns the one before.
    @inlinable
    package func exchange(_ value: UInt32) -> UInt32 { space_exchange32(address, value) }

    /// Adds, wrapping around, and returns the value before.
    @inlinable
    @discardableResult
    package func add(_ value: UInt32) -> UInt32 { space_fetch_add32(address, value) }

    /// Subtracts, wrapping around, and returns the value before.
    @inlinable
    @discardableResult
    package func subtract(_ value: UInt32) -> UInt32 { space_fetch_add32(address, 0 &- value) }

    /// Sets bits and returns the value before.
    @inlinable
    @discardableResult
    package func setBits(_ bits: UInt32) -> UInt32 { space_fetch_or32(address, bits) }

    /// Keeps only these bits and returns the value before.
    @inlinable
    @discardableResult
    package func keepBits(_ bits: UInt32) -> UInt32 { space_fetch_and32(address, bits) }

    /// Writes `desired` if the word has the value `expected`; returns what it had, and whether it was exchanged.
    @inlinable
    package func compareExchange(
        expected: UInt32,
        desired: UInt32
    ) -> (exchanged: Bool, original: UInt32) {
        var original = expected
        let exchanged = space_compare_exchange32(address, &original, desired)
        return (exchanged, original)
    }

    /// Orders everything before it before everything after it, for all processors.
    @inlinable
    package static func fence() { space_fence() }
}

/// A 64-bit word in shared memory with atomic operations.
///
/// Plain names acquire and release; `sequential` ones, and all that read and write in one step, take part in the single
/// order of all sequentially consistent operations.
///
/// `@unchecked Sendable`: it holds an address, and every access to the memory there is atomic. Keeping it mapped is the
/// duty of whoever made this value; so is an address aligned to 8 bytes.
package struct SharedWord64: @unchecked Sendable {
    package let address: UnsafeMutablePointer<UInt64>

    @inlinable
    package init(at address: UnsafeMutablePointer<UInt64>) {
        self.address = address
    }

    /// Reads, and sees everything written before the value was released.
    @inlinable
    package func load() -> UInt64 { space_load64_acquire(address) }

    @inlinable
    package func loadRelaxed() -> UInt64 { space_load64_relaxed(address) }

    @inlinable
    package func loadSequential() -> UInt64 { space_load64_sequential(address) }

    /// Writes, and releases everything written before it to whoever loads the value.
    @inlinable
    package func store(_ value: UInt64) { space_store64_release(address, value) }

    @inlinable
    package func storeRelaxed(_ value: UInt64) { space_store64_relaxed(address, value) }

    @inlinable
    package func storeSequential(_ value: UInt64) { space_store64_sequential(address, value) }

    /// Writes a value and returns the one before.
    @inlinable
    package func exchange(_ value: UInt64) -> UInt64 { space_exchange64(address, value) }

    /// Adds, wrapping around, and returns the value before.
    @inlinable
    @discardableResult
    package func add(_ value: UInt64) -> UInt64 { space_fetch_add64(address, value) }

    /// Subtracts, wrapping around, and returns the value before.
    @inlinable
    @discardableResult
    package func subtract(_ value: UInt64) -> UInt64 { space_fetch_add64(address, 0 &- value) }

    /// Sets bits and returns the value before.
    @inlinable
    @discardableResult
    package func setBits(_ bits: UInt64) -> UInt64 { space_fetch_or64(address, bits) }

    /// Keeps only these bits and returns the value before.
    @inlinable
    @discardableResult
    package func keepBits(_ bits: UInt64) -> UInt64 { space_fetch_and64(address, bits) }

    /// Writes `desired` if the word has the value `expected`; returns what it had, and whether it was exchanged.
    @inlinable
    package func compareExchange(
        expected: UInt64,
        desired: UInt64
    ) -> (exchanged: Bool, original: UInt64) {
        var original = expected
        let exchanged = space_compare_exchange64(address, &original, desired)
        return (exchanged, original)
    }

    /// Orders everything before it before everything after it, for all processors.
    @inlinable
    package static func fence() { space_fence() }
}

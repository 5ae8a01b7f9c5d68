// Atomic words at addresses that come from a mapping.
//
// They use C atomics in CSpaceShims instead of swift-atomics' `UnsafeAtomic`: this needs one type fewer for conversions
// and no generic dispatch in debug builds, and a futex can use the same word. Every access to such a word goes through
// this file: an additional plain load or store would be a data race.
//
// The types are public although users don't need them, because the compiler inlines only public code across modules
// (Swift 6.3 calls a `package` function even if it is @inlinable). A load is then one instruction instead of a call,
// and a scan of a thousand waiters consists only of loads. No product contains this module.

public import CSpaceShims

/// A 32-bit word in shared memory with atomic operations.
///
/// Operations with plain names acquire and release. `sequential` operations, and all that read and write in one step,
/// take part in the single order of all sequentially consistent operations.
///
/// `@unchecked Sendable`: it holds an address, and every access to the memory there is atomic. The code that makes this
/// value keeps the memory mapped, and its address is aligned to 4 bytes.
@frozen
public struct SharedWord32: @unchecked Sendable {
    /// The word's address.
    public let address: UnsafeMutablePointer<UInt32>

    /// Wraps the word at this address; nothing is read or written yet.
    @inlinable
    public init(at address: UnsafeMutablePointer<UInt32>) {
        self.address = address
    }

    /// Reads the word; the reader sees everything written before the value was released.
    @inlinable
    public func load() -> UInt32 { space_load32_acquire(address) }

    /// Reads the word, without ordering other accesses.
    @inlinable
    public func loadRelaxed() -> UInt32 { space_load32_relaxed(address) }

    /// Reads the word, as part of the single order.
    @inlinable
    public func loadSequential() -> UInt32 { space_load32_sequential(address) }

    /// Writes the word, and releases everything written before to every thread that loads the value.
    @inlinable
    public func store(_ value: UInt32) { space_store32_release(address, value) }

    /// Writes the word, without ordering other accesses.
    @inlinable
    public func storeRelaxed(_ value: UInt32) { space_store32_relaxed(address, value) }

    /// Writes the word, as part of the single order.
    @inlinable
    public func storeSequential(_ value: UInt32) { space_store32_sequential(address, value) }

    /// Writes a value and returns the value before.
    @inlinable
    public func exchange(_ value: UInt32) -> UInt32 { space_exchange32(address, value) }

    /// Adds, wrapping around, and returns the value before.
    @inlinable
    @discardableResult
    public func add(_ value: UInt32) -> UInt32 { space_fetch_add32(address, value) }

    /// Subtracts, wrapping around, and returns the value before.
    @inlinable
    @discardableResult
    public func subtract(_ value: UInt32) -> UInt32 { space_fetch_add32(address, 0 &- value) }

    /// Sets bits and returns the value before.
    @inlinable
    @discardableResult
    public func setBits(_ bits: UInt32) -> UInt32 { space_fetch_or32(address, bits) }

    /// Keeps only these bits and returns the value before.
    @inlinable
    @discardableResult
    public func keepBits(_ bits: UInt32) -> UInt32 { space_fetch_and32(address, bits) }

    /// Writes `desired` if the word has the value `expected`.
    ///
    /// - Parameters:
    ///   - expected: the value that the word must have.
    ///   - desired: the value to write.
    /// - Returns: whether the value was written, and the word's value before.
    @inlinable
    public func compareExchange(
        expected: UInt32,
        desired: UInt32
    ) -> (exchanged: Bool, original: UInt32) {
        var original = expected
        let exchanged = space_compare_exchange32(address, &original, desired)
        return (exchanged, original)
    }
}

/// A 64-bit word in shared memory with atomic operations.
///
/// Operations with plain names acquire and release. `sequential` operations, and all that read and write in one step,
/// take part in the single order of all sequentially consistent operations.
///
/// `@unchecked Sendable`: it holds an address, and every access to the memory there is atomic. The code that makes this
/// value keeps the memory mapped, and its address is aligned to 8 bytes.
@frozen
public struct SharedWord64: @unchecked Sendable {
    /// The word's address.
    public let address: UnsafeMutablePointer<UInt64>

    /// Wraps the word at this address; nothing is read or written yet.
    @inlinable
    public init(at address: UnsafeMutablePointer<UInt64>) {
        self.address = address
    }

    /// Reads the word; the reader sees everything written before the value was released.
    @inlinable
    public func load() -> UInt64 { space_load64_acquire(address) }

    /// Reads the word, without ordering other accesses.
    @inlinable
    public func loadRelaxed() -> UInt64 { space_load64_relaxed(address) }

    /// Reads the word, as part of the single order.
    @inlinable
    public func loadSequential() -> UInt64 { space_load64_sequential(address) }

    /// Writes the word, and releases everything written before to every thread that loads the value.
    @inlinable
    public func store(_ value: UInt64) { space_store64_release(address, value) }

    /// Writes the word, without ordering other accesses.
    @inlinable
    public func storeRelaxed(_ value: UInt64) { space_store64_relaxed(address, value) }

    /// Writes the word, as part of the single order.
    @inlinable
    public func storeSequential(_ value: UInt64) { space_store64_sequential(address, value) }

    /// Writes a value and returns the value before.
    @inlinable
    public func exchange(_ value: UInt64) -> UInt64 { space_exchange64(address, value) }

    /// Adds, wrapping around, and returns the value before.
    @inlinable
    @discardableResult
    public func add(_ value: UInt64) -> UInt64 { space_fetch_add64(address, value) }

    /// Subtracts, wrapping around, and returns the value before.
    @inlinable
    @discardableResult
    public func subtract(_ value: UInt64) -> UInt64 { space_fetch_add64(address, 0 &- value) }

    /// Sets bits and returns the value before.
    @inlinable
    @discardableResult
    public func setBits(_ bits: UInt64) -> UInt64 { space_fetch_or64(address, bits) }

    /// Keeps only these bits and returns the value before.
    @inlinable
    @discardableResult
    public func keepBits(_ bits: UInt64) -> UInt64 { space_fetch_and64(address, bits) }

    /// Writes `desired` if the word has the value `expected`.
    ///
    /// - Parameters:
    ///   - expected: the value that the word must have.
    ///   - desired: the value to write.
    /// - Returns: whether the value was written, and the word's value before.
    @inlinable
    public func compareExchange(
        expected: UInt64,
        desired: UInt64
    ) -> (exchanged: Bool, original: UInt64) {
        var original = expected
        let exchanged = space_compare_exchange64(address, &original, desired)
        return (exchanged, original)
    }

    /// Orders all accesses before the fence before all accesses after it, for all processors.
    @inlinable
    public static func fence() { space_fence() }

    /// Orders the loads before the fence before all accesses after it.
    @inlinable
    public static func acquireFence() { space_acquire_fence() }

    /// Orders all accesses before the fence before the stores after it.
    @inlinable
    public static func releaseFence() { space_release_fence() }
}

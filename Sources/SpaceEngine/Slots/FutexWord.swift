package import SpaceSystem

/// A word of this process with an address that stays, for its threads to sleep on; 0 at first.
///
/// Unchecked Sendable: accessed by atomic operations alone.
package final class FutexWord: @unchecked Sendable {
    package let value: SharedWord32
    private let address = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)

    package init() {
        address.initialize(to: 0)
        value = SharedWord32(at: address)
    }

    deinit { address.deallocate() }

    package var futex: Futex { Futex(at: address) }
}

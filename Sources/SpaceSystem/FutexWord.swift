/// A word of this process at a fixed address, on which its threads sleep; 0 at first.
///
/// Unchecked Sendable: it is accessed only by atomic operations.
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

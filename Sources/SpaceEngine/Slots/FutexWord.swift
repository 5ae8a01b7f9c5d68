import SpaceSystem

/// A word of this process with an address that stays, for its threads to sleep on; 0 at first.
///
/// Unchecked Sendable: accessed by atomic operations alone.
final class FutexWord: @unchecked Sendable {
    let value: SharedWord32
    private let address = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)

    init() {
        address.initialize(to: 0)
        value = SharedWord32(at: address)
    }

    deinit { address.deallocate() }

    var futex: Futex { Futex(at: address) }
}

import SpaceSystem

/// Whether a namespace stays without owners, and whether it is a replica; a word of the control file.
///
/// A replica of a namespace that several machines share is never deleted because this machine has no owners: the daemon
/// deletes it when no machine owns it.
package struct StayingWord: Sendable {
    private static let persistent: UInt32 = 1
    private static let replica: UInt32 = 2

    private let word: SharedWord32

    init(_ word: SharedWord32) { self.word = word }

    /// Whether no reaper of this machine may delete the namespace.
    package var stays: Bool { word.load() != 0 }

    /// Whether the namespace stays without owners on any machine.
    package var isPersistent: Bool { word.load() & Self.persistent != 0 }

    package var isReplica: Bool { Self.isReplica(word.load()) }

    static func isReplica(_ word: UInt32) -> Bool { word & replica != 0 }

    /// Sets whether the namespace stays without owners: under the door, or, in a replica, under the gate.
    package func set(isPersistent: Bool) { set(Self.persistent, isPersistent) }

    /// Sets whether the namespace is a replica: under the gate, or before other processes see it.
    package func set(isReplica: Bool) { set(Self.replica, isReplica) }

    private func set(_ bit: UInt32, _ isSet: Bool) {
        var old = word.load()
        while true {
            let found = word.compareExchange(expected: old, desired: isSet ? old | bit : old & ~bit)
            if found.exchanged { return }
            old = found.original
        }
    }
}

package import SpaceSystem

/// The word on which a waiter sleeps: whatever wakes the waiter raises it.
///
/// Its lower half counts the rings for news, its upper half the nudges of ticks (and, rarely, a carry from below). So a
/// waiter that a tick has woken knows that no ring for news came.
package struct WakeWord: Sendable {
    /// Why a wake word is raised, and by how much.
    package enum Ring: UInt32, Sendable {
        /// There may be something for the waiter.
        case news = 1
        /// A tick has come, and there was a commit since the last one.
        case nudge = 0x1_0000
    }

    package let word: SharedWord32

    package init(_ word: SharedWord32) { self.word = word }

    /// Whether the wake word was raised since it had a value.
    package func isRaised(since value: UInt32) -> Bool { word.load() != value }

    /// Whether the wake word was rung for news since it had a value.
    package func isRung(since value: UInt32) -> Bool {
        UInt16(truncatingIfNeeded: word.load()) != UInt16(truncatingIfNeeded: value)
    }
}

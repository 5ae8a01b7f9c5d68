import CSpaceShims
package import SystemPackage

/// A 32-bit word that threads of any process can sleep on until somebody changes it and wakes them.
///
/// A wake is a hint: every return of `wait` but `false` means "look again".
///
/// `@unchecked Sendable`: it holds an address, used only by the kernel's atomic compare-and-sleep. Keeping the memory
/// mapped is the duty of whoever made this value.
package struct Futex: @unchecked Sendable {
    private let word: UnsafeMutablePointer<UInt32>

    package init(at word: UnsafeMutablePointer<UInt32>) {
        self.word = word
    }

    /// Sleeps while the word has this value.
    ///
    /// - Parameters:
    ///   - value: what the word must have for the sleep to begin; compared and put to sleep in one step.
    ///   - limit: the longest sleep, `nil` for no limit.
    /// - Returns: `false` if the time passed; `true` if woken, if the word differed, or by chance (a signal).
    /// - Throws: `EINVAL` for an address that isn't aligned, `EFAULT` for one that isn't mapped.
    package func wait(while value: UInt32, for limit: Duration?) throws(Errno) -> Bool {
        try outcome(space_futex_wait(word, value, limit.map { max(0, $0.saturatedNanoseconds) } ?? -1))
    }

    /// Sleeps while the word has this value, until a moment: loops around it don't drift.
    package func wait(while value: UInt32, until deadline: MonotonicInstant) throws(Errno) -> Bool {
        try outcome(space_futex_wait_until(word, value, deadline.nanoseconds))
    }

    /// Wakes at most `count` sleepers.
    ///
    /// It can't fail on mapped memory, and where it did the sleepers' tick makes up for it: so it doesn't throw.
    ///
    /// - Returns: how many were woken.
    @discardableResult
    package func wake(_ count: Int32 = .max) -> Int {
        Int(max(0, space_futex_wake(word, count)))
    }

    private func outcome(_ result: CInt) throws(Errno) -> Bool {
        switch Errno(rawValue: -result) {
        case .timedOut: return false
        // futex(2): EAGAIN, the word had another value already; EINTR, a signal or a spurious wake-up.
        case Errno(rawValue: 0), .resourceTemporarilyUnavailable, .interrupted: return true
        case let error: throw error
        }
    }
}

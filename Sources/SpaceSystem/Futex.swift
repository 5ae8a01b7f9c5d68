import CSpaceShims
package import SystemPackage

/// A 32-bit word that threads of any process can sleep on until another thread changes it and wakes them.
///
/// A wake is a hint: if `wait` returns anything but `false`, the caller checks its condition again.
///
/// `@unchecked Sendable`: it holds an address, used only by the kernel's atomic compare-and-sleep. The code that makes
/// this value keeps the memory mapped.
package struct Futex: @unchecked Sendable {
    private let word: UnsafeMutablePointer<UInt32>

    package init(at word: UnsafeMutablePointer<UInt32>) {
        self.word = word
    }

    /// Sleeps while the word has this value.
    ///
    /// - Parameters:
    ///   - value: the value that the word must have for the sleep to begin; the kernel compares and sleeps in one step.
    ///   - limit: the longest sleep, or `nil` to sleep indefinitely.
    /// - Returns: `false` if the time passed; `true` if the thread was woken (perhaps by a signal), or if the word
    ///   differed.
    /// - Throws: `EINVAL` if the address isn't aligned, `EFAULT` if it isn't mapped.
    package func wait(while value: UInt32, for limit: Duration?) throws(Errno) -> Bool {
        try outcome(space_futex_wait(word, value, limit.map { max(0, $0.saturatedNanoseconds) } ?? -1))
    }

    /// Sleeps while the word has this value, until a deadline: repeated calls don't prolong the wait.
    package func wait(while value: UInt32, until deadline: MonotonicInstant) throws(Errno) -> Bool {
        try outcome(space_futex_wait_until(word, value, deadline.nanoseconds))
    }

    /// Wakes at most `count` sleeping threads.
    ///
    /// It can't fail on mapped memory. If it failed, the sleeping threads would still wake at their tick, so it doesn't
    /// throw.
    ///
    /// - Returns: how many threads were woken.
    @discardableResult
    package func wake(_ count: Int32 = .max) -> Int {
        Int(max(0, space_futex_wake(word, count)))
    }

    private func outcome(_ result: CInt) throws(Errno) -> Bool {
        switch Errno(rawValue: -result) {
        case .timedOut: return false
        // futex(2): EAGAIN means that the word already had another value, EINTR a signal or a spurious wake-up.
        case Errno(rawValue: 0), .resourceTemporarilyUnavailable, .interrupted: return true
        case let error: throw error
        }
    }
}

import Glibc
import SpaceTestSupport
import Synchronization

/// Runs `body` on several threads, which begin together, and gives back what they threw.
func together(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) async -> [String] {
    let start = StartingLine(count)
    return await withTaskGroup(of: String?.self) { group in
        for number in 0..<count {
            group.addTask {
                do {
                    try await onThread {
                        start.pass()
                        try body(number)
                    }
                    return nil
                } catch {
                    return "\(error)"
                }
            }
        }
        return await group.reduce(into: []) { if let failure = $1 { $0.append(failure) } }
    }
}

/// Lets threads begin together.
private final class StartingLine: Sendable {
    private let missing: Mutex<Int>
    init(_ count: Int) { missing = Mutex(count) }

    func pass() {
        missing.withLock { $0 -= 1 }
        while missing.withLock({ $0 }) > 0 { sched_yield() }
    }
}

import Glibc
import LMDB
import SpaceSystem

/// Readers that keep freed pages from being used, and so let a small namespace look full for a moment.
extension Engine {
    /// How long a write waits for a reader to go on; most snapshots last microseconds.
    private static let readerPatience = Duration.milliseconds(20)

    /// After a write that the namespace's limit has refused, waits for a moment until the oldest reader has gone on.
    ///
    /// A look of this or another process pins all pages that were freed since it began. A fast writer of a small namespace
    /// would be refused because of it, although what is there leaves room. A reader that is stopped is not waited for
    /// longer: the error names it.
    ///
    /// - Returns: Whether it has gone on, so that the write may have room now.
    func letReaderPass(after error: SpaceError) -> Bool {
        guard error.code == .limitReached, let oldest = oldestReader, oldest < environment.lastTransaction else {
            return false
        }
        CrashPoint.reach(.readerAwaited)
        let end = MonotonicInstant.now.advanced(by: Self.readerPatience)
        repeat {
            if oldestReader.map({ $0 > oldest }) ?? true { return true }
            poll(nil, 0, 1)
        } while !end.hasPassed
        return false
    }

    /// The oldest snapshot that any process reads.
    private var oldestReader: Int? { (try? environment.readers())?.compactMap(\.transaction).min() }
}

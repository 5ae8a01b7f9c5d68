import Glibc
import SpaceSystem
import Synchronization
import TupleCoding

/// Who posted a notification: a process, or an object in one.
public struct PostSender: Sendable, Hashable {
    /// The process.
    public let pid: Int32
    /// The number that the object has in its process; `nil`: whoever in the process.
    public let id: Int?

    /// A process, whichever of its objects.
    public init(pid: Int32) {
        self.pid = pid
        id = nil
    }

    /// An object of this process, told by its identity; it is not retained.
    public init(_ object: any AnyObject & Sendable) {
        pid = getpid()
        id = SenderNumbers.shared.number(of: object)
    }

    /// The number in a row of the journal.
    package static func number(_ value: Value) -> Int? {
        guard case .int(let number) = value else { return nil }
        return number
    }
}

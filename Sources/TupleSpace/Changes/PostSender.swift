import Glibc

/// The sender of a notification: a process, or an object in one.
public struct PostSender: Sendable {
    /// The process.
    package let pid: Int32
    /// The number of the object in its process; `nil` for any sender in the process.
    package let id: Int?

    /// Names a process and all objects in it.
    public init(pid: Int32) {
        self.pid = pid
        id = nil
    }

    /// Names an object of this process, by its identity; the object is not retained.
    public init(_ object: any AnyObject & Sendable) {
        pid = getpid()
        id = SenderNumbers.shared.number(of: object)
    }
}

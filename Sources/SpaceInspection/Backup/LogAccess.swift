/// What a namespace knows of the log of its commits.
struct LogAccess {
    let core: NamespaceCore

    /// Whether the commits are logged by the daemon of several machines.
    var isOfMembers: Bool {
        get throws(SpaceError) {
            try core.read { (snapshot) throws(SpaceError) in try snapshot.mainLog.getValid(.log)?.isOfMembers ?? false }
        }
    }

    /// The path of the log that the namespace has or follows; `nil` if there is none.
    func path() throws(SpaceError) -> String? {
        try core.read { (snapshot) throws(SpaceError) in
            guard try snapshot.counters().logEntry != 0 else { return nil }
            return try snapshot.mainLog.getValid(.log).map { String(decoding: $0.path, as: UTF8.self) }
        }
    }
}

extension NamespaceCore {
    /// The log of the commits.
    var log: LogAccess { LogAccess(core: self) }
}

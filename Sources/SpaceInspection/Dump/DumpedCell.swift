import SpaceSystem

/// A cell in a dump.
package struct DumpedCell: Sendable {
    package let key: String
    package let value: Value
    /// The time of expiry in milliseconds since 1970; `nil`: never.
    package let expires: Int64?
    /// The process with which the cell ends, 0 if it is not known; `nil`: the cell ends with none.
    package let holder: Int32?

    package init(key: String, value: Value, expires: Int64?, holder: Int32?) {
        self.key = key
        self.value = value
        self.expires = expires
        self.holder = holder
    }
}

extension DumpedCell {
    /// The cell of a row, or `nil` if it has expired; `pids` are the processes of the sessions.
    init?(_ bytes: [UInt8], _ row: CellRow, _ pids: [UInt64: Int32], in snapshot: Snapshot) throws(SpaceError) {
        guard row.end.isVisible(snapshot.clock) else { return nil }
        let key = String(decoding: bytes, as: UTF8.self)
        self.init(
            key: key,
            value: try snapshot.value(key, row.element),
            expires: row.end.expiry == 0 ? nil : snapshot.clock.realtime(row.end.expiry),
            holder: row.end.holder?.pid(pids)
        )
    }
}

extension ClaimHolder {
    /// The holder's process; 0 if it is not known.
    func pid(_ pids: [UInt64: Int32]) -> Int32 {
        switch self {
        case .session(let number): pids[number] ?? 0
        case .process(let process, _): process.pid
        case .nobody: 0
        }
    }
}

import TupleCoding

/// The row of a queue's item.
///     0  state
///     1  zero, 3 bytes
///     4  deliveries: how often it came back
///     8  priority
///     16 the time when it is or was ready, milliseconds of the namespace's clock; 0: at once
///     24 the group, or null, one encoded element
package struct QueueItemRow: EncodedTableRow, Sendable {
    package enum State: UInt8, Sendable { case ready, delayed, taken, blocked, dead }
    private static let headerSize = 24

    package let id: UInt64
    package var state: State
    package var deliveries: UInt32
    package let priority: Int64
    package var readyTime: Int64
    package let group: String?

    package init(id: UInt64, priority: Int64, readyTime: Int64, group: String?) {
        self.id = id
        state = .blocked
        deliveries = 0
        self.priority = priority
        self.readyTime = readyTime
        self.group = group
    }

    /// Copies the row out of the page; `nil` if the bytes are not a row.
    package init?(key: UnsafeRawBufferPointer, value bytes: UnsafeRawBufferPointer) {
        guard let id = QueueRows.id(of: key), bytes.count > Self.headerSize, let state = State(rawValue: bytes[0]),
            let group = try? Value(encodedElement: UnsafeRawBufferPointer(rebasing: bytes[Self.headerSize...]))
        else { return nil }
        self.id = id
        self.state = state
        deliveries = bytes.little(4)
        priority = bytes.little(8)
        readyTime = bytes.little(16)
        if case .string(let name) = group { self.group = name } else { self.group = nil }
    }

    package var encoded: [UInt8] {
        var bytes: [UInt8] = [state.rawValue, 0, 0, 0]
        withUnsafeBytes(of: deliveries.littleEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: priority.littleEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: readyTime.littleEndian) { bytes.append(contentsOf: $0) }
        return bytes + (group.map { .string($0) } ?? Value.null).knownElement
    }

    package static func damage(at key: UnsafeRawBufferPointer) -> String {
        QueueRows.id(of: key).map { "item \($0) of a queue does not decode" } ?? "a queue's item does not decode"
    }
}

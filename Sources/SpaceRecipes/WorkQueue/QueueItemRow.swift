/// The row of a queue's item.
///     0  state
///     1  zero, 3 bytes
///     4  deliveries: how often it came back
///     8  priority
///     16 the time when it is or was ready, milliseconds of the namespace's clock; 0: at once
///     24 the time when a taken item's time to run is over; 0: it has no such time
///     32 by which process and when it was put (`Origin`)
///     40 an array of the group, the unique key and the reason of the last return, each a string or null, one encoded
///        element
package struct QueueItemRow: EncodedTableRow, Sendable, Hashable {
    package enum State: UInt8, Sendable { case ready, delayed, taken, blocked, buried }
    private static let headerSize = 40
    /// The longest reason that a row keeps, in bytes.
    private static let reasonBytes = 500

    package let id: UInt64
    package var state: State
    package var deliveries: UInt32
    package var priority: Int64
    package var readyTime: Int64
    package var endTime: Int64 = 0
    package let origin: Origin
    package let group: String?
    package let key: String?
    package private(set) var reason: String?

    package init(id: UInt64, _ new: NewItem, _ origin: Origin) {
        self.id = id
        state = new.isBuried ? .buried : .blocked
        deliveries = new.deliveries
        priority = new.priority
        readyTime = new.readyTime
        self.origin = origin
        group = new.group
        key = new.key
        setReason(new.reason)
    }

    /// Copies the row out of the page; `nil` if the bytes are not a row.
    package init?(key: UnsafeRawBufferPointer, value bytes: UnsafeRawBufferPointer) {
        guard let id = QueueRows.id(of: key), bytes.count > Self.headerSize, let state = State(rawValue: bytes[0]),
            let texts = try? Value(encodedElement: UnsafeRawBufferPointer(rebasing: bytes[Self.headerSize...])),
            let elements = texts.list, elements.count == 3
        else { return nil }
        self.id = id
        self.state = state
        deliveries = bytes.little(4)
        priority = bytes.little(8)
        readyTime = bytes.little(16)
        endTime = bytes.little(24)
        origin = Origin(raw: bytes.little(32))
        group = elements[0].text
        self.key = elements[1].text
        reason = elements[2].text
    }

    package var encoded: [UInt8] {
        var bytes: [UInt8] = [state.rawValue, 0, 0, 0]
        withUnsafeBytes(of: deliveries.littleEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: priority.littleEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: readyTime.littleEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: endTime.littleEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: origin.raw.littleEndian) { bytes.append(contentsOf: $0) }
        return bytes + Value.array([group, key, reason].map { $0.map { .string($0) } ?? .null }).knownElement
    }

    /// Whether a taker gets this one first, if both are ready.
    func isBefore(_ other: QueueItemRow) -> Bool {
        priority == other.priority ? id < other.id : priority > other.priority
    }

    /// Whether the item's worker has had it for longer than its time to run.
    func isOverdue(_ now: Int64) -> Bool { state == .taken && endTime != 0 && endTime <= now }

    /// Keeps the reason why the item came back; a long one is cut.
    mutating func setReason(_ text: String?) {
        guard let text, text.utf8.count > Self.reasonBytes else { return reason = text }
        var kept = ""
        var size = 0
        for character in text.unicodeScalars {
            size += UTF8.width(character)
            guard size <= Self.reasonBytes else { break }
            kept.unicodeScalars.append(character)
        }
        reason = kept
    }

    package static func damage(at key: UnsafeRawBufferPointer) -> String {
        QueueRows.id(of: key).map { "item \($0) of a queue does not decode" } ?? "a queue's item does not decode"
    }
}

/// An item to be put into a queue.
package struct NewItem: Sendable {
    /// The value, one encoded element.
    package let encoded: [UInt8]
    package var priority: Int64 = 0
    package var readyTime: Int64 = 0
    package var group: String?
    package var key: String?
    package var deliveries: UInt32 = 0
    package var reason: String?
    package var isBuried = false
    /// What is done if an item with the same unique key is in the queue.
    var rule = UniqueRule.keep
    /// By which process and when it was put; `nil`: by this one, now.
    package var origin: Origin?

    package init(encoded: [UInt8]) { self.encoded = encoded }
}

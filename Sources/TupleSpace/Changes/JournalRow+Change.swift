import TupleCoding

extension JournalRow {
    /// Copies the change out of the page.
    ///
    /// Unless `withValues` is true, the values of cells and notifications are not decoded; those of responders and
    /// of what is held and counted are.
    package func change(withValues: Bool = true) throws(TupleCodingError) -> Change {
        let isTuple = id != 0
        if kind.isOfCollection { return try collectionChange() }
        let withValues = withValues || kind == .respond || kind.isOfObject
        // A notification's old value is its sender's number.
        let wanted = withValues || kind == .post ? old : nil
        let old = try wanted.map { (bytes) throws(TupleCodingError) in try Value(encodedElement: bytes) }
        let new = isTuple || withValues ? new : nil
        return Change(
            sequence: sequence,
            kind: kind,
            time: time,
            pid: pid,
            batch: batch,
            id: isTuple ? TupleID(rawValue: id) : nil,
            tuple: isTuple
                ? try new.map { (bytes) throws(TupleCodingError) in
                    try Tuple(encoded: Array(bytes), isRecord: flags & 1 != 0)
                } : nil,
            key: isTuple || kind == .deadlock ? nil : String(decoding: name, as: UTF8.self),
            old: kind == .post ? nil : old,
            new: isTuple ? nil : try new.map { (bytes) throws(TupleCodingError) in try Value(encodedElement: bytes) },
            lastSequence: sequence,
            senderID: kind == .post ? old.flatMap(PostSender.number) : nil
        )
    }
}

extension JournalRow {
    /// Copies the change out of the page.
    ///
    /// Unless `withValues` is true, the values of cells and notifications are not decoded; those of responders and
    /// of what is held and counted are.
    package func change(withValues: Bool = true) throws(TupleCodingError) -> Change {
        Change(sequence: sequence, kind: kind, event: try event(withValues), time: time, pid: pid, batch: batch)
    }

    private func event(_ withValues: Bool) throws(TupleCodingError) -> Change.Event {
        if id != 0 {
            guard let new else { throw malformed("it has no tuple") }
            return .tuple(try Tuple(encoded: Array(new), isRecord: flags & 1 != 0), TupleID(rawValue: id))
        }
        let name = String(decoding: name, as: UTF8.self)
        switch kind {
        case .set, .unset:
            return .cell(name, old: withValues ? try value(old) : nil, new: withValues ? try value(new) : nil)
        case .post:
            // A notification's old value is its sender's number.
            let sender = try value(old)?.number
            return .notification(name, withValues ? try value(new) : nil, senderID: sender)
        case .insert, .remove, .replace, .move, .exchange, .sort, .reset, .discard:
            return .collection(name, try collectionEdit())
        case .respond: return .responder(name, old: try value(old), new: try value(new))
        case .hold, .release, .proclaim, .count: return .object(name, old: try value(old), new: try value(new))
        case .deadlock: return .deadlock(try value(new))
        case .gap: return .gap(through: sequence)
        case .gone: return .gone
        case .write, .take, .expire, .claim, .complete, .return, .bury: throw malformed("it has no tuple")
        }
    }

    private func value(_ bytes: UnsafeRawBufferPointer?) throws(TupleCodingError) -> Value? {
        try bytes.map { (bytes) throws(TupleCodingError) in try Value(encodedElement: bytes) }
    }

    func malformed(_ what: String) -> TupleCodingError {
        TupleCodingError(.malformed, "\(kind) in the journal: \(what)")
    }
}

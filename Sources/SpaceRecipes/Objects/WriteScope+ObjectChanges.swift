import SpaceSystem
import TupleCoding

extension WriteScope {
    /// Notes a change of an object for watchers; its values are made only if a watcher or the history needs them.
    func note(
        _ kind: ChangeKind,
        object name: String,
        old: @autoclosure () -> Value?,
        new: @autoclosure () -> Value?
    ) throws(SpaceError) {
        guard isJournaling else { return try note(kind, name: name) }
        let (old, new) = (old()?.knownElement, new()?.knownElement)
        try Self.withBytes(old) { (old) throws(SpaceError) in
            try Self.withBytes(new) { (new) throws(SpaceError) in
                try note(kind, name: name, old: old, new: new)
            }
        }
    }

    private static func withBytes(
        _ bytes: [UInt8]?,
        _ body: (UnsafeRawBufferPointer?) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        guard let bytes else { return try body(nil) }
        try bytes.withBytes { (bytes) throws(SpaceError) in try body(bytes) }
    }
}

/// A key of the main database's own rows.
///
/// A section's keys begin with a mark that is not ASCII, so they can't be mistaken for these.
package enum MainKey: TableKey, CaseIterable {
    /// The numbers that every write needs.
    case counters
    /// The life's number.
    case life
    /// The log of the commits, if they are logged.
    case log

    private var name: StaticString {
        switch self {
        case .counters: "counters"
        case .life: "life"
        case .log: "log"
        }
    }

    package init?(key bytes: UnsafeRawBufferPointer) {
        let key = Self.allCases.first { $0.withBytes { name in name.elementsEqual(bytes) } }
        guard let key else { return nil }
        self = key
    }

    @inline(__always)
    package func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try body(UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    }
}

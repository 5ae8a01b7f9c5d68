import SpaceSystem

/// The content that can be saved from a namespace whose files are damaged.
///
/// Guarantees: salvage reads the data file itself, page by page, and maps no part of it, so no damage can end the
/// process. It needs neither liblmdb's locks nor the sessions, and it changes nothing. It saves every tuple and cell whose
/// page is whole, and names each page that it leaves out. The result is the content of one commit: the newest, or the
/// one before it if the newest can't be read. In mode `fast`, it adds the newest tuples, which are in the control file.
///
/// While processes write in the namespace, pages are reused. LMDB does not reuse a page that a commit frees before the
/// third commit after it (mdb.c: a writer takes the lists of commits before the last one's). So a reading shows one
/// commit if at most one commit was made during it. After three attempts, salvage acquires the gate if it can.
package struct Salvage: Sendable {
    /// A tuple of the table of tuples.
    package struct Item: Sendable {
        package let id: UInt64
        package let tuple: Tuple
        /// The time of expiry in milliseconds since 1970; `nil`: never.
        package let expires: Int64?
        package let deliveries: Int
        package let origin: Origin
        /// Whether the tuple ends with a process.
        package let isOfHolder: Bool
    }

    package let name: String
    package let mode: StorageMode
    package internal(set) var history: History?
    /// How often a tuple may be returned before it is buried; `nil`: as often as its claims end.
    package internal(set) var deliveryLimit: Int?
    package internal(set) var tuples: [Item] = []
    package internal(set) var claims: [NamespaceStatus.Claim] = []
    package internal(set) var buried: [NamespaceStatus.Claim] = []
    package internal(set) var cells: [DumpedCell] = []
    package internal(set) var collections: [CollectionDump] = []
    package internal(set) var recipes = RecipesDump()
    /// The parts that were left out, one sentence each; empty if the namespace is whole.
    package internal(set) var leftOut: [String] = []
    /// Other facts that the user should know, one sentence each.
    package internal(set) var notes: [String] = []

    package static let operation = "salvage the namespace"
    private static let attempts = 3

    /// Reads a namespace and saves what is readable.
    package init(_ subject: Inspection.Subject, timeout: Duration = .seconds(1)) throws(SpaceError) {
        try self.init(whole: try Inspection.folder(subject, for: Self.operation), timeout: timeout)
    }

    /// Reads a folder that may be deleted during the reading.
    init(whole folder: borrowing NamespaceFolder, timeout: Duration) throws(SpaceError) {
        do throws(SpaceError) {
            try self.init(folder, timeout: timeout)
            if !leftOut.isEmpty { try folder.checkInPlace() }
        } catch {
            throw folder.named(error, Self.operation)
        }
    }

    private init(_ folder: borrowing NamespaceFolder, timeout: Duration) throws(SpaceError) {
        name = folder.name.text
        let header = Self.header(folder)
        let reading = try PageReading(folder)
        // The ring comes before the pages. Then a commit between the two, which moves tuples from one to the other, only
        // shows a tuple twice, and the pages' counters say so; the other way around it would show it nowhere.
        let near = header?.mode == .guarded || header?.mode == .durable ? nil : NearReading(folder)
        var rows: SalvagedRows?
        if let reading {
            var isOfOneCommit = false
            for _ in 0..<Self.attempts where !isOfOneCommit {
                (rows, isOfOneCommit) = try reading.whileUnchanged()
            }
            if !isOfOneCommit {
                let (locked, obstacle) = try reading.underGate(folder, timeout)
                rows = locked
                if let obstacle {
                    notes.append(
                        "read without locks (\(obstacle)) while processes wrote; what they wrote may show half"
                    )
                }
            }
        } else {
            leftOut.append("there is no data file; nothing can be read")
        }
        if let header {
            mode = header.mode
        } else {
            // Without a writable map, the file ends where something was last written.
            mode = reading?.hasMargin == false ? .durable : .fast
            notes.append("the control file can't be read; the mode is taken to be \(mode.rawValue)")
        }
        guard let rows else { return }
        // Without the header, assume the clock of the present boot.
        let clock: NamespaceClock
        if let header {
            clock = NamespaceClock(header, seenFrom: try HostIdentity.current())
        } else {
            clock = NamespaceClock(offset: mode == .durable ? NamespaceClock.realtimeAtBoot : 0)
        }
        decode(rows, mode == .fast ? near : nil, SalvageClock(clock: clock))
        leftOut += rows.faults
        if rows.isOlderPossible {
            notes.append(
                "pages that say which others are current are lost; what was removed or replaced lately may be among this"
            )
        }
    }

    private static func header(_ folder: borrowing NamespaceFolder) -> ControlHeader? {
        guard
            let bytes = try? FileBytes.read(at: folder.descriptor.raw, NamespaceFolder.control, limit: 1 << 24)
        else { return nil }
        return try? ControlHeader(decoding: Array(bytes.prefix(ControlHeader.size)))
    }
}

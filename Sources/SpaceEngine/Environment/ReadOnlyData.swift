import LMDB
import SpaceSystem

/// A namespace's data, opened for reading apart from the namespaces that the process has open.
package struct ReadOnlyData {
    private let environment: Environment
    private let tables: Tables
    private let reader: Reader

    /// Opens the data, and takes a snapshot.
    ///
    /// - Parameters:
    ///   - folder: The namespace's folder.
    ///   - control: The namespace's control file.
    ///   - takesLocks: Whether LMDB uses its lock file.
    ///   - isReadOnly: Whether nothing can be made in the folder.
    ///   - timeout: How long another process may hold LMDB's lock for a first opener, or `nil` if LMDB takes no lock.
    /// - Throws: `damaged` if a table is missing, and any error of opening LMDB.
    package init(
        _ folder: borrowing NamespaceFolder,
        _ control: ControlFile,
        takesLocks: Bool,
        isReadOnly: Bool = false,
        _ timeout: Duration?
    ) throws(SpaceError) {
        let place = try DataPlace(folder, creates: false, timeout: timeout, isReadOnly: isReadOnly)
        let environment = try lmdb { () throws(LMDBError) in
            try Environment(
                path: place.path,
                mapSize: Int(control.header.mapSize),
                maxReaders: Int(control.header.maxReaders),
                maxDatabases: Tables.named,
                flags: takesLocks ? [.readOnly] : [.readOnly, .noLock]
            )
        }
        if isReadOnly { try place.check(environment) }
        self.environment = environment
        tables = try Tables(opening: environment)
        reader = try lmdb { () throws(LMDBError) in Reader(try environment.beginRead()) }
        if control.header.mode == .fast { try copyNear(control) }
    }

    /// Copies the near end beside the snapshot.
    ///
    /// Without the gate, and while processes write, it may be of a later moment than the snapshot; if it changes all the
    /// time, even of several moments.
    private func copyNear(_ control: ControlFile) throws(SpaceError) {
        reader.showsNear = true
        let bounds = try snapshot(NamespaceClock(control.header)).nearBounds()
        for _ in 0..<Self.looks {
            if reader.near.pointee.copy(control.near, since: control.near.word.load(), bounds: { bounds }) {
                return
            }
        }
        guard reader.near.pointee.isSound else { throw .damaged(NearRing.nonsense) }
    }

    private static let looks = 64

    package func snapshot(_ clock: NamespaceClock) -> Snapshot {
        Snapshot(
            access: reader.transaction.access,
            tables: tables,
            clock: clock,
            near: reader.showsNear ? UnsafePointer(reader.near) : nil
        )
    }

    /// How many bytes of the data file are in use.
    package var bytesInUse: Int { environment.bytesInUse }

    package var descriptor: CInt { environment.descriptor }
}

extension Environment {
    /// How many bytes of the data file are in use.
    var bytesInUse: Int { (info.lastPage + 1) * pageSize }
}

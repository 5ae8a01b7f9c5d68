package import LMDB
import SpaceSystem

/// Opens a namespace's LMDB environment.
package enum DataFile {
    /// The size of LMDB's lock file: a header, and 64 bytes per reader (mdb.c: MDB_txninfo, MDB_reader).
    package static let lockFileSize = 192 + 64 * Limits.readers
    /// How long LMDB makes it: its header has the first reader.
    static let leastLockFileSize = lockFileSize - 64

    /// LMDB's two meta pages.
    private static let leastSize = 2 * 4096

    package static func flags(for mode: StorageMode) -> Environment.Flags {
        switch mode {
        case .fast: [.writeMap, .noSync]
        case .guarded: [.noSync]
        case .durable: []
        }
    }

    /// Opens the environment through the folder's descriptor, because a swapped path would mix two namespaces.
    ///
    /// `timeout` is how long another process may keep LMDB's lock file locked.
    package static func open(
        _ folder: borrowing NamespaceFolder,
        _ header: ControlHeader,
        timeout: Duration
    ) throws(SpaceError) -> Environment {
        let place = try DataPlace(folder, creates: false, timeout: timeout)
        // LMDB would make a new environment in an empty file, and in the rest of one.
        if let info = try? Directory.info(at: folder.descriptor.raw, NamespaceFolder.data),
            info.size < leastSize
        {
            throw .damaged("the data file is truncated to \(info.size) bytes")
        }
        return try open(place, header, folder.fileMode)
    }

    /// Makes the data file, in a folder that no other process uses yet.
    package static func create(
        _ folder: borrowing NamespaceFolder,
        _ header: ControlHeader,
        timeout: Duration
    ) throws(SpaceError) -> Environment {
        let place = try DataPlace(folder, creates: true, timeout: timeout)
        return try open(place, header, folder.fileMode)
    }

    private static func open(
        _ place: borrowing DataPlace,
        _ header: ControlHeader,
        _ fileMode: UInt32
    ) throws(SpaceError) -> Environment {
        let environment: Environment
        do throws(LMDBError) {
            environment = try Environment(
                path: place.path,
                mapSize: Int(header.mapSize),
                maxReaders: Int(header.maxReaders),
                maxDatabases: Tables.named,
                flags: flags(for: header.mode),
                mode: fileMode
            )
        } catch .tryAgain {
            throw .incompatible(
                "LMDB's lock for this PID is held by another process: two PID namespaces use it at once",
                advice: "run both in one PID namespace, or give each a root of its own"
            )
        } catch {
            throw SpaceError(error)
        }
        try place.check(environment)
        return environment
    }

    /// Refuses a process that may not make files as long as the namespace's, because a write beyond the limit raises
    /// SIGXFSZ.
    ///
    /// The caller checks it before the first file is written or lengthened. With a writable map LMDB makes the data file as
    /// long as the map.
    package static func checkFileSizeLimit(
        mode: StorageMode,
        mapSize: UInt64,
        byteLimit: UInt64
    ) throws(SpaceError) {
        let length = max(mode == .fast ? mapSize : byteLimit, UInt64(ControlFile.size))
        guard let limit = ResourceLimits.fileSize, limit < length else { return }
        throw .limitReached(
            "the process may write files of at most \(limit) bytes (RLIMIT_FSIZE); the namespace's need \(length)",
            advice: "raise it (ulimit -f unlimited)"
        )
    }

    /// Makes the same check for a namespace that exists.
    package static func checkFileSizeLimit(_ header: ControlHeader) throws(SpaceError) {
        try checkFileSizeLimit(mode: header.mode, mapSize: header.mapSize, byteLimit: header.byteLimit)
    }
}

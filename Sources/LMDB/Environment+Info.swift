import CGuardedLMDB

extension Environment {
    /// An environment's size, its last commit and its reader table.
    package struct Info: Equatable, Sendable {
        /// The number of the last page in use at the last commit; pages are numbered from 0.
        package let lastPage: Int
        /// The id of the last committed transaction.
        package let lastTransaction: Int
        /// The size of the map in bytes.
        package let mapSize: Int
        /// The number of slots in the reader table.
        package let maxReaders: Int
        /// The number of slots up to the last slot that was ever in use, free slots among them included.
        package let readersInUse: Int
    }

    /// The environment's current size, last commit and reader table; all zero if the environment is closed.
    ///
    /// Reading it costs a few nanoseconds and takes no lock. Inside a transaction it shows the last *committed* state.
    ///
    /// The corresponding C function is `mdb_env_info`.
    package var info: Info {
        let info = readInfo()
        return Info(
            // The number comes from the file, so it is bounded: a page has at least 512 bytes.
            lastPage: Int(truncatingIfNeeded: min(info.me_last_pgno, info.me_mapsize >> 9)),
            lastTransaction: Int(truncatingIfNeeded: info.me_last_txnid),
            mapSize: Int(truncatingIfNeeded: info.me_mapsize),
            maxReaders: Int(info.me_maxreaders),
            readersInUse: Int(info.me_numreaders)
        )
    }

    /// The id of the last committed transaction; 0 if the environment is closed.
    ///
    /// It costs two loads from the map.
    package var lastTransaction: Int { Int(truncatingIfNeeded: guarded_last_commit(guarding)) }

    /// Whether ``lastTransaction`` may be asked for while another thread closes the environment; it is then any number.
    package var toleratesLateLooks: Bool { guarded_knows_map(guarding) }

    @inline(__always)
    private func readInfo() -> MDB_envinfo {
        var info = MDB_envinfo()
        // If the meta pages can't be read, all numbers are 0.
        if handle != nil { guarded_env_info(guarding, &info) }
        return info
    }

    /// The data file's descriptor, close-on-exec; -1 if the environment is closed.
    ///
    /// Use it for fstat(2), fallocate(2) and the like; closing it breaks the environment. The C function is
    /// `mdb_env_get_fd`.
    package var descriptor: CInt {
        var descriptor: CInt = -1
        _ = mdb_env_get_fd(handle, &descriptor)
        return descriptor
    }

    /// The longest key in bytes, 511 unless liblmdb was built otherwise; 0 if the environment is closed.
    package var maxKeySize: Int {
        guard let handle else { return 0 }
        return Int(mdb_env_get_maxkeysize(handle))
    }

    /// The size of a page in bytes; 0 if the environment is closed.
    package var pageSize: Int {
        var statistics = MDB_stat()
        _ = mdb_env_stat(handle, &statistics)
        return Int(statistics.ms_psize)
    }

    /// The version of the liblmdb that is linked.
    package static var version: (major: Int, minor: Int, patch: Int) {
        var major: CInt = 0
        var minor: CInt = 0
        var patch: CInt = 0
        _ = mdb_version(&major, &minor, &patch)
        return (Int(major), Int(minor), Int(patch))
    }
}

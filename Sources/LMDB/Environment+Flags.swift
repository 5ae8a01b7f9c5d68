import CLMDB

extension Environment {
    /// How an environment is mapped and when it is synced.
    ///
    /// All processes that use an environment at one time must agree on `writeMap`, `noSync` and `noMetaSync`: if they
    /// differ, none of the guarantees below holds.
    package struct Flags: OptionSet, Hashable, Sendable {
        /// LMDB's `MDB_…` bits.
        package let rawValue: UInt32

        /// Makes a set of LMDB's bits; ``Environment`` refuses bits that are not among the constants here.
        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// Changes pages in the map itself; a stray pointer can damage the data (`MDB_WRITEMAP`).
        package static let writeMap = Flags(rawValue: UInt32(MDB_WRITEMAP))
        /// Does not sync at a commit; a crash of the machine can lose or damage the data (`MDB_NOSYNC`).
        package static let noSync = Flags(rawValue: UInt32(MDB_NOSYNC))
        /// Does not sync the meta page at a commit; a crash of the machine can undo the last commit (`MDB_NOMETASYNC`).
        package static let noMetaSync = Flags(rawValue: UInt32(MDB_NOMETASYNC))
        /// Refuses write transactions (`MDB_RDONLY`); `writeMap` has no effect then.
        package static let readOnly = Flags(rawValue: UInt32(MDB_RDONLY))
        /// Takes no locks and keeps no reader table; the caller keeps all other users out of the environment
        /// (`MDB_NOLOCK`).
        package static let noLock = Flags(rawValue: UInt32(MDB_NOLOCK))
        /// Tells the kernel not to read ahead (`MDB_NORDAHEAD`).
        package static let noReadAhead = Flags(rawValue: UInt32(MDB_NORDAHEAD))

        /// All flags above; LMDB has more, but they would change behaviour that this layer relies on.
        static let known: Flags = [.writeMap, .noSync, .noMetaSync, .readOnly, .noLock, .noReadAhead]
    }
}

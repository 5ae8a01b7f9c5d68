import Glibc

/// A look at a data file's meta pages before LMDB maps it.
///
/// LMDB checks magic number and version, and believes the rest: `mdb_env_open` divides by the page size it finds there
/// (mdb.c: `me_maxpg = me_mapsize / me_psize`), follows the roots wherever they lead, and shifts as many levels of a cursor as the
/// depth says, so that a damaged or cut file ends the process with SIGFPE, SIGBUS or a smashed stack. This refuses what can be
/// known to be wrong from the two meta pages and the file's length. It is not proof against a file made with ill intent: that is
/// what the folder's permissions are for.
///
/// It takes no lock, and another process may be creating or writing the file meanwhile; so whatever a healthy file can
/// look like at some moment passes, and so does everything that LMDB itself refuses cleanly. Opening `data.mdb` once
/// more is harmless: LMDB's fcntl locks are on the lock file.
enum DataFileHeader {
    /// Checks the data file in a folder.
    ///
    /// - Throws: `.invalid` if it is certain to crash LMDB; `.damagedPage` if the meta page that counts is none that a commit wrote, or
    ///   if it can't be known which one counts.
    static func check(folder: String) throws(LMDBError) {
        // O_NONBLOCK: a FIFO under this name must not hold us up.
        let descriptor = open(folder + "/data.mdb", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            // Not there: LMDB will make it, or say why it can't.
            if errno == ENOENT { return }
            throw LMDBError(code: errno)
        }
        defer { _ = Glibc.close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw LMDBError(code: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .invalid }

        let metas = MetaPages(descriptor)
        // What is none of LMDB's files, or not yet one, LMDB refuses itself or makes one.
        for bytes in metas.bytes {
            guard let bytes, MetaPage.isLMDB(bytes) else { return }
            guard MetaPage.pageSize(bytes) == metas.pageSize else { throw .invalid }
        }
        guard metas.faults.isEmpty, let newest = metas.newestFirst.first else { throw .damagedPage }
        // The length is taken after the meta pages: a writer extends the file before it writes a meta page that needs
        // it. Not for the last page: mdb.c says that "the file may be shorter if the freeDB lists the final pages".
        guard fstat(descriptor, &status) == 0 else { throw LMDBError(code: errno) }
        let pages = UInt64(clamping: status.st_size) / UInt64(metas.pageSize)
        guard [newest.free, newest.main].allSatisfy({ $0.page.map { $0 < pages } ?? true }) else { throw .invalid }
    }
}

import Glibc

/// A check of a data file's meta pages before LMDB maps the file.
///
/// LMDB checks the magic number and the version, and trusts the rest: `mdb_env_open` divides by the page size that it
/// reads (mdb.c: `me_maxpg = me_mapsize / me_psize`), follows the roots wherever they lead, and uses as many levels
/// of a cursor as the depth states. So a damaged or truncated file ends the process with SIGFPE, SIGBUS or a smashed
/// stack. This check refuses a file if its two meta pages and its length prove that it is wrong. It does not protect
/// against a file made with ill intent: the folder's permissions do.
///
/// The check takes no lock, and another process may create or write the file meanwhile. So the check accepts every
/// state that a healthy file can have, and every file that LMDB itself refuses cleanly. Opening `data.mdb` once more is
/// harmless: LMDB's fcntl locks are on the lock file.
enum DataFileHeader {
    /// Checks the data file in a folder.
    ///
    /// `isWholeFile` is whether all pages lie within the file, as they do with a writable map: LMDB would make a file that
    /// was truncated as long as the map again, and continue with pages of zeros.
    ///
    /// - Returns: Whether the file's meta pages are LMDB's; if not, LMDB makes the file, or refuses it.
    /// - Throws: `.invalid` if the file is certain to crash LMDB; `.damagedPage` if no commit can have written the
    ///   newest meta page, or if it is unclear which meta page is the newest.
    static func check(folder: String, isWholeFile: Bool) throws(LMDBError) -> Bool {
        // O_NONBLOCK: open(2) of a FIFO under this name must not wait.
        let descriptor = open(folder + "/data.mdb", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            // If there is no file, LMDB creates it or reports why it can't.
            if errno == ENOENT { return false }
            throw LMDBError(code: errno)
        }
        defer { _ = Glibc.close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw LMDBError(code: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .invalid }

        let metas = MetaPages(descriptor)
        // LMDB itself refuses a file of another program, and initialises a file that is still empty.
        for bytes in metas.bytes {
            guard let bytes, MetaPage.isLMDB(bytes) else { return false }
            guard MetaPage.pageSize(bytes) == metas.pageSize else { throw .invalid }
        }
        guard metas.faults.isEmpty, let newest = metas.newestFirst.first else { throw .damagedPage }
        // The length is read after the meta pages, because a writer extends the file before it writes a meta page that
        // needs the new length. Without a writable map only the roots are compared with it, not the last page: mdb.c says
        // that "the file may be shorter if the freeDB lists the final pages".
        guard fstat(descriptor, &status) == 0 else { throw LMDBError(code: errno) }
        let pages = UInt64(clamping: status.st_size) / UInt64(metas.pageSize)
        let last = isWholeFile ? [newest.lastPage] : [newest.free, newest.main].compactMap(\.page)
        guard last.allSatisfy({ $0 < pages }) else { throw .invalid }
        return true
    }
}

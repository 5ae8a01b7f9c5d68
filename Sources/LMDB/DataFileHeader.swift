import Glibc

/// A look at a data file's meta pages before LMDB maps it.
///
/// LMDB checks magic number and version, and believes the rest: `mdb_env_open` divides by the page size it finds there
/// (mdb.c: `me_maxpg = me_mapsize / me_psize`) and follows the roots wherever they lead, so that a damaged or cut file
/// ends the process with SIGFPE or SIGBUS. This refuses what can be known to be wrong from the two meta pages and the
/// file's length. It is not proof against a file made with ill intent: that is what the folder's permissions are for.
///
/// It takes no lock, and another process may be creating or writing the file meanwhile; so whatever a healthy file can
/// look like at some moment passes, and so does everything that LMDB itself refuses cleanly. Opening `data.mdb` once
/// more is harmless: LMDB's fcntl locks are on the lock file.
struct DataFileHeader {
    let magic: UInt32
    let version: UInt32
    let pageSize: UInt32
    let freeRoot: UInt64
    let mainRoot: UInt64
    let lastPage: UInt64
    let transaction: UInt64

    // mdb.c: MDB_page (16 bytes of header), then MDB_meta with two MDB_db of 48 bytes. All in the machine's byte order.
    static let size = 152
    private static let validMagic: UInt32 = 0xBEEF_C0DE
    private static let validVersion: UInt32 = 1
    private static let noPage = UInt64.max

    /// Reads a meta page; nil if `bytes` are too few.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.size else { return nil }
        magic = bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self)
        version = bytes.loadUnaligned(fromByteOffset: 20, as: UInt32.self)
        pageSize = bytes.loadUnaligned(fromByteOffset: 40, as: UInt32.self)
        freeRoot = bytes.loadUnaligned(fromByteOffset: 80, as: UInt64.self)
        mainRoot = bytes.loadUnaligned(fromByteOffset: 128, as: UInt64.self)
        lastPage = bytes.loadUnaligned(fromByteOffset: 136, as: UInt64.self)
        transaction = bytes.loadUnaligned(fromByteOffset: 144, as: UInt64.self)
    }

    /// Throws `.invalid` if the data file in a folder is certain to crash LMDB.
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

        guard let first = read(descriptor, at: 0), first.isLMDB else { return }
        guard first.hasSanePageSize else { throw .invalid }
        guard let second = read(descriptor, at: off_t(first.pageSize)), second.isLMDB else { return }
        guard second.pageSize == first.pageSize else { throw .invalid }
        // The length is taken after the meta pages: a writer extends the file before it writes a meta page that needs
        // it.
        guard fstat(descriptor, &status) == 0 else { throw LMDBError(code: errno) }
        let newest = second.transaction > first.transaction ? second : first
        guard newest.hasSaneLastPage, newest.rootsLie(within: UInt64(clamping: status.st_size)) else { throw .invalid }
    }

    private var isLMDB: Bool {
        magic == Self.validMagic && version == Self.validVersion
    }

    /// mdb.c: the page size is the system's at creation, at most 64 KiB.
    private var hasSanePageSize: Bool {
        pageSize >= 512 && pageSize <= 65_536 && pageSize & (pageSize - 1) == 0
    }

    /// Whether the last page is one that can be mapped at all: x86-64 and arm64 give a process 2⁴⁷ bytes or so of addresses.
    ///
    /// mdb.c, `mdb_env_open2`: the map becomes as large as the pages, whatever was asked for.
    private var hasSaneLastPage: Bool { lastPage < (1 << 47) / UInt64(pageSize) }

    /// Whether the roots are pages of the file.
    ///
    /// Not the last page: mdb.c says that "the file may be shorter if the freeDB lists the final pages".
    private func rootsLie(within length: UInt64) -> Bool {
        let pages = length / UInt64(pageSize)
        // Pages 0 and 1 are the meta pages.
        return [freeRoot, mainRoot].allSatisfy { $0 == Self.noPage || ($0 > 1 && $0 <= lastPage && $0 < pages) }
    }

    private static func read(_ descriptor: CInt, at offset: off_t) -> DataFileHeader? {
        withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { buffer in
            guard pread(descriptor, buffer.baseAddress, size, offset) == size else { return nil }
            return DataFileHeader(UnsafeRawBufferPointer(buffer))
        }
    }
}

import SpaceSystem

/// LMDB's lock file, as this process has mapped it.
///
/// LMDB doesn't tell where its parts are; they are at the places below (mdb.c: MDB_txninfo, on 64 bits). If LMDB's header
/// is not found there, there is no map.
struct LockFileMap {
    private let head: UnsafeMutableRawPointer

    init?(_ file: OpenEnvironment.FileID) {
        guard let head = ProcFS.mapping(device: file.device, inode: file.inode),
            // MDB_MAGIC
            head.load(as: UInt32.self) == 0xBEEF_C0DE
        else { return nil }
        self.head = head
    }

    /// LMDB's locks; `nil` unless both places have a robust mutex.
    var mutexes: [SharedMutex]? {
        // mti_rmutex, mti_wmutex
        let mutexes = [8, 64].map { SharedMutex(at: head + $0) }
        return mutexes.allSatisfy(\.isRobustShared) ? mutexes : nil
    }

    /// Frees the slots of the reader table that bear a process's number, while it has no reader.
    ///
    /// Another process that takes it for dead may free such a slot too, and the next reader use it: then it bears
    /// another number, and stays.
    func freeSlots(of process: Int32) {
        // mti_numreaders; mti_readers, of which each has mrb_txnid, mrb_pid and mrb_tid in a cache line.
        let (first, size, number) = (128, 64, 8)
        let count = min(Int(head.load(fromByteOffset: 56, as: UInt32.self)), (DataFile.lockFileSize - first) / size)
        for slot in 0..<count {
            let word = (head + first + slot * size + number).assumingMemoryBound(to: UInt32.self)
            _ = SharedWord32(at: word).compareExchange(expected: UInt32(bitPattern: process), desired: 0)
        }
    }
}

import CLMDB
import Glibc
import LMDB
import Testing

@Suite("LMDBError")
struct LMDBErrorTests {
    @Test("The description is LMDB's text, or the system's, and the code")
    func description() {
        #expect("\(LMDBError.mapFull)" == "MDB_MAP_FULL: Environment mapsize limit reached (-30792)")
        #expect("\(LMDBError.outOfSpace)" == "No space left on device (28)")
        #expect("\(LMDBError(code: -1))".hasSuffix("(-1)"))
        #expect("\(LMDBError(code: .min))".hasSuffix("(\(CInt.min))"))
    }

    @Test("The constants are LMDB's, and differ")
    func constants() {
        let own: [LMDBError] = [
            .keyExist, .notFound, .pageNotFound, .corrupted, .panic, .versionMismatch, .invalid, .mapFull,
            .databasesFull, .readersFull, .transactionFull, .cursorFull, .pageFull, .mapResized, .incompatible,
            .badReaderSlot, .badTransaction, .badValueSize, .badDatabase,
        ]
        #expect(Set(own).count == own.count)
        #expect(own.allSatisfy { $0.description.hasPrefix("MDB_") })
        // All of lmdb.h's but MDB_TLS_FULL, which only Windows has.
        #expect(own.count == Int(MDB_LAST_ERRCODE - MDB_KEYEXIST + 1) - 1)
        let system: [LMDBError] = [
            .outOfSpace, .inputOutput, .outOfMemory, .accessDenied, .invalidArgument, .tryAgain, .noSuchFile,
            .wouldDeadlock,
        ]
        #expect(Set(system).count == system.count)
        #expect(system.allSatisfy { $0.code > 0 })
    }
}

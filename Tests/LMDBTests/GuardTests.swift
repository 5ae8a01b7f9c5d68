import CGuardedLMDB
import Glibc
import Testing

@testable import LMDB

/// A fault from which the guards can't return ends the process at once.
@Suite("Guards")
struct GuardTests {
    @Test("A fault under a spoiled mark, or on the way back, ends the process by its signal", arguments: [false, true])
    func spoiledMark(leadsBack: Bool) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path
        await #expect(processExitsWith: .signal(SIGSEGV)) { [path = path as String, leadsBack = leadsBack as Bool] in
            // The first environment installs the handlers. The alarm ends a process that would handle its fault for
            // ever.
            _ = try Environment(path: path, mapSize: 1 << 20, maxReaders: 4, maxDatabases: 1, flags: [.noSync])
            alarm(30)
            guarded_fault_with_spoiled_mark(leadsBack)
        }
    }
}

import LMDB
import SharedSpace
import SpaceEngine
import TupleSpace

extension Namespace {
    /// The processes that keep freed pages from being used again, because they read a snapshot.
    package func readingProcesses() throws -> [Int32] {
        try core.engine.environment.readers().filter { $0.transaction != nil }.map(\.pid)
    }

    /// How many slots of the reader table bear a process's number.
    package func readerSlots(of process: Int32) throws -> Int {
        try core.engine.environment.readers().count { $0.pid == process }
    }
}

import Glibc
import LinearizabilityChecker
import SpaceSystem

/// The calls and results that the processes of a history noted, in memory that survives them.
struct HistoryLog: Sendable {
    static let processes = 5
    static let capacity = 512
    private static let entrySize = 64
    private static let header = 4096
    private static let perProcess = 64 + capacity * entrySize

    enum Kind: UInt32, CaseIterable {
        case write, read, take, claim, complete, release, set, get, compareAndSet

        var isOfCell: Bool { self == .set || self == .get || self == .compareAndSet }
    }

    private let memory: SharedMemory

    init() throws { memory = try SharedMemory(size: Self.header + Self.processes * Self.perProcess) }

    /// How many processes have the namespace open, and how many are done with it.
    var opened: SharedWord32 { memory.word32(0) }
    var done: SharedWord32 { memory.word32(64) }
    var mayLeave: SharedWord32 { memory.word32(128) }
    var damage: SharedWord32 { memory.word32(192) }

    /// How many calls a process has noted.
    func noted(_ process: Int) -> Int { Int(count(process).load()) }

    func clear() { memset(memory.base, 0, Self.header + Self.processes * Self.perProcess) }

    /// The result of completing a claim that was lost before.
    static let claimLost = 0

    /// 0: no result; 1: a result without a number; otherwise the number plus two.
    private static func coded(_ number: Int?) -> UInt64 { number.map { UInt64($0) + 2 } ?? 1 }

    private func offset(_ process: Int, _ entry: Int) -> Int {
        Self.header + process * Self.perProcess + 64 + entry * Self.entrySize
    }
    private func count(_ process: Int) -> SharedWord32 { memory.word32(Self.header + process * Self.perProcess) }

    /// Notes a call before it is made.
    ///
    /// Returns: Its place.
    func begin(_ process: Int, _ kind: Kind, object: Int, _ argument: Int = 0, expecting: Int = 0) -> Int {
        let entry = Int(count(process).load())
        let offset = offset(process, entry)
        memory.word32(offset).store(kind.rawValue)
        memory.word32(offset + 4).store(UInt32(object))
        memory.word64(offset + 8).store(UInt64(argument))
        memory.word64(offset + 16).store(UInt64(expecting))
        memory.word64(offset + 24).store(UInt64(MonotonicInstant.now.nanoseconds))
        count(process).store(UInt32(entry + 1))
        return entry
    }

    /// Notes that the call returned, and its result.
    func end(_ process: Int, _ entry: Int, _ result: Int?) {
        let offset = offset(process, entry)
        memory.word64(offset + 40).store(UInt64(MonotonicInstant.now.nanoseconds))
        memory.word64(offset + 32).storeSequentially(Self.coded(result))
    }

    /// Notes that the call changed nothing and said nothing: it is no part of the history.
    func withdraw(_ process: Int, _ entry: Int) { memory.word32(offset(process, entry)).store(.max) }

    struct Entry {
        let process: Int
        let kind: Kind
        let object: Int
        let argument: Int
        let expected: Int
        let invoked: Int64
        /// `nil` if the call never returned.
        let returned: (time: Int64, result: Int?)?
    }

    func entries(of process: Int) -> [Entry] {
        (0..<Int(count(process).load())).compactMap { index in
            let offset = offset(process, index)
            guard let kind = Kind(rawValue: memory.word32(offset).load()) else { return nil }
            let result = memory.word64(offset + 32).load()
            return Entry(
                process: process,
                kind: kind,
                object: Int(memory.word32(offset + 4).load()),
                argument: Int(memory.word64(offset + 8).load()),
                expected: Int(memory.word64(offset + 16).load()),
                invoked: Int64(memory.word64(offset + 24).load()),
                returned: result == 0
                    ? nil : (Int64(memory.word64(offset + 40).load()), result == 1 ? nil : Int(result - 2))
            )
        }
    }
}

extension SharedWord64 {
    fileprivate func storeSequentially(_ value: UInt64) { _ = exchange(value) }
}

import SharedSpace
import SpaceSystem

/// Where the processes of the part `cluster` that make histories meet: which history is being made, and who is in it.
///
/// A history is made by one process for each place; a process that takes a killed one's place joins the next history. So
/// a killed process has calls in one history at most, and its claims return there.
struct ClusterHistoryBoard: Sendable {
    /// How many histories are made at once; they share a namespace, and thereby its pen.
    static let boards = 12
    /// Places of processes that make calls; the last place of a log is that of the process that looks at the end.
    static let places = HistoryLog.processes - 1
    /// A stopped process may be in an old history for a while.
    private static let kept = 8

    /// The board's own number.
    let number: Int
    private let logs: [HistoryLog]
    private let memory: SharedMemory

    init(_ number: Int) throws {
        self.number = number
        logs = try (0..<Self.kept).map { _ in try HistoryLog() }
        memory = try SharedMemory(size: 4096)
    }

    private func word(_ index: Int) -> SharedWord64 { memory.word64(index * 64) }

    /// The history that is being made, from 1; 0 before the first.
    var current: SharedWord64 { word(0) }
    /// The last history that no process may begin a call for any more.
    var closed: SharedWord64 { word(1) }
    /// The history that a place's process is in; 0: none.
    func isIn(_ place: Int) -> SharedWord64 { word(2 + place) }
    /// The last history that a place's process has joined.
    func joined(_ place: Int) -> SharedWord64 { word(2 + Self.places + place) }

    func log(of history: UInt64) -> HistoryLog { logs[Int(history) % Self.kept] }

    /// Whether a process is still in the history whose log this one would use.
    func isLogInUse(by history: UInt64) -> Bool {
        (0..<Self.places).contains { place in
            let other = isIn(place).load()
            return other != 0 && Int(other) % Self.kept == Int(history) % Self.kept
        }
    }

    /// Whether each place's process has made its calls, or was killed.
    func isOver(_ history: UInt64) -> Bool {
        (0..<Self.places).allSatisfy { joined($0).load() >= history && isIn($0).load() != history }
    }

    func isQuiet(_ history: UInt64) -> Bool {
        (0..<Self.places).allSatisfy { isIn($0).load() != history }
    }

    // MARK: Objects

    private static let names = ["a", "b"]

    func template(_ history: UInt64, _ object: Int) -> Template {
        ["history \(number)", Int(history), Self.names[object], .any]
    }

    func tuple(_ history: UInt64, _ object: Int, _ value: Int) -> Tuple {
        ["history \(number)", Int(history), Self.names[object], value]
    }

    func cell(_ history: UInt64) -> String { "cell \(number).\(history)" }

    // MARK: Findings

    var histories: SharedWord64 { word(16) }
    var calls: SharedWord64 { word(17) }
    var pending: SharedWord64 { word(18) }
    var wrong: SharedWord64 { word(19) }
    /// Histories in which a process was killed, did not know an outcome, or was told that a claim was lost.
    var disturbed: SharedWord64 { word(20) }
    /// Histories whose end was not seen, because the cluster did not answer for too long.
    var unfinished: SharedWord64 { word(21) }
}

import SpaceSystem

/// The tuples that the workers of `churn` have written and taken: memory of all processes of a run, which outlives each of
/// them.
///
/// Each tuple has a number, and a word here that says how far its write and its take have come. Only the worker that
/// sets `taking` takes the tuple; so a take that finds nothing has lost it. A write or take without its second bit was
/// cut short by the end of its process: then both outcomes are right.
struct ChurnLedger: Sendable {
    static let capacity = 4 << 20
    private static let header = 4096

    enum Step: UInt32 { case writing = 1, written = 2, taking = 4, taken = 8 }

    private let memory: SharedMemory

    init() throws { memory = try SharedMemory(size: Self.header + Self.capacity * 4) }

    private func word(_ index: Int) -> SharedWord64 { memory.word64(index * 64) }

    var start: SharedWord64 { word(0) }
    var stop: SharedWord64 { word(1) }
    var nextNumber: SharedWord64 { word(2) }

    // Counts of completed steps.
    var openings: SharedWord64 { word(3) }
    var written: SharedWord64 { word(4) }
    var taken: SharedWord64 { word(5) }
    var cancellations: SharedWord64 { word(6) }
    var left: SharedWord64 { word(7) }
    var forks: SharedWord64 { word(8) }
    /// Children of a process with several threads that blocked on the runtime's locks, and were ended by their alarm.
    var stuckChildren: SharedWord64 { word(9) }
    var programs: SharedWord64 { word(10) }
    var exits: SharedWord64 { word(11) }
    var kills: SharedWord64 { word(12) }

    // Counts of faults.
    var lost: SharedWord64 { word(13) }
    var doubled: SharedWord64 { word(14) }
    var errors: SharedWord64 { word(15) }
    /// Workers that ended by a signal of their own, or not at all, and children that could do what is forbidden to
    /// them.
    var failures: SharedWord64 { word(16) }

    var faults: Int { [lost, doubled, errors, failures].reduce(0) { $0 + Int($1.load()) } }

    private func tuple(_ number: Int) -> SharedWord32 { memory.word32(Self.header + number * 4) }

    /// Returns a number for a tuple that is about to be written to a namespace; `nil` when there are no more.
    func begin(in namespace: Int) -> Int? {
        let number = Int(nextNumber.add(1))
        guard number < Self.capacity else { return nil }
        tuple(number).store(Step.writing.rawValue | UInt32(namespace) << 8)
        return number
    }

    func note(_ step: Step, _ number: Int) { _ = tuple(number).setBits(step.rawValue) }

    /// Returns whether the caller is the one that takes a tuple, and the tuple was written to that namespace.
    func beginTaking(_ number: Int, from namespace: Int) -> Bool {
        let state = tuple(number).load()
        guard state >> 8 == UInt32(namespace), state & Step.written.rawValue != 0, state & Step.taking.rawValue == 0
        else { return false }
        return tuple(number).setBits(Step.taking.rawValue) & Step.taking.rawValue == 0
    }

    struct State {
        let namespace: Int
        fileprivate let bits: UInt32
        func has(_ step: Step) -> Bool { bits & step.rawValue != 0 }
    }

    func state(_ number: Int) -> State {
        let word = tuple(number).load()
        return State(namespace: Int(word >> 8), bits: word)
    }
}

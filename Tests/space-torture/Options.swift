import Glibc
import SharedSpace

struct UsageError: Error {
    let text: String
}

/// The options of the command line.
struct Options: Sendable {
    /// Faults that a worker can be told to have, to check that the audit finds them.
    enum Plant: String, CaseIterable {
        /// A write, or an edit, that is acknowledged and never made; for objects, any acknowledgement without the
        /// operation.
        case lost
        /// A take that believes its look, and deletes without a second one; a request that its responder runs twice.
        case doubled
        /// A read that gives what was read before.
        case stale
        /// A hand-off that wakes no taker; a change that an observer passes over; a request that gets no answer.
        case unheard
        /// A namespace that is deleted although it has owners.
        case vanished
    }

    var seconds = 10
    var processes = 4
    var seed = UInt64(time(nil))
    var parts = Part.ofOneMachine
    var plant: Plant?
    var leftOut: Safeguard?
    /// The only scene to play; `nil` for all of a part's.
    var scene: String?
    static let clusterNeeds = "the part cluster wants --etcd PROGRAM and --bin FOLDER; tools/torture names them"

    var isToFail: Bool { plant != nil || leftOut != nil }
    /// Seconds without progress that count as a lost wake-up.
    var patience = 10
    /// Where the roots are made.
    var folder = "/dev/shm"
    /// For the part `cluster`: the program etcd, the folder with space-etcd, and the library Tests/WrongClock.
    var etcd: String?
    var bin: String?
    var clock: String?

    init(_ arguments: some Sequence<String>) throws {
        var words = Array(arguments)[...]
        while let option = words.popFirst() {
            guard let value = words.popFirst() else { throw UsageError(text: "\(option) wants a value") }
            switch option {
            case "--seconds": seconds = try Self.number(option, value, 1...1_000_000)
            case "--processes": processes = try Self.number(option, value, 4...256)
            case "--seed": seed = UInt64(try Self.number(option, value, 0...Int.max))
            case "--patience": patience = try Self.number(option, value, 1...1000)
            case "--folder": folder = value
            case "--scene": scene = value
            case "--etcd": etcd = value
            case "--bin": bin = value
            case "--clock": clock = value
            case "--part":
                guard let part = Part(rawValue: value) else {
                    throw UsageError(text: "no part \(value); there are \(Part.allCases.map(\.rawValue))")
                }
                parts = [part]
            case "--plant":
                guard let plant = Plant(rawValue: value) else {
                    throw UsageError(text: "no fault \(value); there are \(Plant.allCases.map(\.rawValue))")
                }
                self.plant = plant
            case "--leave-out":
                guard let safeguard = Safeguard(rawValue: value) else {
                    throw UsageError(text: "no safeguard \(value); there are \(Safeguard.allCases.map(\.rawValue))")
                }
                leftOut = safeguard
            default: throw UsageError(text: "no option \(option)")
            }
        }
        if parts.contains(.cluster), etcd == nil || bin == nil { throw UsageError(text: Self.clusterNeeds) }
    }

    private static func number(_ option: String, _ text: String, _ range: ClosedRange<Int>) throws -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw UsageError(text: "\(option) wants a number in \(range.lowerBound)...\(range.upperBound)")
        }
        return number
    }
}

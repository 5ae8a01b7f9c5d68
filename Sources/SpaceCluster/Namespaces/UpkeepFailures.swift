import ClusterStore
import SpaceEngine

/// The steps of a namespace's upkeep that have failed, and are tried again.
///
/// A step may fail once because another machine does the same at that moment. A step that has failed three times in a row is
/// a trouble, which the daemon tells: an operator has to look.
package struct UpkeepFailures {
    private var failures: [Step: (times: Int, why: String)] = [:]

    /// What is done again and again.
    package enum Step: Hashable {
        case endDeadProcesses
        case endMember(UInt32)
        case tellTime
        case keepOwners

        fileprivate var text: String {
            switch self {
            case .endDeadProcesses: "what dead processes of this machine had can't be ended"
            case .endMember(let number): "member \(number), which has ended, can't be taken out"
            case .tellTime: "a machine that has joined can't be told the time"
            case .keepOwners: "the store can't be told whether this machine owns the namespace"
            }
        }
    }

    /// How often in a row something fails before the failure is reported.
    static let timesOfTrouble = 3

    package init() {}

    /// Notes how a step has ended.
    ///
    /// - Parameters:
    ///   - step: The step.
    ///   - error: What it threw; `nil` if it is done, or no longer needed.
    package mutating func note(_ step: Step, _ error: (any Error)?) {
        guard let error else {
            failures[step] = nil
            return
        }
        let why = (error as? SpaceError)?.reason ?? (error as? StoreError)?.told ?? "\(error)"
        failures[step] = ((failures[step]?.times ?? 0) + 1, why)
    }

    /// Forgets those that are no longer members.
    mutating func forgetMembers(but present: [UInt32]) {
        for case .endMember(let number) in failures.keys where !present.contains(number) {
            failures[.endMember(number)] = nil
        }
    }

    /// The steps that have failed three times in a row, in words.
    package var troubles: [String] {
        failures.filter { $0.value.times >= Self.timesOfTrouble }
            .map { "\($0.text) (tried \($1.times) times): \($1.why)" }.sorted()
    }
}

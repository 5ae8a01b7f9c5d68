/// A call of a process, as that process saw it: when it began, when it returned, and with which result.
package struct Call<Operation, Response> {
    package let process: Int
    /// Of one clock for all processes.
    package let invoked: Int64
    /// `nil` if the call never returned because its process was killed.
    ///
    /// Such a call may have taken effect, at any time after `invoked`, or never.
    package let returned: Int64?
    package let operation: Operation
    /// `nil` if the call never returned.
    package let response: Response?

    package init(process: Int, invoked: Int64, returned: (time: Int64, Response)?, _ operation: Operation) {
        self.process = process
        self.invoked = invoked
        self.returned = returned?.time
        self.operation = operation
        response = returned?.1
    }
}

/// The behaviour of an object that one process at a time uses.
package protocol SequentialObject {
    associatedtype State: Hashable
    associatedtype Operation
    associatedtype Response

    static var initial: State { get }

    /// The states in which the object may be after the operation; none if it can't have given that response.
    ///
    /// - `response`: `nil` allows any response.
    static func apply(_ operation: Operation, by process: Int, _ response: Response?, to state: State) -> [State]
}

/// Whether a history is linearizable: whether there is one order of its calls that respects their times (a call that
/// returned before another began comes first), and in which the object, used by one process at a time, gives the same
/// responses.
///
/// The search is Wing's and Gong's with Lowe's memory: a set of calls that have been placed, together with the state
/// that they led to, is tried once. Exponential at worst; histories of a few dozen calls on one object take
/// microseconds. Calls on different objects needn't be searched together: a history is linearizable if it is so for
/// each (Herlihy and Wing).
package enum Linearizability<Object: SequentialObject> {
    package typealias History = [Call<Object.Operation, Object.Response>]

    package static func holds(of history: History) -> Bool {
        var search = Search(history.sorted { $0.invoked < $1.invoked })
        return search.run()
    }

    private struct Position: Hashable {
        var placed: [UInt64]
        var state: Object.State

        func has(_ index: Int) -> Bool { placed[index / 64] >> UInt64(index % 64) & 1 != 0 }
        func placing(_ index: Int, _ state: Object.State) -> Position {
            var next = Position(placed: placed, state: state)
            next.placed[index / 64] |= 1 << UInt64(index % 64)
            return next
        }
    }

    private struct Search {
        /// Sorted by their beginnings.
        let calls: History
        var seen: Set<Position> = []

        init(_ calls: History) { self.calls = calls }

        mutating func run() -> Bool {
            let start = Position(placed: Array(repeating: 0, count: calls.count / 64 + 1), state: Object.initial)
            var open = [start]
            while let position = open.popLast() {
                guard seen.insert(position).inserted else { continue }
                // A call that returned has to be placed; a call that did not return need not be.
                let missing = calls.indices.filter { !position.has($0) && calls[$0].returned != nil }
                guard let firstReturn = missing.compactMap({ calls[$0].returned }).min() else { return true }
                for (index, call) in calls.enumerated() {
                    // A call that began after another had returned can't come before it.
                    if call.invoked > firstReturn { break }
                    if position.has(index) { continue }
                    let states = Object.apply(call.operation, by: call.process, call.response, to: position.state)
                    for state in states { open.append(position.placing(index, state)) }
                }
            }
            return false
        }
    }
}

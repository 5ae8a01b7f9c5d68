/// The tuples that one template matches, each told from the others by a number.
///
/// The model leaves open which of several tuples a read or take gets: a tuple that returns from a claim comes back to
/// its old place, so a process that looked before is right to get a younger one.
package enum TupleBag: SequentialObject {
    package struct State: Hashable {
        package var visible: Set<Int> = []
        /// By the process that claimed it.
        var claimed: [Int: Int] = [:]
    }

    package enum Operation: Hashable {
        case write(Int)
        case read, take, claim
        /// Ends the process's claim; the tuple is gone. The response `nothing` says that the claim was lost before.
        case complete
        /// Ends the process's claim, if it has one; the tuple returns. This also happens to the claim of a killed
        /// process, and to those of a machine that was given up for dead.
        case release
    }

    package enum Response: Hashable {
        case done
        case tuple(Int)
        case nothing
    }

    package static let initial = State()

    package static func apply(_ operation: Operation, by process: Int, _ response: Response?, to state: State)
        -> [State]
    {
        var next = state
        switch operation {
        case .write(let number):
            next.visible.insert(number)
            return [next]
        case .read:
            switch response {
            case .tuple(let number): return state.visible.contains(number) ? [state] : []
            case .nothing: return state.visible.isEmpty ? [state] : []
            case .done, nil: return [state]
            }
        case .take, .claim:
            let numbers: [Int]
            switch response {
            case .tuple(let number): numbers = state.visible.contains(number) ? [number] : []
            case .nothing: return state.visible.isEmpty ? [state] : []
            case .done, nil: numbers = Array(state.visible)
            }
            return numbers.map { number in
                var next = state
                next.visible.remove(number)
                if operation == .claim { next.claimed[process] = number }
                return next
            }
        case .complete:
            if response == .nothing { return state.claimed[process] == nil ? [state] : [] }
            // A claim is lost only with its process, or with its machine, which is a release.
            guard next.claimed.removeValue(forKey: process) != nil else { return [] }
            return [next]
        case .release:
            if let number = next.claimed.removeValue(forKey: process) { next.visible.insert(number) }
            return [next]
        }
    }
}

/// One cell.
package enum CellRegister: SequentialObject {
    package enum Operation: Hashable {
        case set(Int)
        case get
        case compareAndSet(expected: Int, Int)
    }

    package enum Response: Hashable {
        case done
        /// `nil` if it was not set.
        case content(Int?)
        case isSet(Bool)
    }

    package static let initial: Int? = nil

    package static func apply(_ operation: Operation, by process: Int, _ response: Response?, to state: Int?) -> [Int?]
    {
        switch operation {
        case .set(let number): return [number]
        case .get:
            guard case .content(let content) = response else { return [state] }
            return content == state ? [state] : []
        case .compareAndSet(let expected, let number):
            let isEqual = state == expected
            if case .isSet(let isSet) = response, isSet != isEqual { return [] }
            return [isEqual ? number : state]
        }
    }
}

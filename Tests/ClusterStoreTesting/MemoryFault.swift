package import ClusterStore
import Synchronization

/// A call of a ``MemoryStore``, as a test sees it when it chooses the call's fault.
package enum MemoryCall: Equatable, Sendable {
    case read(StoreRange)
    case transact(StoreTransaction)
    case makeLease(seconds: Int)
    case keepAlive(StoreLease)
    case end(StoreLease)
    case status

    /// The error of a call that was sent and gets no answer.
    var unanswered: StoreError {
        if case .transact = self { return .unknown("a fault of the test: no answer") }
        return .unavailable("a fault of the test: no answer")
    }
}

/// What goes wrong with a call.
package enum MemoryFault: Sendable {
    /// Nothing.
    case none
    /// The call fails with this error; nothing is done.
    case fails(StoreError)
    /// The request is lost on its way: nothing is done, and there is no answer.
    case requestLost
    /// The call is done, and its answer is lost.
    case answerLost
    /// The call waits at the gate before it is done. If its caller gives up, the call is done all the same when the gate
    /// opens: it is a late request.
    case heldBefore(MemoryGate)
    /// The call is done, and its answer waits at the gate.
    case heldAfter(MemoryGate)
    /// The caller gets no answer at once, and the call is done when the gate opens.
    case late(MemoryGate)
    /// The request arrives twice: it is done twice, and the first answer counts.
    case twice
}

/// A gate at which calls wait until the test opens it.
package final class MemoryGate: Sendable {
    private struct State {
        var isOpen = false
        var arrivals = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
        var observers: [(count: Int, CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Lets all calls pass, those that come later too.
    package func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until this many calls have come to the gate.
    package func arrivals(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.arrivals < count { state.observers.append((count, continuation)) }
                return state.arrivals >= count
            }
            if isThere { continuation.resume() }
        }
    }

    /// Waits until the gate is open.
    func pass() async {
        await withCheckedContinuation { continuation in
            let (isOpen, observers) = state.withLock { state in
                state.arrivals += 1
                if !state.isOpen { state.waiting.append(continuation) }
                let arrivals = state.arrivals
                let observers = state.observers.filter { $0.count <= arrivals }
                state.observers.removeAll { $0.count <= arrivals }
                return (state.isOpen, observers)
            }
            for observer in observers { observer.1.resume() }
            if isOpen { continuation.resume() }
        }
    }
}

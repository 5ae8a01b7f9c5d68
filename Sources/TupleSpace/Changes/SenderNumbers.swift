import SpaceSystem
import Synchronization

/// The numbers of this process's objects that posted notifications, or that a filter names as senders.
///
/// Guarantees: an object keeps its number as long as it lives, a number never stands for another object, and no object
/// is retained. The numbers start at random, so that a row of the journal from an earlier process with the same PID
/// resolves to no object. They start again after a fork, because a child's objects are different ones.
final class SenderNumbers: Sendable {
    static let shared = SenderNumbers()

    private struct Entry {
        weak var object: (any AnyObject & Sendable)?
    }

    private struct State {
        var numbers: [ObjectIdentifier: Int] = [:]
        var objects: [Int: Entry] = [:]
        var next = State.firstNumber()
        var generation = ForkGuard.generation
        /// The number of entries at which those of objects that are gone are removed.
        var sweepAt = 64

        static func firstNumber() -> Int { Int.random(in: 1 << 20..<1 << 30) << 32 }
    }

    private let state = Mutex(State())

    func number(of object: any AnyObject & Sendable) -> Int {
        withState { state in
            let identity = ObjectIdentifier(object)
            // An address can be used again: the number is valid only if it stands for this very object.
            if let number = state.numbers[identity], state.objects[number]?.object === object { return number }
            if let old = state.numbers[identity] { state.objects[old] = nil }
            let number = state.next
            state.next += 1
            state.numbers[identity] = number
            state.objects[number] = Entry(object: object)
            if state.objects.count >= state.sweepAt { Self.sweep(&state) }
            return number
        }
    }

    /// The object; `nil` if it is gone, or belongs to another process.
    func object(_ number: Int) -> (any AnyObject & Sendable)? {
        withState { $0.objects[number]?.object }
    }

    private func withState<R>(_ body: (inout State) -> R) -> R {
        state.withLock { state in
            if state.generation != ForkGuard.generation { state = State() }
            return body(&state)
        }
    }

    private static func sweep(_ state: inout State) {
        state.objects = state.objects.filter { $0.value.object != nil }
        state.numbers = state.numbers.filter { state.objects[$0.value] != nil }
        state.sweepAt = max(64, 2 * state.objects.count)
    }
}

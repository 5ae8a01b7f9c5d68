import Glibc
import SpaceSystem
import Synchronization
import TupleCoding

/// The numbers by which this process knows the objects that posted notifications, or are looked for as senders.
///
/// Guarantees: an object keeps its number as long as it lives, a number never stands for another object, and nothing is
/// retained. Numbers begin at random, so that a row of the journal from an earlier process with the same PID resolves to
/// nothing; and anew after fork, since a child's objects are others.
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
        /// At how many entries those of objects that have gone are looked for.
        var sweepAt = 64

        static func firstNumber() -> Int { Int.random(in: 1 << 20..<1 << 30) << 32 }
    }

    private let state = Mutex(State())

    func number(of object: any AnyObject & Sendable) -> Int {
        withState { state in
            let identity = ObjectIdentifier(object)
            // An address is used again: the number counts only while it stands for this object.
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

    /// The object; `nil` when it has gone, or belongs to another process.
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

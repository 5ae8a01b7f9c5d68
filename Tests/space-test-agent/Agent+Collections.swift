import Glibc
import SharedSpaceObjects
import Synchronization

// Ordered sets: editors, and observers that keep copies.

/// The copy that an observer has made of the changes it was told.
final class ObservedSet: Sendable {
    private let state = Mutex<(copy: [Int], misfits: Int, changes: Int)>(([], 0, 0))
    private let token = Mutex<ObservationToken?>(nil)

    init(_ set: SharedOrderedSet<Int>, _ options: CollectionObservationOptions) throws {
        let token = try set.observe(options: options.union(.initial)) { [self] change in note(change) }
        self.token.withLock { $0 = token }
    }

    func note(_ change: CollectionChange<Int>) {
        state.withLock { state in
            if !change.apply(to: &state.copy) { state.misfits += 1 }
            state.changes += 1
        }
    }

    var copy: [Int] { state.withLock { $0.copy } }
    var misfits: Int { state.withLock { $0.misfits } }
    var changes: Int { state.withLock { $0.changes } }
}

extension Agent {
    func performOnCollections(_ command: String, _ words: [String]) async throws -> String? {
        switch command {
        case "set-open": set = try namespace().orderedSet(try word(words, 0), of: Int.self)
        case "set-observe":
            observedSet = try ObservedSet(orderedSet(), words.first == "pairs" ? .movesAsPairs : [])
        case "set-follow": return "ok \(try await followSet())"
        case "set-churn":
            for round in 0..<(try number(words, 1)) as Range<Int> { try churnSet(round, try number(words, 0)) }
        case "set-churn-on":
            say("ok")
            var round = 0
            while try goesOn(namespace()) {
                try churnSet(round, try number(words, 0))
                round += 1
            }
        case "set-edit": try editSet(words)
        case "set-same":
            // The last of all edits.
            guard let observedSet else { throw Failure("nothing is observed") }
            while observedSet.copy.last != -1 { try await Task.sleep(for: .milliseconds(1)) }
            guard observedSet.misfits == 0 else { throw Failure("\(observedSet.misfits) changes did not fit") }
            guard try orderedSet().elements() == observedSet.copy else { throw Failure("the copy differs") }
            return "ok \(observedSet.copy.count) \(observedSet.changes)"
        default: return nil
        }
        return "ok"
    }

    private func orderedSet() throws -> SharedOrderedSet<Int> {
        guard let set else { throw Failure("no ordered set is open") }
        return set
    }

    private func editSet(_ words: [String]) throws {
        let set = try orderedSet()
        switch try word(words, 0) {
        case "append": try set.append(try number(words, 1))
        case "move": try set.move(from: try number(words, 1), to: try number(words, 2))
        case "sort": try set.sort()
        case "replace-ends":
            try set.replace(at: [0, try set.count - 1], with: [try number(words, 1), try number(words, 2)])
        case "remove": try set.remove(at: try number(words, 1))
        case "fill": try set.append(contentsOf: (try number(words, 1))..<(try number(words, 2)))
        default: throw Failure("no such edit")
        }
    }

    /// Keeps a copy up to the element -1 at its end.
    private func followSet() async throws -> String {
        let set = try orderedSet()
        var copy: [Int] = []
        var count = 0
        for try await change in try set.changes() {
            guard change.apply(to: &copy) else { throw Failure("change \(change.sequence) does not fit") }
            count += 1
            if copy.last == -1 { break }
        }
        guard try set.elements() == copy else { throw Failure("the copy differs") }
        return "\(copy.count) \(count)"
    }

    /// Makes an edit at some place; the edits of others may have made it impossible, or a no-op.
    private func churnSet(_ round: Int, _ seed: Int) throws {
        let set = try orderedSet()
        let number = (round &* 7919 &+ seed &* 104_729) % 1000
        let count = try set.count
        do throws(SpaceError) {
            switch round % 8 {
            case 0, 1: try set.insert(number, at: count / 3)
            case 2: try set.append(contentsOf: [number, number + 1, number + 2])
            case 3: try set.move(fromOffsets: [count / 4, count / 2], to: count / 5)
            case 4: try set.move(number, before: (number + 1) % 1000)
            case 5: try set.replace(at: count / 2, with: 1000 + number)
            case 6: try set.remove(at: number % max(1, count))
            default: try set.swapAt(0, count / 2)
            }
        } catch  where error.code == .invalidArgument {}
    }
}

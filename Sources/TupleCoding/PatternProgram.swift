/// A compiled regular expression: a machine that is in several states at once, so that no step is ever taken back.
///
/// Guarantee: a search takes at most the length of the string times the number of instructions in steps, whatever the
/// expression is (Thompson's construction; RE2 and Go do the same), and gives up after ``steps`` steps and 64 more a
/// character. Expressions that need more (back references, looks around, atomic groups) are refused.
struct PatternProgram: Sendable {
    private enum Instruction: Sendable {
        case one(ScalarTest)
        case assertion(PatternAssertion)
        /// Goes on at two places.
        case fork(Int, Int)
        case jump(Int)
        case found
    }

    /// The result of a search.
    enum Outcome {
        case found, absent, tooLong
    }

    /// The most instructions of an expression; a repetition {n} takes n times those of what is repeated.
    static let longest = 4096
    /// The most steps of a search, beside 64 for each character: about a tenth of a second.
    static let steps = 1 << 24

    private var instructions: [Instruction] = []

    /// `nil` if the expression has too many instructions.
    init?(_ node: PatternNode) {
        guard emit(node) else { return nil }
        instructions.append(.found)
    }

    private mutating func emit(_ node: PatternNode) -> Bool {
        guard instructions.count < Self.longest else { return false }
        switch node {
        case .empty: return true
        case .one(let test): instructions.append(.one(test))
        case .assertion(let assertion): instructions.append(.assertion(assertion))
        case .sequence(let nodes):
            for node in nodes { guard emit(node) else { return false } }
        case .choice(let nodes):
            var jumps: [Int] = []
            for (number, node) in nodes.enumerated() {
                let isLast = number == nodes.count - 1
                let fork = instructions.count
                if !isLast { instructions.append(.fork(fork + 1, 0)) }
                guard emit(node) else { return false }
                guard !isLast else { break }
                jumps.append(instructions.count)
                instructions.append(.jump(0))
                instructions[fork] = .fork(fork + 1, instructions.count)
            }
            for jump in jumps { instructions[jump] = .jump(instructions.count) }
        case .repetition(let node, let least, let most):
            return repeated(node, least, most)
        }
        return true
    }

    private mutating func repeated(_ node: PatternNode, _ least: Int, _ most: Int?) -> Bool {
        // The repeated part may be empty, and would then add no instructions.
        guard least <= Self.longest, most ?? 0 <= Self.longest else { return false }
        for _ in 0..<least { guard emit(node) else { return false } }
        guard let most else {
            let fork = instructions.count
            instructions.append(.fork(fork + 1, 0))
            guard emit(node) else { return false }
            instructions.append(.jump(fork))
            instructions[fork] = .fork(fork + 1, instructions.count)
            return true
        }
        var forks: [Int] = []
        for _ in least..<max(least, most) {
            forks.append(instructions.count)
            instructions.append(.fork(instructions.count + 1, 0))
            guard emit(node) else { return false }
        }
        for fork in forks { instructions[fork] = .fork(fork + 1, instructions.count) }
        return true
    }

    // MARK: Searching

    /// Searches a string; `isAsked` is asked again and again whether the search must be given up.
    func search(_ string: String, isAsked: () -> Bool) -> Outcome {
        var (now, later) = (States(instructions.count), States(instructions.count))
        var stack: [Int] = []
        var steps = 0
        var previous: Unicode.Scalar?
        var scalars = string.unicodeScalars.makeIterator()
        var current = scalars.next()
        // A look at the last scalar: the end may be before a newline there.
        var following = current == nil ? nil : scalars.next()
        var (allowed, nextQuestion) = (Self.steps, 1 << 16)
        while true {
            let place = Place(previous: previous, current: current, following: following)
            if add(0, to: &now, place, &stack, &steps) { return .found }
            guard let scalar = current else { return .absent }
            let afterNext = following == nil ? nil : scalars.next()
            let nextPlace = Place(previous: scalar, current: following, following: afterNext)
            later.removeAll()
            for index in 0..<now.count {
                let state = now[index]
                steps += 1
                guard case .one(let test) = instructions[state], test.contains(scalar) else { continue }
                if add(state + 1, to: &later, nextPlace, &stack, &steps) { return .found }
            }
            allowed += 64
            if steps > allowed { return .tooLong }
            if steps > nextQuestion {
                if isAsked() { return .tooLong }
                nextQuestion = steps + (1 << 16)
            }
            swap(&now, &later)
            (previous, current, following) = (scalar, following, afterNext)
        }
    }

    /// Where a search is in a string.
    private struct Place {
        let previous: Unicode.Scalar?
        let current: Unicode.Scalar?
        let following: Unicode.Scalar?

        func holds(_ assertion: PatternAssertion) -> Bool {
            switch assertion {
            case .start: previous == nil
            case .end: current == nil
            case .endBeforeNewline: current == nil || isLastNewline
            case .lineStart: previous.map(ScalarSet.isNewline) ?? true
            case .lineEnd: current.map(ScalarSet.isNewline) ?? true
            case .wordBoundary: isBoundary
            case .noWordBoundary: !isBoundary
            }
        }

        private var isLastNewline: Bool { current.map(ScalarSet.isNewline) ?? false && following == nil }

        private var isBoundary: Bool {
            previous.map(ScalarSet.isWord) ?? false != current.map(ScalarSet.isWord) ?? false
        }
    }

    /// Adds a state and all that it leads to without a scalar; the result is whether the end is among them.
    private func add(
        _ state: Int,
        to states: inout States,
        _ place: Place,
        _ stack: inout [Int],
        _ steps: inout Int
    ) -> Bool {
        stack.append(state)
        while let state = stack.popLast() {
            guard states.insert(state) else { continue }
            steps += 1
            switch instructions[state] {
            case .one: break
            case .assertion(let assertion): if place.holds(assertion) { stack.append(state + 1) }
            case .fork(let first, let second):
                stack.append(second)
                stack.append(first)
            case .jump(let target): stack.append(target)
            case .found:
                stack.removeAll()
                return true
            }
        }
        return false
    }

    /// A set of states, cleared in no time.
    private struct States {
        private var places: [Int]
        private var members: [Int]
        private(set) var count = 0

        init(_ capacity: Int) {
            places = [Int](repeating: 0, count: capacity)
            members = places
        }

        subscript(index: Int) -> Int { members[index] }

        mutating func insert(_ state: Int) -> Bool {
            let place = places[state]
            if place < count, members[place] == state { return false }
            places[state] = count
            members[count] = state
            count += 1
            return true
        }

        mutating func removeAll() { count = 0 }
    }
}

import SpaceEngine

/// What C chooses by a number.
protocol Choice: RawRepresentable<Int32> {
    /// What is said of a number that is no choice, and which choices there are.
    static var refusal: (reason: String, advice: String) { get }
}

extension Choice {
    init(_ number: some BinaryInteger) throws(SpaceError) {
        guard let choice = Int32(exactly: number).flatMap(Self.init(rawValue:)) else {
            throw .misuse("\(number) \(Self.refusal.reason)", advice: Self.refusal.advice)
        }
        self = choice
    }
}

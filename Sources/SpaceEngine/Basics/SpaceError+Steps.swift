// Errors of steps that add more than there is room for: they say how much fits.

extension SpaceError {
    /// This error of room, for a transaction in which some changes were made before the one that failed; it says how
    /// many fit, if that is known.
    package func ofTransaction(fitting count: Int?) -> SpaceError {
        let advised = advising("do the work in several transactions")
        guard let count else { return advised }
        let changes = count == 1 ? "the change before it fits" : "the \(count.grouped) changes before it fit"
        return advised.with(reason: "\(reason); \(changes) in one transaction")
    }

    /// This error with one more piece of advice, before the advice that it already gives.
    package func advising(_ advice: String) -> SpaceError {
        with(advice: self.advice.map { "\(advice), or \($0)" } ?? advice)
    }

    /// This error of room, for a step that adds more than its namespace has left.
    package var ofStep: SpaceError {
        isOfLimit ? with(reason: "so much at once takes more room than the namespace's limit leaves") : self
    }

    /// Whether the limit is the reason for the lack of room, and no reader is in the way.
    private var isOfLimit: Bool { code == .limitReached && holder == nil }

    /// This error of room, for a step that adds more than fits.
    func ofStep(too many: Int, _ what: String, fitting count: Int) -> SpaceError {
        ofStep.with(
            reason: "\(ofStep.reason); \(count.grouped) of these \(many.grouped) \(what) fit in one step",
            advice: "write them in parts" + (isOfLimit ? "" : advice.map { ", or \($0)" } ?? "")
        )
    }
}

extension Int {
    /// The number with commas between groups of three digits.
    package var grouped: String {
        let digits = String(self)
        return digits.enumerated().reduce(into: "") { text, digit in
            if digit.offset > 0, (digits.count - digit.offset) % 3 == 0 { text.append(",") }
            text.append(digit.element)
        }
    }
}

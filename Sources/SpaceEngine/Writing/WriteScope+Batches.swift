extension WriteScope {
    /// Adds each of many items in this transaction; if there is no room for all, the error says how many there is room
    /// for.
    ///
    /// `what` names the items: "tuples". `body` adds the one with a number from 0. It isn't given the item itself: a generic
    /// function of another module would cost each tuple of a batch as much as half of its insertion.
    package func addEach(
        of count: Int,
        _ what: String,
        _ body: (Int) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        for index in 0..<count {
            do throws(SpaceError) {
                try body(index)
            } catch  where index > 0 && error.isOfStepTooLarge {
                throw error.ofStep(too: count, what, fitting: index)
            }
        }
    }
}

extension SpaceError {
    /// Whether a step had no room for what it added, where a smaller one may have.
    package var isOfStepTooLarge: Bool { [.limitReached, .storageFull, .transactionTooLarge].contains(code) }

    /// This error of room, for a transaction of which some changes were made before the one that failed: so many fit, if
    /// that is known.
    package func ofTransaction(fitting count: Int?) -> SpaceError {
        let advised = advising("do the work in several transactions")
        guard let count else { return advised }
        let changes = count == 1 ? "the change before it fits" : "the \(count.grouped) changes before it fit"
        return advised.with(reason: "\(reason); \(changes) in one transaction")
    }

    /// This error with one more thing to do, before what it advises already.
    package func advising(_ advice: String) -> SpaceError {
        with(advice: self.advice.map { "\(advice), or \($0)" } ?? advice)
    }

    /// This error of room, for a step that adds more than its namespace has left.
    package var ofStep: SpaceError {
        isOfLimit ? with(reason: "so much at once takes more room than the namespace's limit leaves") : self
    }

    /// Whether the limit is what leaves no room, and no reader is in the way.
    private var isOfLimit: Bool { code == .limitReached && holder == nil }

    /// This error of room, for a step that adds more than fits.
    fileprivate func ofStep(too many: Int, _ what: String, fitting count: Int) -> SpaceError {
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

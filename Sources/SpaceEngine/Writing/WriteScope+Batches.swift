extension WriteScope {
    /// Adds each of many items in this transaction; if there is no room for all, the error says how many there is room
    /// for.
    ///
    /// `what` names the items: "tuples".
    package func addEach<Item>(
        of items: [Item],
        _ what: String,
        _ body: (Item) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        for (index, item) in items.enumerated() {
            do throws(SpaceError) {
                try body(item)
            } catch  where index > 0 && (error.code == .limitReached || error.code == .storageFull) {
                throw error.ofStep(too: items.count, what, fitting: index)
            }
        }
    }
}

extension SpaceError {
    /// This error of room, for a step that adds more than fits.
    fileprivate func ofStep(too many: Int, _ what: String, fitting count: Int) -> SpaceError {
        let isTooMuch = code == .limitReached && holder == nil
        let reason = isTooMuch ? "so much at once takes more room than the namespace's limit leaves" : reason
        let advice = "write them in parts" + (isTooMuch ? "" : advice.map { ", or \($0)" } ?? "")
        return SpaceError(
            code,
            operation,
            namespace: namespace,
            holder: holder,
            reason: "\(reason); \(count.grouped) of these \(many.grouped) \(what) fit in one step",
            advice: advice
        )
    }
}

extension Int {
    /// The number with commas between groups of three digits.
    fileprivate var grouped: String {
        let digits = String(self)
        return digits.enumerated().reduce(into: "") { text, digit in
            if digit.offset > 0, (digits.count - digit.offset) % 3 == 0 { text.append(",") }
            text.append(digit.element)
        }
    }
}

// The number of permits that was set for all users of a semaphore. It is not in the rows of the places. These keep the
// number that their process has given, which counts again when the set number is taken back.

extension Snapshot {
    /// The number of permits that was set for a semaphore, or `nil` if none was.
    package func permits(setFor name: String) throws(SpaceError) -> Int? {
        guard let row = try object(name), row.kind == .semaphore else { return nil }
        return row.details.permits
    }
}

extension PlaceTable {
    /// Sets the number of permits of a semaphore, or takes it back; returns whether one had been set before.
    @discardableResult
    package func setPermits(_ number: Int?, of name: String) throws(SpaceError) -> Bool {
        let row = try scope.snapshot.object(name, .semaphore)
        if let number, let row {
            try scope.objects.store(name, SharedObjectRow(kind: .semaphore, number: row.number, details: .int(number)))
        } else if let number {
            _ = try makeObject(name, .semaphore, details: .int(number))
        } else if row != nil {
            try scope.objects.remove(name)
        }
        scope.unsettled.note(Name(name)) { scope throws(SpaceError) in try TurnRules().settle(name, in: scope) }
        return row != nil
    }
}

extension TurnWish {
    /// Whether a place that waits asks for more permits than there are: then it is passed over, and its process is told.
    package var isBeyondAll: Bool { kind == .semaphore && weight > permits }

    /// The error for a place that asks for more permits than there are.
    var refusal: SpaceError {
        SpaceError.badNumber(
            "\(weight) of \(permits) permits can never be acquired",
            advice: "ask for no more than there are"
        )
    }
}

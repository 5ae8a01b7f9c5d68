import LMDB

// The errors of a write that has no room.

extension DiskReserve {
    /// The error of a removal that needs more than is kept back.
    var tooMuch: SpaceError {
        .limitReached(
            "to move or remove so much at once takes more room than the namespace's limit of "
                + "\(control.header.byteLimit) bytes leaves",
            advice: "take fewer at once"
        )
    }

    /// Names the living reader that pins freed pages, if there is one: then the limit is not reached by living data.
    ///
    /// It is the one whose snapshot is known to be in the way, or else one that has been reading for many transactions.
    func explain(_ error: SpaceError, inTheWay snapshot: Int? = nil) -> SpaceError {
        let readers = (try? environment.readers()) ?? []
        let last = environment.lastTransaction
        guard
            let oldest = readers.filter({ $0.transaction.map { last &- $0 > 64 || $0 == snapshot } ?? false })
                .min(by: { ($0.transaction ?? 0) < ($1.transaction ?? 0) })
        else { return error }
        let count = last &- (oldest.transaction ?? last)
        return SpaceError(
            error.code,
            error.operation,
            holder: oldest.pid,
            reason: "\(error.reason), and process \(oldest.pid) has been reading the same snapshot for "
                + "\(count) transaction\(count == 1 ? "" : "s"), which keeps freed pages from being used",
            advice: "let process \(oldest.pid) go on, or end it"
        )
    }
}

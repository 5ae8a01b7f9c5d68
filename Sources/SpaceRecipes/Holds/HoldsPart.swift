import TupleCoding

/// Releases the holds of sessions and processes that have ended.
///
/// Guarantees: no ended holder is served what another ended holder held or waited for. To that end all waiting rows of
/// ended holders are removed first, over all names and in any number, and only then the rows that hold. So one death
/// counts as one delivery of a queue's item, however many takers of the dead process stood in the queue.
///
/// A responder is removed after the requests that it made with `next`: if it were removed first, its own request would
/// come down to the next responder before it could take those over. A responder may make requests while its process
/// leaves: then all turns are run again.
///
/// The rows are removed in slices, each of which fits the disk reserve, so a full namespace releases holds too. A slice
/// that cannot be removed does not hold up the others. If a full namespace has no space for taking over a large
/// request, the outer request fails instead. After a kill between two slices, the next process that looks removes the
/// rest.
package final class HoldsPart: NamespacePart {
    package init() {}

    package func addHolders(
        at name: String?,
        in snapshot: Snapshot,
        to holders: inout Set<ClaimHolder>
    ) throws(SpaceError) {
        if let name {
            try snapshot.forEachHold(HoldKeys(name)) { row throws(SpaceError) in
                holders.insert(row.holder)
                return true
            }
        } else if try snapshot.counters().holds > 0 {
            for (_, row) in try snapshot.allHolds() { holders.insert(row.holder) }
        }
    }

    package func drop(
        of core: NamespaceCore,
        timeout: Duration?,
        where hasEnded: (ClaimHolder) -> Bool
    ) throws(SpaceError) {
        try core.dropHolds(timeout: timeout, where: hasEnded)
    }
}

extension NamespaceCore {
    private static let slice = 16
    /// Enough turns for the requests that a handler may just have been making; a request that cannot be removed does
    /// not keep its responder.
    private static let mostTurns = 3

    /// Ends the holds of holders that have ended, and removes their waiting rows from the queues.
    func dropHolds(timeout: Duration?, where hasEnded: (ClaimHolder) -> Bool) throws(SpaceError) {
        for turn in 1...Self.mostTurns {
            if try dropInTurn(timeout: timeout, isLast: turn == Self.mostTurns, where: hasEnded) { return }
        }
    }

    /// Drops all ended rows in order; returns `false` if a responder has made a request with `next` meanwhile, unless
    /// this turn is the last.
    private func dropInTurn(
        timeout: Duration?,
        isLast: Bool,
        where hasEnded: (ClaimHolder) -> Bool
    ) throws(SpaceError) -> Bool {
        let operation = "let go of what the dead held"
        let ended = try read(operation) { snapshot throws(SpaceError) -> [EndedHold] in
            guard try snapshot.counters().holds > 0 else { return [] }
            return try snapshot.allHolds().filter { hasEnded($0.row.holder) }
        }
        var refusal: SpaceError?
        for turn in EndedTurn.allCases {
            var rest = ended.filter { EndedTurn($0.row) == turn }[...]
            while !rest.isEmpty {
                let slice = Array(rest.prefix(turn == .requestsWithin ? 1 : Self.slice))
                rest = rest.dropFirst(slice.count)
                do throws(SpaceError) {
                    guard try drop(slice, operation, timeout: timeout, evenAsking: isLast) else { return false }
                } catch  where error.isOfContent {
                    let left = try dropOneByOne(slice, operation, timeout: timeout)
                    refusal = refusal ?? left
                }
            }
        }
        if let refusal { throw refusal }
        return true
    }

    /// Drops a slice; returns `false`, and drops nothing, if one of its responders has made a request with `next`.
    private func drop(
        _ slice: [EndedHold],
        _ operation: String,
        timeout: Duration?,
        takesOver: Bool = true,
        evenAsking: Bool = true
    ) throws(SpaceError) -> Bool {
        let bytes = try read(operation) { snapshot throws(SpaceError) in
            takesOver ? try snapshot.movedBytes(dropping: slice.map(\.row)) : 0
        }
        return try write(operation, .removing(16 * slice.count, bytes: bytes + 4096), timeout: timeout) {
            scope throws(SpaceError) in
            if !evenAsking, try scope.haveAskedBelow(slice.map(\.row)) { return false }
            try scope.removeHolds(slice, takesOver: takesOver)
            return true
        }
    }

    /// Drops each row of a slice that could not be dropped together, without taking anything over.
    ///
    /// Returns why one of the rows could not be dropped, or `nil` if all were.
    private func dropOneByOne(
        _ slice: [EndedHold],
        _ operation: String,
        timeout: Duration?
    ) throws(SpaceError) -> SpaceError? {
        var refusal: SpaceError?
        for row in slice {
            do throws(SpaceError) {
                _ = try drop([row], operation, timeout: timeout, takesOver: false)
            } catch  where error.isOfContent {
                refusal = error
            }
        }
        return refusal
    }
}

private typealias EndedHold = (name: String, row: HoldRow)

/// The order in which rows of ended holders are removed; within a turn, the order is that of the tickets.
private enum EndedTurn: CaseIterable {
    case waiting, holding, requests, requestsWithin, responders

    init(_ row: HoldRow) {
        switch row.kind {
        // An outer request may take an inner one over, which copies all its bytes.
        case .request: self = RequestRow(row)?.within ?? 0 == 0 ? .requests : .requestsWithin
        case .responder: self = .responders
        default: self = row.isHolding ? .holding : .waiting
        }
    }
}

import TupleCoding

/// Letting go for those who have ended.
///
/// Guarantees: nobody who has ended is served what another of them held, or waited for: those who wait go first, over all names
/// and whatever the number, and only then those who hold. So one death is one delivery of a queue's item, however many
/// of its process's takers stood in the queue. A responder goes after the requests that it asked with `next`: else what it
/// was asked itself would come down to the next below before it takes those over. It may ask while its process leaves:
/// then all have their turns again. Everything goes in slices, each of which
/// fits the reserve, and what does not go holds nothing else up: a full namespace lets go too. There a large request that was
/// to be taken over fails instead. A kill between two slices leaves the rest to the next who looks.
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
    /// Enough for what a handler may have been about to ask; one that can't go doesn't keep its responder.
    private static let mostTurns = 3

    /// Lets go of what those hold who have ended, and takes them out of the queues.
    func dropHolds(timeout: Duration?, where hasEnded: (ClaimHolder) -> Bool) throws(SpaceError) {
        for turn in 1...Self.mostTurns {
            if try dropInTurn(timeout: timeout, isLast: turn == Self.mostTurns, where: hasEnded) { return }
        }
    }

    /// Returns: `false` where responders are left that have asked below meanwhile, and it is not the last time.
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

    /// Returns: `false` where one of them has asked below, and nothing was dropped.
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

    /// What did not go together: each on its own, and nothing is taken over.
    ///
    /// Returns: Why one of them did not go; `nil`: all have gone.
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

/// In which order the rows of those who have ended go; within a turn as they came.
private enum EndedTurn: CaseIterable {
    case waiting, holding, requests, requestsWithin, responders

    init(_ row: HoldRow) {
        switch row.kind {
        // What is asked within another may be taken over, which moves as much as it is large.
        case .request: self = RequestRow(row)?.within ?? 0 == 0 ? .requests : .requestsWithin
        case .responder: self = .responders
        default: self = row.isHolding ? .holding : .waiting
        }
    }
}

/// Ends the places of sessions and processes that have ended.
///
/// Guarantees: no ended holder is served what another ended holder held or waited for. To that end all waiting rows of
/// ended holders are removed first, over all names and in any number, and only then the rows that hold. So one death
/// counts as one delivery of a queue's item, however many takers of the dead process stood in the queue. For the same
/// reason requests are removed before responders; those that a responder made with `next` end with that responder
/// (`ResponderRules`), and only what is left of them is removed last.
///
/// The rows are removed in slices, each of which fits the disk reserve, so a full namespace releases holds too. A slice
/// that cannot be removed does not hold up the others. If a full namespace has no space for taking over a large
/// request, the outer request fails instead. After a kill between two slices, the next process that looks removes the
/// rest.
package final class PlacesPart: NamespacePart {
    package init() {}

    package func addHolders(
        at name: String?,
        in snapshot: Snapshot,
        to holders: inout Set<ClaimHolder>
    ) throws(SpaceError) {
        if let name {
            try snapshot.forEachPlace(PlaceKeys(name)) { row throws(SpaceError) in
                holders.insert(row.holder)
                return true
            }
        } else if try snapshot.counters().holds > 0 {
            for (_, row) in try snapshot.allPlaces() { holders.insert(row.holder) }
        }
    }

    private static let slice = 16

    /// Ends the places of holders that have ended, and throws the first error of content once all others are ended.
    package func drop(
        of core: NamespaceCore,
        timeout: Duration?,
        where hasEnded: (ClaimHolder, _ number: UInt64) -> Bool
    ) throws(SpaceError) {
        let ended = try core.read { snapshot throws(SpaceError) -> [EndedPlace] in
            guard try snapshot.counters().holds > 0 else { return [] }
            return try snapshot.allPlaces().filter { hasEnded($0.row.holder, $0.row.ticket) }
        }
        var refusal: SpaceError?
        for turn in EndedTurn.allCases {
            var rest = ended.filter { EndedTurn($0.row) == turn }[...]
            while !rest.isEmpty {
                let slice = Array(rest.prefix(Self.slice))
                rest = rest.dropFirst(slice.count)
                do throws(SpaceError) {
                    try drop(slice, of: core, timeout: timeout)
                } catch  where error.isOfContent {
                    let left = try dropOneByOne(slice, of: core, timeout: timeout)
                    refusal = refusal ?? left
                }
            }
        }
        if let refusal { throw refusal }
    }

    /// Ends places in one transaction, which settles their names once all of their rows are removed.
    private func drop(
        _ slice: [EndedPlace],
        of core: NamespaceCore,
        takesOver: Bool = true,
        timeout: Duration?
    ) throws(SpaceError) {
        try core.write(.removing, timeout: timeout) { scope throws(SpaceError) in
            for (name, row) in slice {
                try scope.places.remove(row.ticket, of: name, by: row.kind.rules(takesOver: takesOver))
            }
        }
    }

    /// Drops one by one the rows of a slice that could not be dropped together, if need be without taking anything
    /// over.
    ///
    /// Returns why one of the rows could not be dropped, or `nil` if all were.
    private func dropOneByOne(
        _ slice: [EndedPlace],
        of core: NamespaceCore,
        timeout: Duration?
    ) throws(SpaceError) -> SpaceError? {
        var refusal: SpaceError?
        for place in slice {
            do throws(SpaceError) {
                do throws(SpaceError) {
                    try drop([place], of: core, timeout: timeout)
                } catch  where error.isOfContent {
                    try drop([place], of: core, takesOver: false, timeout: timeout)
                }
            } catch  where error.isOfContent {
                refusal = error
            }
        }
        return refusal
    }
}

private typealias EndedPlace = (name: String, row: PlaceRow)

/// The order in which rows of ended holders are removed; within a turn, the order is that of the tickets.
private enum EndedTurn: CaseIterable {
    case waiting, holding, requests, responders, requestsWithin

    init(_ row: PlaceRow) {
        switch row.kind {
        case .request: self = RequestRow(row)?.within ?? 0 == 0 ? .requests : .requestsWithin
        case .responder: self = .responders
        default: self = row.isHolding ? .holding : .waiting
        }
    }
}

extension SharedObjectKind {
    /// The rules of a place of this kind; a kind that has no places occurs only in damaged rows, and gets the rules of
    /// locks.
    fileprivate func rules(takesOver: Bool) -> any PlaceRules {
        switch self {
        case .barrier: PartyRules()
        case .queue: TakerRules()
        case .responder: ResponderRules(takesOver: takesOver)
        case .request: RequestRules()
        default: TurnRules()
        }
    }
}

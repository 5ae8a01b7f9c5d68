import TupleCoding

/// Letting go for those who have ended.
///
/// Guarantees: nobody who has ended is served what another of them held, or waited for: those who wait go first, over all names
/// and whatever the number, and only then those who hold. So one death is one delivery of a queue's item, however many
/// of its process's takers stood in the queue. A responder goes after the requests that it asked with `next`: else what it
/// was asked itself would come down to the next below before it takes those over. Everything goes in slices, each of which
/// fits the reserve: a full namespace lets go too. A kill between two slices leaves the rest to the next who looks.
extension NamespaceCore {
    private static let slice = 16

    /// Lets go of what those hold who have ended, and takes them out of the queues.
    func dropHolds(timeout: Duration?, where hasEnded: (ClaimHolder) -> Bool) throws(SpaceError) {
        let operation = "let go of what the dead held"
        let ended = try read(operation) { snapshot throws(SpaceError) -> [EndedHold] in
            guard try snapshot.counters().holds > 0 else { return [] }
            return try snapshot.allHolds().filter { hasEnded($0.row.holder) }
        }
        for turn in EndedTurn.allCases {
            var rest = ended.filter { EndedTurn($0.row) == turn }[...]
            while !rest.isEmpty {
                let slice = rest.prefix(Self.slice)
                rest = rest.dropFirst(Self.slice)
                let bytes = try read(operation) { snapshot throws(SpaceError) in
                    try snapshot.movedBytes(dropping: slice.map(\.row))
                }
                let demand = Room.Demand.removing(16 * slice.count, bytes: bytes + 4096)
                try write(operation, demand, timeout: timeout) { scope throws(SpaceError) in
                    try scope.removeHolds(Array(slice))
                }
            }
        }
    }
}

private typealias EndedHold = (name: String, row: HoldRow)

/// In which order the rows of those who have ended go; within a turn as they came.
private enum EndedTurn: CaseIterable {
    case waiting, holding, requests, responders

    init(_ row: HoldRow) {
        switch row.kind {
        case .request: self = .requests
        case .responder: self = .responders
        default: self = row.isHolding ? .holding : .waiting
        }
    }
}

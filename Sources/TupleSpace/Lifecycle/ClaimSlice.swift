/// Claims whose tuples one transaction moves back: no more than fit the disk reserve.
struct ClaimSlice {
    private(set) var ids: [UInt64] = []

    init(in snapshot: Snapshot, max: Int = 64, where isWanted: (UInt64, ClaimRow) -> Bool) throws(SpaceError) {
        let counters = try snapshot.counters()
        guard counters.claimed + counters.withoutHolder > 0 else { return }
        var bytes = 0
        try snapshot.forEachClaim { (id, row) throws(SpaceError) in
            if isWanted(id, row) {
                ids.append(id)
                bytes += row.size
            }
            return ids.count < min(max, 64) && bytes < 1 << 20
        }
    }
}

extension NamespaceCore {
    /// Returns the claims for which `isWanted` is true, and kicks such tuples that were buried.
    ///
    /// One call moves only as many as fit the disk reserve. The result is the number that moved. It is also 0 if
    /// another process moved them first; so a caller that loops until it is 0 ends.
    func moveClaims(max: Int = 64, where isWanted: (UInt64, ClaimRow) -> Bool) throws(SpaceError) -> Int {
        try move(try claimSlice(max: max, where: isWanted), timeout: nil, if: isWanted)
    }

    func claimSlice(max: Int, where isWanted: (UInt64, ClaimRow) -> Bool) throws(SpaceError) -> ClaimSlice {
        try read(showsNear: true) { (snapshot) throws(SpaceError) in
            try ClaimSlice(in: snapshot, max: max, where: isWanted)
        }
    }

    func move(
        _ slice: ClaimSlice,
        timeout: Duration?,
        if isWanted: (UInt64, ClaimRow) -> Bool
    ) throws(SpaceError) -> Int {
        guard !slice.ids.isEmpty else { return 0 }
        return try write(.removing, timeout: timeout) { (scope) throws(SpaceError) in
            var moved = 0
            for id in slice.ids {
                guard let row = try scope.claimRow(id), isWanted(id, row) else { continue }
                let hasMoved = row.isBuried ? try scope.kick(id) : try scope.returnClaim(id) { _ in true }
                if hasMoved { moved += 1 }
            }
            return moved
        }
    }
}

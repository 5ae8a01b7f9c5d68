/// Claims whose tuples one transaction returns: no more than fit the disk reserve.
struct ClaimSlice {
    private(set) var ids: [UInt64] = []

    init(
        in snapshot: Snapshot,
        max: Int = 64,
        where isWanted: (UInt64, ClaimRow) throws(SpaceError) -> Bool
    ) throws(SpaceError) {
        let counters = try snapshot.counters()
        guard counters.claimed + counters.withoutHolder > 0 else { return }
        var bytes = 0
        try snapshot.forEachClaim { (id, row) throws(SpaceError) in
            if try isWanted(id, row) {
                ids.append(id)
                bytes += try snapshot.claimedTuple(id)?.size ?? 0
            }
            return ids.count < min(max, 64) && bytes < 1 << 20
        }
    }
}

extension NamespaceCore {
    func claimSlice(max: Int, where isWanted: (UInt64, ClaimRow) -> Bool) throws(SpaceError) -> ClaimSlice {
        try read(showsNear: true) { (snapshot) throws(SpaceError) in
            try ClaimSlice(in: snapshot, max: max, where: isWanted)
        }
    }

    /// Returns those claims of a slice for which `isWanted` is still true, and kicks such tuples that were buried.
    ///
    /// The result is the number that returned. It is also 0 if other processes returned them first; so a caller that
    /// loops until it is 0 ends.
    func end(
        _ slice: ClaimSlice,
        timeout: Duration?,
        as purpose: WritePurpose = .removing,
        if isWanted: (UInt64, ClaimRow) -> Bool
    ) throws(SpaceError) -> Int {
        guard !slice.ids.isEmpty else { return 0 }
        return try write(purpose, timeout: timeout) { (scope) throws(SpaceError) in
            var ended = 0
            for id in slice.ids {
                guard let row = try scope.claims.get(id), isWanted(id, row) else { continue }
                let hasEnded = row.isBuried ? try scope.kick(id) : try scope.returnClaim(id) { _ in true }
                if hasEnded { ended += 1 }
            }
            return ended
        }
    }
}

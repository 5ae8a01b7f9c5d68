/// What responding processes do with the rows of responders: one transaction for each step.
package struct ResponderAccess {
    let core: NamespaceCore

    package func enrol(_ name: String, key: String, isBase: Bool) throws(SpaceError) -> ResponderPosition {
        core.claimants.announce()
        return try core.write(.adding) { scope throws(SpaceError) in
            try scope.responders.enrol(name, key: key, isBase: isBase, session: core.session.number)
        }
    }

    /// Takes the responders for which `isMeant` is true off the stack, and returns whether there were any.
    package func retire(
        to name: String,
        timeout: Duration? = nil,
        where isMeant: (ResponderRow) -> Bool
    ) throws(SpaceError) -> Bool {
        try core.write(.removing, timeout: timeout) { scope throws(SpaceError) in
            let rows = try scope.snapshot.responders(to: name).rows.filter { !$0.isRetired && isMeant($0) }
            for row in rows { try scope.responders.retire(row, of: name) }
            return !rows.isEmpty
        }
    }

    package func remove(
        _ position: ResponderPosition,
        of name: String,
        timeout: Duration? = nil
    ) throws(SpaceError) {
        try core.write(.removing, timeout: timeout) { scope throws(SpaceError) in
            try scope.responders.remove(position, of: name)
        }
    }

    /// The responders of living processes that can be asked.
    ///
    /// If `name` is `nil`, the result has the responders to all names.
    package func living(to name: String?) throws(SpaceError) -> [(name: String, row: ResponderRow)] {
        let rows = try core.read { snapshot throws(SpaceError) -> [(name: String, row: ResponderRow)] in
            guard let name else { return try snapshot.allResponders() }
            return try snapshot.responders(to: name).rows.map { (name, $0) }
        }
        var isAlive: [UInt64: Bool] = [core.session.number: true]
        return rows.filter { _, row in
            guard !row.isRetired else { return false }
            let alive = isAlive[row.session] ?? core.liveness.isAlive(session: row.session)
            isAlive[row.session] = alive
            return alive
        }
    }
}

extension NamespaceCore {
    /// What this process does with responders.
    package var responders: ResponderAccess { ResponderAccess(core: self) }
}

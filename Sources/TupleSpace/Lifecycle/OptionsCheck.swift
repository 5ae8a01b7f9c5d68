extension NamespaceOptions {
    /// Compares the options that an opener named with the existing namespace.
    ///
    /// Options that are not named are not compared. Without this check, the opener of a different namespace than it
    /// asked for would notice too late: a namespace that is not persistent, for example, is deleted with its data.
    package func check(_ control: ControlFile, _ name: String) throws(SpaceError) {
        let header = control.header
        if let mode, mode != header.mode {
            throw .incompatible(
                "it was created in the mode \(header.mode.rawValue), not \(mode.rawValue)",
                advice: "open it without naming a mode, or delete it first"
            )
        }
        if isLocal, control.staying.isReplica {
            throw .incompatible(
                "it exists, and several machines share it",
                advice: "choose another name, or open it without --local (isLocal)"
            )
        }
        if isPersistent, !control.staying.isPersistent {
            throw .incompatible("it exists, and is not persistent", advice: "make it so with: space persist \(name)")
        }
        if let byteLimit, UInt64(clamping: byteLimit) != header.byteLimit {
            throw .incompatible(
                "it was created with a limit of \(header.byteLimit) bytes, not \(byteLimit)",
                advice: "open it without naming a limit; or dump it, delete it, and load it into one with another limit"
            )
        }
        if let group, group != header.group {
            let what = header.group == .max ? "for its creator alone" : "for the group \(header.group)"
            throw .incompatible(
                "it was created \(what), not for the group \(group)",
                advice: "open it without naming a group, or delete it first"
            )
        }
    }

    /// Compares the history that an opener named with the one that the namespace keeps.
    func checkHistory(_ core: NamespaceCore) throws(SpaceError) {
        guard let history else { return }
        let name = core.name.text
        let limit = core.control.header.byteLimit
        var wanted = Counters()
        (wanted.historyRows, wanted.historyBytes) = try history.words(limit: Int(clamping: limit))
        let kept = try core.read { (snapshot) throws(SpaceError) in
            try snapshot.counters().history(limit: limit)
        }
        let whole = wanted.history(limit: limit)
        guard kept != whole else { return }
        func words(_ history: History?) -> String {
            [history?.changes, history?.bytes].compactMap { $0.map { "\($0)" } }.joined(separator: ",")
        }
        let named = words(history.changes == nil ? whole : history)
        throw .incompatible(
            "it exists, and its history is \(kept.map(words) ?? "none"), not \(named)",
            advice: "change it with: space history \(name) \(named)"
        )
    }
}

extension Inspection {
    /// The damage in the pages of a namespace's data file, one sentence for each finding.
    ///
    /// No part of the file is mapped, so no damage can end the process. While processes write in the namespace, a
    /// reading that mixes commits is repeated.
    package static func damagedPages(
        _ subject: Subject,
        timeout: Duration = .seconds(1)
    ) throws(SpaceError) -> [String] {
        let folder = try folder(subject, for: operation)
        return try damagedPages(whole: folder, timeout: timeout)
    }

    /// Looks at a folder that may be deleted during the look.
    static func damagedPages(
        whole folder: borrowing NamespaceFolder,
        timeout: Duration
    ) throws(SpaceError) -> [String] {
        do throws(SpaceError) {
            let damage = try damagedPages(folder, timeout)
            if !damage.isEmpty { try folder.checkInPlace() }
            return damage
        } catch {
            throw folder.named(error, operation)
        }
    }

    private static func damagedPages(
        _ folder: borrowing NamespaceFolder,
        _ timeout: Duration
    ) throws(SpaceError) -> [String] {
        guard let reading = try PageReading(folder) else { return ["there is no data file"] }
        for _ in 0..<3 {
            let (rows, isOfOneCommit) = try reading.whileUnchanged()
            if isOfOneCommit { return rows.faults }
        }
        let (rows, obstacle) = try reading.underGate(folder, timeout)
        guard let obstacle, !rows.faults.isEmpty else { return rows.faults }
        return rows.faults + [
            "all this was read without locks (\(obstacle)) while processes wrote, so it may be no damage"
        ]
    }
}

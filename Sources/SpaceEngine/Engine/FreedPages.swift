import LMDB

/// The pages that the last commit has freed: LMDB uses what a transaction has freed in the second one after it.
///
/// So what one step has taken from a full namespace would make no room for the next write, and as a refused write commits
/// nothing, for none after it. A commit in between helps, but costs as much as a write.
struct FreedPages {
    private let engine: Engine

    init(_ engine: Engine) { self.engine = engine }

    /// More pages than a transaction of a few rows frees.
    private static let many = 128

    /// Whether they are so many that a commit is worth its cost; called under the gate.
    var areMany: Bool {
        guard let reader = try? engine.environment.beginRead() else { return false }
        return (try? reader.access.freedPages(by: engine.environment.lastTransaction)) ?? 0 >= Self.many
    }

    /// Commits without a change, so that they can be used; called under the gate.
    ///
    /// - Throws: What a commit throws.
    func makeUsable() throws(SpaceError) {
        try engine.commitOnce(.removing, removesDue: false) { $0.noteUpkeep() }
    }
}

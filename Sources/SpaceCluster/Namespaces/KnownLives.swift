import SpaceEngine

/// The lives of namespaces that the store has, as far as this machine knows.
///
/// They come from readings, from the watch, and from what this machine has founded itself. The watch may be late, so each
/// life has the revision that it is known from, and news of an older revision is ignored.
struct KnownLives {
    private struct Known {
        /// `nil` if the store has none of the name.
        let life: NamespaceLife?
        let revision: Int64
    }

    private var known: [NamespaceName: Known] = [:]
    /// Whether all are known.
    private var isComplete = false

    /// The life of a name that the store has.
    subscript(_ name: NamespaceName) -> NamespaceLife? { known[name]?.life }

    /// Whether the store has a life of a name; `nil` while that is not known.
    func has(_ name: NamespaceName) -> Bool? { self[name] != nil ? true : isComplete ? false : nil }

    /// Whether the store is known to have no life of a name, or another life than this one.
    func isGone(_ name: NamespaceName, _ life: UInt64) -> Bool { isComplete && self[name]?.number != life }

    /// All are about to be read: any news from now on is newer than what is known.
    ///
    /// The store may have been set back, and give out revisions again.
    mutating func beginReading() { known = known.mapValues { Known(life: $0.life, revision: 0) } }

    /// Learns all lives that a reading has found.
    mutating func learn(all lives: [NamespaceName: NamespaceLife], at revision: Int64) {
        for name in Set(known.keys).union(lives.keys) { learn(name, lives[name], at: revision) }
        isComplete = true
    }

    /// Learns the life of one name, or that there is none, unless something newer is known.
    mutating func learn(_ name: NamespaceName, _ life: NamespaceLife?, at revision: Int64) {
        if let before = known[name], before.revision > revision { return }
        known[name] = Known(life: life, revision: revision)
    }
}

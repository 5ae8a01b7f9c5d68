/// A place in the changes of one life of a namespace, which a watcher stores to continue from there later.
///
/// ```swift
/// var point = changes.resumePoint                             // kept in a file, say
/// for try await change in changes { point = changes.resumePoint(after: change) }
/// …
/// let later = try jobs.changes(from: .resume(point))
/// ```
///
/// In another life of the namespace, resuming begins with a gap; a number alone could be mistaken for one of that
/// life.
public struct ResumePoint: Sendable, Hashable, Codable {
    /// The last change that is not wanted again.
    public var sequence: UInt64
    /// The life that the number belongs to.
    public var life: NamespaceLife

    /// Makes a resume point from stored values.
    public init(sequence: UInt64, life: NamespaceLife) {
        self.sequence = sequence
        self.life = life
    }
}

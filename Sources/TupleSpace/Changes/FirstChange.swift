/// The number of the first change wanted, `SEQ`, or with the life of the namespace that counts it, `SEQ@LIFE`.
package struct FirstChange: Sendable, LosslessStringConvertible {
    package let sequence: UInt64
    package let life: NamespaceLife?

    /// Reads the text; `nil` if it is neither form.
    package init?(_ text: String) {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let sequence = UInt64(first) else { return nil }
        self.sequence = sequence
        guard parts.count == 2 else {
            life = nil
            return
        }
        guard let life = NamespaceLife(String(parts[1])) else { return nil }
        self.life = life
    }

    /// The first change that comes after a place.
    package init(after point: ResumePoint) { (sequence, life) = (point.sequence &+ 1, point.life) }

    package var description: String { life.map { "\(sequence)@\($0)" } ?? "\(sequence)" }

    /// Where a watch begins that wants this change first.
    package var start: Changes.Start {
        let last = sequence == 0 ? 0 : sequence - 1
        return life.map { .resume(ResumePoint(sequence: last, life: $0)) } ?? .after(last)
    }
}

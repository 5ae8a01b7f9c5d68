import CommandWords
import SharedSpace

/// The number of the first change wanted, `SEQ`, or with the life of the namespace that counts it, `SEQ@LIFE`.
struct FirstChange: ExpressibleByArgument, Sendable {
    let sequence: UInt64
    let life: NamespaceLife?

    init?(argument: String) {
        let parts = argument.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let sequence = UInt64(first) else { return nil }
        self.sequence = sequence
        guard parts.count == 2 else {
            life = nil
            return
        }
        guard let life = NamespaceLife(String(parts[1])) else { return nil }
        self.life = life
    }
}

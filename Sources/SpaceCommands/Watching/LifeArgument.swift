import CommandWords
import SharedSpace

/// A life, as `watch` and `show` print it.
struct LifeArgument: ExpressibleByArgument, Sendable {
    let life: NamespaceLife

    init?(argument: String) {
        guard let life = NamespaceLife(argument) else { return nil }
        self.life = life
    }
}

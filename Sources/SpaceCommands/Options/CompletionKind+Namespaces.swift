import ArgumentParser

extension CompletionKind {
    /// The names of the namespaces in the default root.
    static var namespaces: CompletionKind { .shellCommand("space list 2>/dev/null") }
}

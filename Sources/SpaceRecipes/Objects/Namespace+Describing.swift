import TupleCoding

extension Namespace {
    /// What a handle is, in one line: `lock "deploy" in namespace "jobs"`.
    func describing(_ kind: SharedObjectKind, _ name: String) -> String {
        "\(kind.word) \(name.quotedForPeople) in namespace \(self.name.quotedForPeople)"
    }
}

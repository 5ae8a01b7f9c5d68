extension ResponderToken: CustomStringConvertible {
    /// What the token is, in one line: `responder "greet" with key "louder"`.
    public var description: String { "responder \(name.quotedForPeople) with key \(key.quotedForPeople)" }
}

extension ObservationToken: CustomStringConvertible {
    /// What the token is, in one line: `observation 3: key a/b`.
    public var description: String { "observation \(ObservationInfo(observer))" }
}

/// A description of one observation, for status displays.
public struct ObservationInfo: Sendable, Identifiable, CustomStringConvertible {
    /// The observation's number, the same as its token's.
    public let id: UInt64
    /// The changes that it receives.
    public let filter: ChangeFilter
    /// The type of the object that the observation belongs to; `nil` if it has a token.
    public let objectType: String?
    /// Whether it is only notified that something has changed.
    public let isCoarse: Bool

    package init(_ observer: Observer) {
        id = observer.id
        filter = observer.filter
        objectType = observer.subject?.typeName
        isCoarse = observer.isCoarse
        description = "\(observer)"
    }

    /// One line: the number, the filter and the object's type.
    public let description: String
}

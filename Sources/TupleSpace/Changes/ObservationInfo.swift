import TupleCoding

/// One observation, for those who look on.
public struct ObservationInfo: Sendable, Identifiable, CustomStringConvertible {
    /// Its number, as its token has it.
    public let id: UInt64
    /// Which changes it is told of.
    public let filter: ChangeFilter
    /// The type of the object that it is for; `nil`: it has a token.
    public let objectType: String?
    /// Whether it is told only that something has changed.
    public let isCoarse: Bool

    package init(_ observer: Observer) {
        id = observer.id
        filter = observer.filter
        objectType = observer.subject?.typeName
        isCoarse = observer.isCoarse
    }

    /// One line: the number, the filter and the object's type.
    public var description: String { "\(id): \(filter.text)" + (objectType.map { ", for a \($0)" } ?? "") }
}

/// A request to be made: the name, the argument, and which responders may be asked.
package struct OutgoingRequest: Sendable {
    package let name: String
    /// The argument, one encoded element.
    package let argument: [UInt8]
    /// Only responders below this position are asked.
    package var below: ResponderPosition
    /// Responders that are not asked.
    package var reached: [ResponderPosition]
    /// The request in whose handler this one is made.
    var within: Asking?
    /// The deadline that the responder sees: milliseconds of the namespace's clock, or `nil` if there is none.
    package var deadline: Int64?

    package init(
        name: String,
        argument: [UInt8],
        below: ResponderPosition = .top,
        reached: [ResponderPosition] = [],
        within: Asking? = nil,
        deadline: Int64? = nil
    ) {
        self.name = name
        self.argument = argument
        self.below = below
        self.reached = reached
        self.within = within
        self.deadline = deadline
    }
}

/// A request as the answering process sees it.
package struct IncomingRequest: Sendable {
    package let asking: Asking
    package let position: ResponderPosition
    package let name: String
    /// The argument, one encoded element.
    package let argument: [UInt8]
    /// The deadline in milliseconds of the namespace's clock; 0 if there is none.
    package let deadline: Int64
    /// The responders that `next` must not ask.
    package let reached: [ResponderPosition]
    /// The asking process.
    package let pid: Int32
}

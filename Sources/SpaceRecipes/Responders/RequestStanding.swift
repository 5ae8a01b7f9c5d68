/// The state of a request.
package enum RequestStanding: Sendable {
    /// Not answered yet; this process is answering it.
    case pending(Int32)
    /// Answered by this process, with one encoded element.
    case answered(Int32, [UInt8])
    /// Failed in this process, with this description.
    case failed(Int32, String)
    /// No responder is left to ask; of the responders still on the stack, these were asked.
    case nobody(reached: [ResponderPosition])
}

/// A refusal that the caller can act on: it says what was asked, why it can't be done, and what to do.
package struct AgentError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

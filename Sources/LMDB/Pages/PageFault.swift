/// What is wrong with a page.
package struct PageFault: Hashable, Sendable {
    package let page: UInt64
    /// The table that the page belongs to, or `nil` if that is unknown.
    package let table: String?
    package let reason: String

    package init(_ page: UInt64, _ table: String?, _ reason: String) {
        self.page = page
        self.table = table
        self.reason = reason
    }
}

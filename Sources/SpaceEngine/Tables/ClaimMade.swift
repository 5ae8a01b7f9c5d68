/// The result of claiming a tuple.
package struct ClaimMade {
    package let number: UInt64
    /// How often the tuple had returned before.
    package let deliveries: Int

    package init(number: UInt64, deliveries: Int) {
        self.number = number
        self.deliveries = deliveries
    }
}

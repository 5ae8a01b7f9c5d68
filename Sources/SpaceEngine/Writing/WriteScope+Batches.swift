extension WriteScope {
    /// Adds each of many items in this transaction; if there is no room for all, the error says how many there is room
    /// for.
    ///
    /// `what` names the items: "tuples". `body` adds the one with a number from 0. It isn't given the item itself: a generic
    /// function of another module would cost each tuple of a batch as much as half of its insertion.
    package func addEach(
        of count: Int,
        _ what: String,
        _ body: (Int) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        for index in 0..<count {
            do throws(SpaceError) {
                try body(index)
            } catch  where index > 0 && error.isOfStepTooLarge {
                throw error.ofStep(too: count, what, fitting: index)
            }
        }
    }
}

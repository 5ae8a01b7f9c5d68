/// What a write transaction is for, which decides whether it may use the disk space kept back for removals.
package enum WritePurpose: Sendable {
    /// The transaction may add; it leaves alone what is kept back for removals.
    case adding
    /// The transaction claims; it leaves alone a half of that, for what ends the claims.
    case claiming
    /// The transaction takes, moves, changes or deletes; it may use that too.
    case removing
    /// The transaction applies what a log has; it may go beyond the limit, because its writer has kept it.
    ///
    /// The same changes can need more room in another data file, whose free pages are others. A replica that refused them
    /// would be one no more.
    case applying
}

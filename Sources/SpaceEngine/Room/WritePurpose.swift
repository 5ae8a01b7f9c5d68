/// What a write transaction is for, which decides whether it may use the disk space kept back for removals; first the one
/// that leaves most of it alone.
package enum WritePurpose: Int, Sendable {
    /// The transaction may add; it does not use the space that is kept back for removals.
    case adding
    /// The transaction loads what another namespace had into a new one, which may be packed less densely than it was; it leaves
    /// seven eighths of that space.
    case loading
    /// The transaction claims or buries; it leaves a half of that space for the operations that end the claims.
    case claiming
    /// The transaction returns what ended holders have claimed; it leaves a quarter for takes, which free more than they
    /// need.
    case returning
    /// The transaction takes, moves, changes or deletes; it may use that space too.
    case removing
    /// The transaction applies entries of a log; it may go beyond the limit, because the entries' writer has kept the
    /// limit.
    ///
    /// The same changes can need more room in another data file, which has other free pages. A replica that refused
    /// them would no longer be a replica.
    case applying
}

/// When a tuple or a cell ends by itself: at a time, with the end of a holder, or never.
package struct RowEnd: Hashable, Sendable {
    /// The time at which the row expires, in milliseconds of the namespace's clock; 0: it does not expire.
    package let expiry: Int64
    /// The holder with whose end the row ends, as the row keeps it, or 0 for none; no session has the number 0.
    let rawHolder: UInt64

    @inline(__always)
    package init(expiry: Int64 = 0, holder: ClaimHolder? = nil) {
        self.init(expiry: expiry, rawHolder: holder?.raw ?? 0)
    }

    @inline(__always)
    init(expiry: Int64, rawHolder: UInt64) {
        self.expiry = expiry
        self.rawHolder = rawHolder
    }

    /// The session or process with whose end the row ends; `nil`: with none.
    package var holder: ClaimHolder? { rawHolder == 0 ? nil : ClaimHolder(raw: rawHolder) }

    /// The same with another holder.
    package func with(holder: ClaimHolder) -> RowEnd { RowEnd(expiry: expiry, holder: holder) }

    /// Whether only a call ends the row.
    @inline(__always)
    package var isNever: Bool { expiry == 0 && rawHolder == 0 }

    /// Whether the time of the row has not passed; the clock is read only for a row that expires.
    @inline(__always)
    package func isVisible(_ clock: NamespaceClock) -> Bool { expiry == 0 || expiry > clock.milliseconds }

    /// Whether the row ends with a holder other than a session.
    package func isOfOther(session number: UInt64) -> Bool { rawHolder != 0 && rawHolder != number }

    /// The keys of `expiries` that belong to the row of this subject.
    package func keys(_ subject: ExpiryKey.Subject) -> [ExpiryKey] {
        var keys: [ExpiryKey] = []
        if expiry != 0 { keys.append(ExpiryKey(subject, at: expiry)) }
        if let holder { keys.append(ExpiryKey(subject, with: holder)) }
        return keys
    }
}

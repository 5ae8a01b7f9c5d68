extension ControlHeader {
    /// Continues the clock of another header, so that expiries which were set by that clock come at their time.
    package mutating func continueClock(of other: ControlHeader, on host: HostIdentity) {
        (clockBase, clockOffset) = (other.clockBase, other.clockOffset)
        if !other.countsTime(as: host) { setClock() }
    }
}

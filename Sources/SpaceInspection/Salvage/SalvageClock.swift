/// Converts times of the namespace's clock to milliseconds since 1970.
struct SalvageClock {
    let clock: NamespaceClock

    /// `nil` for 0, which means never.
    func realtime(_ milliseconds: Int64) -> Int64? { milliseconds == 0 ? nil : clock.realtime(milliseconds) }
}

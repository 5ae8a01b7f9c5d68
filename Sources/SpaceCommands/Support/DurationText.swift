/// Durations as they are written on the command line: `250ms`, `5s`, `2m`, `1h`, and a bare number of seconds.
enum DurationText {
    /// The longest duration that is understood: a thousand years, far inside what every clock of the library can add.
    private static let longest = Duration.seconds(1000 * 365 * 86_400)

    /// The duration that a word stands for, or `nil` if it isn't one.
    ///
    /// A fraction is allowed: `0.5s`, `1.5`.
    static func parse(_ word: some StringProtocol) -> Duration? {
        var rest = Substring(word)
        guard let whole = digits(from: &rest) else { return nil }
        var fraction: Substring = ""
        if rest.first == "." {
            rest.removeFirst()
            guard let found = digits(from: &rest) else { return nil }
            fraction = found
        }
        guard let unit = unit(rest), let count = Int64(whole) else { return nil }
        guard let nanoseconds = scaled(count, by: unit), let part = scaled(fraction, by: unit) else { return nil }
        let (sum, overflow) = nanoseconds.addingReportingOverflow(part)
        guard !overflow else { return nil }
        let duration = Duration.seconds(sum / 1_000_000_000) + .nanoseconds(Int64(sum % 1_000_000_000))
        return duration <= longest ? duration : nil
    }

    /// Whether a word that isn't a duration looks as if one was meant.
    static func resembles(_ word: some StringProtocol) -> Bool {
        word.utf8.first.map { (0x30...0x39).contains($0) } ?? false
    }

    private static func digits(from rest: inout Substring) -> Substring? {
        // ASCII digits only: `Character.isNumber` takes every script's.
        let found = rest.prefix { $0.isASCII && $0.isNumber }
        guard !found.isEmpty else { return nil }
        rest = rest.dropFirst(found.count)
        return found
    }

    /// Nanoseconds in a unit.
    private static func unit(_ word: Substring) -> Int128? {
        switch word {
        case "ms": 1_000_000
        case "", "s": 1_000_000_000
        case "m": 60_000_000_000
        case "h": 3_600_000_000_000
        default: nil
        }
    }

    private static func scaled(_ count: Int64, by unit: Int128) -> Int128? {
        let (product, overflow) = Int128(count).multipliedReportingOverflow(by: unit)
        return overflow ? nil : product
    }

    /// The fraction's nanoseconds; digits beyond what a nanosecond resolves are dropped.
    private static func scaled(_ fraction: Substring, by unit: Int128) -> Int128? {
        var sum: Int128 = 0
        var scale = unit
        for digit in fraction.utf8 {
            scale /= 10
            if scale == 0 { break }
            sum += Int128(digit - 0x30) * scale
        }
        return sum
    }
}

/// Durations as words, in the shell and in the steps of a transaction: `250ms`, `5s`, `2m`, `1h`, `1d`, `1h30m`, and a bare number of seconds.
package enum DurationText {
    /// The forms, for messages.
    package static let forms = "250ms, 5s, 2m, 1h, 1d, 1h30m, or a number of seconds"

    /// The longest duration, in nanoseconds, for which all longer ones count: a thousand years, which every clock of the
    /// library can add.
    private static let longest: Int128 = 1000 * 365 * 86_400 * 1_000_000_000

    /// The duration that a word stands for, or `nil` if the word isn't a duration.
    ///
    /// A fraction is allowed: `0.5s`, `1.5`. If there are several parts, each has a smaller unit than the one before.
    package static func parse(_ word: some StringProtocol) -> Duration? {
        var rest = Substring(word)
        var sum: Int128 = 0
        var previous = Int128.max
        repeat {
            guard let part = part(from: &rest, isFirst: previous == .max), part.unit < previous else { return nil }
            previous = part.unit
            // Within the bounds of the type for any number of parts.
            sum = min(sum + part.nanoseconds, longest)
        } while !rest.isEmpty
        return .seconds(Int64(sum / 1_000_000_000)) + .nanoseconds(Int64(sum % 1_000_000_000))
    }

    /// A number and its unit; only a number that is the whole word may be without a unit.
    private static func part(
        from rest: inout Substring,
        isFirst: Bool
    ) -> (nanoseconds: Int128, unit: Int128)? {
        guard let whole = digits(from: &rest) else { return nil }
        var fraction: Substring = ""
        if rest.first == "." {
            rest.removeFirst()
            guard let found = digits(from: &rest) else { return nil }
            fraction = found
        }
        let name = rest.prefix { $0.isASCII && $0.isLetter }
        rest = rest.dropFirst(name.count)
        guard !name.isEmpty || isFirst && rest.isEmpty, let unit = unit(name) else { return nil }
        // Int128 has room for every Int64 of days.
        return (Int128(Int64(whole) ?? .max) * unit + scaled(fraction, by: unit), unit)
    }

    /// Whether a word that isn't a duration was probably meant as one: it begins with a digit.
    package static func resembles(_ word: some StringProtocol) -> Bool {
        word.utf8.first.map { (0x30...0x39).contains($0) } ?? false
    }

    private static func digits(from rest: inout Substring) -> Substring? {
        // ASCII digits only: `Character.isNumber` accepts the digits of every script.
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
        case "d": 86_400_000_000_000
        default: nil
        }
    }

    /// The fraction's nanoseconds; digits below a nanosecond are dropped.
    private static func scaled(_ fraction: Substring, by unit: Int128) -> Int128 {
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

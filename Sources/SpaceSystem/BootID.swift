/// The kernel's random number for one boot of a machine.
package struct BootID: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The 16 bytes in the order of the text.
    package var bytes: [UInt8] {
        [high, low].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * $0)) } }
    }

    /// Makes a number of 16 bytes; `nil` for any other count.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Reads a UUID's text; `nil` unless its dashes are in the right places.
    package init?(text: some Collection<UInt8>) {
        let text = Array(text)
        guard text.count == 36 else { return nil }
        var halves: [UInt64] = [0, 0]
        var digits = 0
        for (position, character) in text.enumerated() {
            if [8, 13, 18, 23].contains(position) {
                guard character == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = Character(Unicode.Scalar(character)).hexDigitValue else { return nil }
            halves[digits / 16] = halves[digits / 16] << 4 | UInt64(digit)
            digits += 1
        }
        (high, low) = (halves[0], halves[1])
    }
}

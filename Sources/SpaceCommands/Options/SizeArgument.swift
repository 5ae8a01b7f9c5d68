import CommandWords

/// A number of bytes on the command line: `1048576`, `512K`, `256M`, `4G`, `256MiB`.
struct SizeArgument: ExpressibleByArgument, Sendable {
    let bytes: Int

    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        let shifts = ["": 0, "K": 10, "M": 20, "G": 30, "T": 40]
        var unit = argument.dropFirst(digits.count).uppercased()
        // `KiB` means `K`. `KB` is refused, because to some users it means 1000 bytes.
        if unit.count == 3, unit.hasSuffix("IB") { unit.removeLast(2) }
        guard let number = Int(digits), let shift = shifts[unit] else { return nil }
        let (bytes, isBeyond) = number.multipliedReportingOverflow(by: 1 << shift)
        guard !isBeyond else { return nil }
        self.bytes = bytes
    }
}

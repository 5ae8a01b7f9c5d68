import ArgumentParser

/// A number of bytes on the command line: `1048576`, `512K`, `256M`, `4G`, `256MiB`.
struct SizeArgument: ExpressibleByArgument, Sendable {
    let bytes: Int

    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        let shifts = ["": 0, "K": 10, "M": 20, "G": 30, "T": 40]
        var unit = argument.dropFirst(digits.count).uppercased()
        // 1 KiB is 1 K; a KB is a thousand bytes for some, and is refused.
        if unit.count == 3, unit.hasSuffix("IB") { unit.removeLast(2) }
        guard let number = Int(digits), let shift = shifts[unit] else { return nil }
        let (bytes, isBeyond) = number.multipliedReportingOverflow(by: 1 << shift)
        guard !isBeyond else { return nil }
        self.bytes = bytes
    }
}

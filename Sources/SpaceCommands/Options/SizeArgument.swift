import ArgumentParser

/// A number of bytes on the command line: `1048576`, `512K`, `256M`, `4G`.
struct SizeArgument: ExpressibleByArgument, Sendable {
    let bytes: Int

    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        let shifts = ["": 0, "K": 10, "M": 20, "G": 30, "T": 40]
        guard let number = Int(digits), let shift = shifts[argument.dropFirst(digits.count).uppercased()] else {
            return nil
        }
        let (bytes, isBeyond) = number.multipliedReportingOverflow(by: 1 << shift)
        guard !isBeyond else { return nil }
        self.bytes = bytes
    }
}

import Glibc
import SharedSpace
import SpaceSystem
import SystemPackage

/// The findings of a part.
struct Report {
    let part: String
    let isGood: Bool
    let json: String

    init(_ part: String, isGood: Bool, _ object: JSONObject) {
        self.part = part
        self.isGood = isGood
        json = object.json
    }

    private init(line: String) throws {
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count == 3 else { throw UsageError(text: "a part ended without a report") }
        part = String(words[0])
        isGood = words[1] == "true"
        json = String(words[2])
    }

    /// Runs `body` in a child, and reads its report from a pipe, also where it works.
    static func ofChild(_ body: (_ report: (Report) throws -> Void) throws -> Void) throws -> Report {
        let pipe = try FileDescriptor.pipe()
        let child = try Process.start {
            do {
                try body { report in
                    try pipe.writeEnd.writeAll("\(report.part) \(report.isGood) \(report.json)".utf8)
                }
                return 0
            } catch {
                note("\(error)")
                return 70
            }
        }
        try pipe.writeEnd.close()
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = try buffer.withUnsafeMutableBytes({ try pipe.readEnd.read(into: $0) }), count > 0 {
            bytes += buffer[..<count]
        }
        try pipe.readEnd.close()
        _ = Process.wait(child)
        return try Report(line: String(decoding: bytes, as: UTF8.self))
    }
}

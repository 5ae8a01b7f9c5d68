/// Splits a stream of bytes into lines; of a long line it keeps the beginning only, so its memory is bounded.
struct LineSplitter {
    /// How many bytes of a line are kept.
    let longest: Int
    private var line: [UInt8] = []
    private var isCut = false

    init(longest: Int) { self.longest = longest }

    /// Adds bytes, and hands over the lines that they complete; a cut line ends with an ellipsis.
    mutating func append(_ bytes: UnsafeRawBufferPointer, _ handle: (String) -> Void) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "\n"))
            let part = rest[..<(end ?? rest.endIndex)]
            let room = longest - line.count
            line.append(contentsOf: part.prefix(room))
            isCut = isCut || part.count > room
            guard let end else { return }
            handle(String(decoding: line, as: UTF8.self) + (isCut ? "…" : ""))
            line.removeAll(keepingCapacity: true)
            isCut = false
            rest = rest[(end + 1)...]
        }
    }
}

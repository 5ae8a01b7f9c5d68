/// What travels between a ``Store``'s caller and the process that has the store, over one byte stream.
///
/// Each side sends frames: a 32-bit length of the rest, a 64-bit id, a kind, and a body. A message is one frame or
/// several: all but its last frame have ``isContinued`` in their kind, and the receiver joins their bodies. Numbers are in
/// network order. The first message of each side is a ``WireHello``, so that two versions that don't understand each other
/// say so. The caller gives each request an id, one higher than the last; the answer has the same id. A watch is a
/// request with many answers: news, until the caller stops it or an error ends it. So a slow request holds up no other.
///
/// No side trusts the other: lengths, counts and strings are checked as they are decoded, a message has an upper limit,
/// and bytes that do not decode end the connection.
package struct WireMessage: Equatable, Sendable {
    package let id: UInt64
    package let kind: UInt8
    package let body: [UInt8]

    package init(id: UInt64, kind: UInt8, body: [UInt8]) {
        self.id = id
        self.kind = kind
        self.body = body
    }

    /// The most bytes of a frame's rest: id, kind and body.
    package static let maximumFrame = 16 << 20
    /// The most bytes of a message's body, and of all bodies together of which frames are missing.
    package static let maximumBody = 64 << 20

    /// The bit of a kind that says that another frame of the message follows.
    static let isContinued: UInt8 = 0x80
    /// The bytes of a frame before its body, without those of the length.
    static let header = 9
    /// How much of a body is sent in one frame.
    package static let part = 1 << 20

    /// The message's frames.
    package var frames: [UInt8] {
        var writer = WireWriter()
        var start = 0
        repeat {
            let end = min(body.count, start + Self.part)
            writer.number(UInt32(Self.header + end - start))
            writer.number(id)
            writer.number(end < body.count ? kind | Self.isContinued : kind)
            writer.raw(body[start..<end])
            start = end
        } while start < body.count
        return writer.bytes
    }
}

/// Puts messages together from the bytes of a stream.
package struct WireAssembler {
    private var buffer: [UInt8] = []
    private var position = 0
    private var unfinished: [UInt64: (kind: UInt8, body: [UInt8])] = [:]
    private var unfinishedBytes = 0

    package init() {}

    /// Takes the next bytes of the stream.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if position == buffer.count {
            buffer.removeAll(keepingCapacity: true)
            position = 0
        } else if position > WireMessage.part {
            buffer.removeFirst(position)
            position = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// Takes the next bytes of the stream.
    package mutating func append(_ bytes: [UInt8]) { bytes.withUnsafeBytes { append($0) } }

    /// The next message that is complete.
    package mutating func next() throws(WireError) -> WireMessage? {
        while let (id, kind, body) = try nextFrame() {
            if kind & WireMessage.isContinued == 0, unfinished[id] == nil {
                return WireMessage(id: id, kind: kind, body: Array(body))
            }
            let plain = kind & ~WireMessage.isContinued
            var message = unfinished.removeValue(forKey: id) ?? (plain, [])
            guard message.kind == plain else {
                throw WireError("a message of kind \(message.kind) goes on with kind \(plain)")
            }
            unfinishedBytes += body.count
            guard unfinishedBytes <= WireMessage.maximumBody else {
                throw WireError("messages in parts are larger than \(WireMessage.maximumBody) bytes")
            }
            // An empty part would cost memory without counting.
            guard !body.isEmpty else { throw WireError("a part of a message is empty") }
            message.body.append(contentsOf: body)
            guard kind & WireMessage.isContinued != 0 else {
                unfinishedBytes -= message.body.count
                return WireMessage(id: id, kind: plain, body: message.body)
            }
            unfinished[id] = message
        }
        return nil
    }

    private mutating func nextFrame() throws(WireError) -> (id: UInt64, kind: UInt8, body: ArraySlice<UInt8>)? {
        guard let length: UInt32 = number(at: position) else { return nil }
        guard length >= WireMessage.header, length <= WireMessage.maximumFrame else {
            throw WireError(
                "a frame of \(length) bytes; it has from \(WireMessage.header) to \(WireMessage.maximumFrame)"
            )
        }
        let start = position + 4
        let end = start + Int(length)
        guard end <= buffer.count, let id: UInt64 = number(at: start) else { return nil }
        position = end
        return (id, buffer[start + 8], buffer[start + WireMessage.header..<end])
    }

    private func number<Number: FixedWidthInteger>(at start: Int) -> Number? {
        let end = start + MemoryLayout<Number>.size
        guard end <= buffer.count else { return nil }
        return buffer[start..<end].reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }
}

/// The first message of each side.
package enum WireHello {
    /// Changes whenever one side would misunderstand the other.
    static let version: UInt32 = 1
    private static let magic: UInt64 = 0x5370_6163_6553_746F
    static let kind: UInt8 = 0

    package static var message: WireMessage {
        var writer = WireWriter()
        writer.number(magic)
        writer.number(version)
        return WireMessage(id: 0, kind: kind, body: writer.bytes)
    }

    /// Checks the other side's first message.
    package static func check(_ message: WireMessage) throws(WireError) {
        var reader = WireReader(message.body)
        guard message.kind == kind, message.id == 0, try reader.number() == magic else {
            throw WireError("the other side does not speak the store's wire")
        }
        let version = try reader.number(UInt32.self)
        guard version == self.version else {
            throw WireError(
                "the other side speaks version \(version) of the store's wire, and this side \(self.version); "
                    + "install the same version of both programs"
            )
        }
        try reader.finish()
    }
}

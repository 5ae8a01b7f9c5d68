import NIOCore
import NIOHTTP2

/// Answers a member's pings before HTTP/2's own handler sees them.
///
/// A server in Go measures the way to its client with a ping each time that data comes, so there are many. NIO's handler
/// takes more than 200 pings and other control frames in 30 seconds for an attack and closes the connection, and the
/// transport does not let one raise that limit. The frame's format: RFC 9113, sections 4.1 and 6.7.
final class PingAnswerer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let headerSize = 9
    private static let pingType: UInt8 = 6
    private static let acknowledged: UInt8 = 1
    private static let pingSize = 8

    /// The beginning of a frame that has not come as a whole: part of a header, or of a ping.
    private var rest = ByteBuffer()
    /// How many bytes of the present frame are still to come, and are passed on.
    private var passing = 0

    /// Puts one in front of a connection's HTTP/2 handler, behind that of TLS.
    static func add(to channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let http = try pipeline.handler(type: NIOHTTP2Handler.self)
            try pipeline.addHandler(PingAnswerer(), position: .before(http))
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if rest.readableBytes > 0 {
            rest.writeBuffer(&bytes)
            bytes = rest
            rest = ByteBuffer()
        }
        var isAnswered = false
        // Up to `end` the bytes have been looked at, and are passed on.
        var end = bytes.readerIndex
        func passOn() {
            guard let slice = bytes.readSlice(length: end - bytes.readerIndex), slice.readableBytes > 0 else { return }
            context.fireChannelRead(wrapInboundOut(slice))
        }
        while true {
            let step = min(passing, bytes.writerIndex - end)
            end += step
            passing -= step
            guard let (length, type, flags) = Self.header(of: bytes, at: end) else { break }
            if type == Self.pingType, flags & Self.acknowledged == 0, length == Self.pingSize {
                let payload = bytes.getSlice(at: end + Self.headerSize, length: Self.pingSize)
                guard let payload else { break }
                passOn()
                bytes.moveReaderIndex(forwardBy: Self.headerSize + Self.pingSize)
                end = bytes.readerIndex
                context.write(wrapOutboundOut(Self.answer(payload, context.channel.allocator)), promise: nil)
                isAnswered = true
            } else {
                end += Self.headerSize
                passing = length
            }
        }
        passOn()
        rest = bytes
        if isAnswered { context.flush() }
    }

    /// The length, type and flags of the frame at an index; `nil` if its header has not come as a whole.
    private static func header(of bytes: ByteBuffer, at index: Int) -> (length: Int, type: UInt8, flags: UInt8)? {
        guard bytes.writerIndex - index >= headerSize, let high = bytes.getInteger(at: index, as: UInt8.self),
            let low = bytes.getInteger(at: index + 1, as: UInt16.self),
            let type = bytes.getInteger(at: index + 3, as: UInt8.self),
            let flags = bytes.getInteger(at: index + 4, as: UInt8.self)
        else { return nil }
        return (Int(high) << 16 | Int(low), type, flags)
    }

    private static func answer(_ payload: ByteBuffer, _ allocator: ByteBufferAllocator) -> ByteBuffer {
        var answer = allocator.buffer(capacity: headerSize + pingSize)
        answer.writeInteger(UInt8(0))
        answer.writeInteger(UInt16(pingSize))
        answer.writeInteger(pingType)
        answer.writeInteger(acknowledged)
        answer.writeInteger(UInt32(0))
        answer.writeImmutableBuffer(payload)
        return answer
    }
}

import ClusterStore
import Glibc
import SpaceSystem
import TupleCoding

/// What a ``SocketStore`` asks for.
enum SocketRequest: Codable, Sendable {
    case read(StoreRange, limit: Int?, keysOnly: Bool)
    case transact(StoreTransaction)
    case makeLease(seconds: Int)
    case keepAlive(StoreLease)
    case end(StoreLease)
    case status
    case watch(StoreRange, from: Int64)
}

/// What it gets: one answer to a call, one for each news of a watch.
enum SocketAnswer<Content: Codable & Sendable>: Codable, Sendable {
    case done(Content)
    case failed(StoreError)
}

/// A connection over which each side sends values, each as the bytes of a tuple behind their count; it is closed when its last
/// user is gone.
final class SocketConnection: Sendable {
    private let descriptor: OwnedDescriptor

    init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }

    /// Ends the connection in both directions; a thread that receives gets nothing more.
    func shutDown() { LocalSocket.shutDown(descriptor.raw) }

    /// socket(7): a receive then ends after this time, as if the connection had ended.
    func limitReceiving(to time: Duration) {
        var limit = timeval(tv_sec: Int(time.components.seconds), tv_usec: 0)
        _ = setsockopt(descriptor.raw, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Sends a value when the other side has room; if the connection has ended, nothing is sent.
    func send(_ value: some Encodable) { send(Self.frame(value)[...]) }

    /// The same for a task: a thread of its own waits, if the other side has no room for all of the value.
    func send(later value: some Encodable & Sendable) async {
        let bytes = Self.frame(value)[...]
        guard let count = try? LocalSocket.send(bytes, to: descriptor.raw), count < bytes.count else { return }
        await withCheckedContinuation { continuation in
            do {
                try DetachedThread.start { [self] in
                    send(bytes.dropFirst(count))
                    continuation.resume()
                }
            } catch {
                // Half a value must not be followed by another one.
                shutDown()
                continuation.resume()
            }
        }
    }

    private func send(_ bytes: ArraySlice<UInt8>) {
        var bytes = bytes
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor.raw, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            guard count > 0 || errno == EINTR else { return }
            bytes = bytes.dropFirst(max(0, count))
        }
    }

    /// The next value; `nil` if the connection has ended, or the time limit has passed.
    func receive<Content: Decodable>(_ type: Content.Type = Content.self) -> Content? {
        guard let head = bytes(MemoryLayout<UInt32>.size) else { return nil }
        let count = head.withUnsafeBytes { Int($0.loadUnaligned(as: UInt32.self)) }
        return bytes(count).flatMap { try? Tuple(encoded: $0, isRecord: false).fields.first?.decode() }
    }

    /// The next bytes, exactly so many.
    private func bytes(_ count: Int) -> [UInt8]? {
        var filled = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, size in
            while filled < count {
                let received = recv(descriptor.raw, buffer.baseAddress! + filled, count - filled, CInt(MSG_WAITALL))
                if received < 0, errno == EINTR { continue }
                guard received > 0 else { break }
                filled += received
            }
            size = filled
        }
        return filled == count ? bytes : nil
    }

    private static func frame(_ value: some Encodable) -> [UInt8] {
        // No value of a store can't be encoded.
        guard let value = try? Value(encoding: value) else { fatalError("a store's value is not encoded") }
        let bytes = Tuple(fields: [value]).encoded
        return withUnsafeBytes(of: UInt32(bytes.count)) { Array($0) } + bytes
    }
}

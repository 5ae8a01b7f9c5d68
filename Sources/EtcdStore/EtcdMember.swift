import EtcdMessages
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import GRPCProtobuf
import SpaceSystem
import SwiftProtobuf
import Synchronization

/// One member of etcd, with one connection to it, which is made anew when it is lost.
final class EtcdMember: Sendable {
    let url: EtcdURL
    private let client: GRPCClient<HTTP2ClientTransport.Posix>

    /// The most bytes of a request; etcd's own limit is 1.5 MiB unless it is set higher.
    static let maximumRequest = 16 << 20
    /// The most bytes of an answer.
    private static let maximumAnswer = 128 << 20

    /// - Throws: The transport's error if certificates or the key can't be used.
    init(_ url: EtcdURL, _ security: EtcdSecurity) throws {
        self.url = url
        let target: any ResolvableTarget =
            switch url.kind {
            case .name: .dns(host: url.host, port: url.port)
            case .ipv4: .ipv4(address: url.host, port: url.port)
            case .ipv6: .ipv6(address: url.host, port: url.port)
            }
        let transport = try HTTP2ClientTransport.Posix(
            target: target,
            transportSecurity: url.isSecure ? security.transport : .plaintext,
            config: .defaults { config in
                config.backoff.initial = .milliseconds(100)
                config.backoff.max = .seconds(2)
                // etcd closes connections that ping it more often than each 5 seconds (--grpc-keepalive-min-time).
                config.connection.keepalive = HTTP2ClientTransport.Config.Keepalive(
                    time: .seconds(10),
                    timeout: .seconds(3),
                    allowWithoutCalls: false
                )
                config.connection.flushCoalescing = nil
                config.channelDebuggingCallbacks.onCreateTCPConnection = PingAnswerer.add
            },
            eventLoopGroup: ConnectionLoop.shared.loop
        )
        client = GRPCClient(transport: transport)
        let client = client
        // It runs for as long as the process.
        ConnectionLoop.start { try? await client.runConnections() }
    }

    /// Calls a method with one request and one answer.
    func call<Request, Response>(
        _ method: EtcdMethod<Request, Response>,
        _ request: Request,
        token: String?,
        timeLimit: Duration
    ) async throws(EtcdFailure) -> Response {
        let flag = SentFlag()
        do {
            return try await TimeLimit.ofCalls.run(timeLimit) { [client] in
                try await client.bidirectionalStreaming(
                    request: StreamingClientRequest(metadata: Self.metadata(token)) { writer in
                        flag.set()
                        try await writer.write(request)
                    },
                    descriptor: method.descriptor,
                    serializer: ProtobufSerializer<Request>(),
                    deserializer: ProtobufDeserializer<Response>(),
                    options: Self.options
                ) { response in
                    // To its end, with the status: a stream that is left before is reset, and after some resets the
                    // transport closes the connection.
                    var answer: Response?
                    for try await message in response.messages { answer = message }
                    guard let answer else {
                        throw RPCError(code: .internalError, message: "an answer without a message")
                    }
                    return answer
                }
            }
        } catch {
            throw EtcdFailure(error, of: url, wasSent: flag.isSet)
        }
    }

    /// Opens a stream, and returns when it has ended.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - requests: What is sent, as it comes.
    ///   - token: The user's token.
    ///   - receive: Called with each message.
    /// - Throws: ``EtcdFailure``, also if the member ends the stream without an error.
    func stream<Request, Response>(
        _ method: EtcdMethod<Request, Response>,
        _ requests: AsyncStream<Request>,
        token: String?,
        receive: @escaping @Sendable (Response) -> Void
    ) async throws(EtcdFailure) {
        let flag = SentFlag()
        do {
            try await client.bidirectionalStreaming(
                request: StreamingClientRequest(metadata: Self.metadata(token)) { writer in
                    flag.set()
                    for await request in requests { try await writer.write(request) }
                },
                descriptor: method.descriptor,
                serializer: ProtobufSerializer<Request>(),
                deserializer: ProtobufDeserializer<Response>(),
                options: Self.options
            ) { response in
                for try await message in response.messages { receive(message) }
            }
        } catch {
            throw EtcdFailure(error, of: url, wasSent: flag.isSet)
        }
        throw EtcdFailure(.unanswered, "\(url) has ended the stream", isMembersOwn: true)
    }

    private static let options = {
        var options = CallOptions.defaults
        // The transport takes one limit for both directions.
        options.maxRequestMessageBytes = maximumAnswer
        options.maxResponseMessageBytes = maximumAnswer
        return options
    }()

    private static func metadata(_ token: String?) -> Metadata {
        // A member without a leader then says so, and ends streams, instead of waiting for one.
        var metadata: Metadata = ["hasleader": "true"]
        if let token { metadata.addString(token, forKey: "token") }
        return metadata
    }
}

/// Whether a request may have left.
private final class SentFlag: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .acquiring) }

    func set() { flag.store(true, ordering: .releasing) }
}

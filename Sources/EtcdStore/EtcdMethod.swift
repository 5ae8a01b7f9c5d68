import EtcdMessages
import GRPCCore
import SwiftProtobuf

/// A method of etcd's with the types of its messages.
///
/// The transport sends a request of a unary method together with its end. Otherwise the member may answer before the end
/// comes, and resets the stream then; after 200 resets within 10 seconds the transport closes the connection.
struct EtcdMethod<Request: Message, Response: Message>: Sendable {
    let descriptor: MethodDescriptor

    init(_ service: String, _ method: String, _ type: MethodDescriptor.RPCType = .unary) {
        descriptor = MethodDescriptor(
            service: ServiceDescriptor(package: "etcdserverpb", service: service),
            method: method,
            type: type
        )
    }
}

/// The methods that are called.
enum EtcdMethods {
    static let range = EtcdMethod<EtcdRangeRequest, EtcdRangeResponse>("KV", "Range")
    static let txn = EtcdMethod<EtcdTxnRequest, EtcdTxnResponse>("KV", "Txn")
    static let grant = EtcdMethod<EtcdLeaseGrantRequest, EtcdLeaseGrantResponse>("Lease", "LeaseGrant")
    static let revoke = EtcdMethod<EtcdLeaseRevokeRequest, EtcdLeaseRevokeResponse>("Lease", "LeaseRevoke")
    static let keepAlive = EtcdMethod<EtcdLeaseKeepAliveRequest, EtcdLeaseKeepAliveResponse>(
        "Lease",
        "LeaseKeepAlive",
        .bidirectionalStreaming
    )
    static let watch = EtcdMethod<EtcdWatchRequest, EtcdWatchResponse>("Watch", "Watch", .bidirectionalStreaming)
    static let status = EtcdMethod<EtcdStatusRequest, EtcdStatusResponse>("Maintenance", "Status")
    static let alarm = EtcdMethod<EtcdAlarmRequest, EtcdAlarmResponse>("Maintenance", "Alarm")
    static let authenticate = EtcdMethod<EtcdAuthenticateRequest, EtcdAuthenticateResponse>("Auth", "Authenticate")
}

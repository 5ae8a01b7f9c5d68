import ClusterStore
import Synchronization

/// The watches of one store, all on one stream to one member.
///
/// One stream, because one question a second (see ``EtcdWatchStream``) then suffices for all of them, and because some
/// versions of etcd allow 250 streams of a TLS connection. The watches do not hold up each other: each has a queue with
/// an upper limit. When the stream ends, all of its watches end with its error, and the next watch opens a new one.
final class EtcdWatches: Sendable {
    private let members: EtcdMembers
    private let stream = Mutex<EtcdWatchStream?>(nil)

    init(_ members: EtcdMembers) { self.members = members }

    func watch(_ range: StoreRange, from revision: Int64) -> AsyncThrowingStream<StoreNews, any Error> {
        stream.withLock { stream in
            if let news = stream?.watch(range, from: revision) { return news }
            while true {
                let next = EtcdWatchStream(members)
                stream = next
                if let news = next.watch(range, from: revision) { return news }
            }
        }
    }
}

import ClusterStore
import EtcdStore
import SpaceCommands

// space-etcd is what `space join` becomes: the same commands, and the daemon with its way to etcd. A program of its own, so
// that `space` carries neither gRPC nor NIO.

@main
struct Main {
    static func main() {
        Executable.run { options throws(StoreError) in try EtcdStore(options) }
    }
}

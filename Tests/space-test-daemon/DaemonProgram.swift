import ClusterStore
import ClusterStoreTesting
import SpaceCommands

// space-test-daemon: the daemon `space join`, as space-etcd is it with an etcd, with a store that is in another process of
// the tests. `--etcd` names the socket of space-test-store.

@main
struct Main {
    static func main() {
        Executable.run { options throws(StoreError) in try SocketStore(options.members) }
    }
}

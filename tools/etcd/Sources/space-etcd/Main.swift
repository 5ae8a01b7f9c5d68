import ArgumentParser
import ClusterStoreRemote
import Glibc
import SpaceSystem

// space-etcd is the child of a daemon `space join`: it serves etcd to it, over the store's wire on its standard input
// and output, which are one end of a pair of sockets. It ends when its standard input ends, so it never outlives the
// daemon. SIGINT and SIGHUP come to all processes of a terminal; the daemon alone obeys them, because it still needs
// etcd to leave in order. A write to a connection that is lost is an error, not a SIGPIPE.

@main
enum Main {
    static func main() async {
        for number in [SIGINT, SIGHUP, SIGPIPE] { signal(number, SIG_IGN) }
        let options = EtcdOptions.parseOrExit()
        guard isatty(STDIN_FILENO) == 0 else {
            Failure.tell("this program serves a daemon: start 'space join --etcd URLS' instead")
            exit(Failure.usage)
        }
        do throws(Failure) {
            let store = try EtcdStore(options)
            ConnectionLoop.start { await store.followLeader() }
            let server: StoreServer
            do {
                server = try StoreServer(
                    store,
                    input: STDIN_FILENO,
                    output: STDOUT_FILENO,
                    executor: ConnectionLoop.shared
                )
            } catch {
                throw Failure(Failure.inputOutput, "standard input and output can't be used: \(error)")
            }
            do {
                _ = try await server.run()
            } catch {
                throw Failure(Failure.inputOutput, "the daemon can't be served: \(error)")
            }
            exit(0)
        } catch {
            Failure.tell(error.message)
            exit(error.status)
        }
    }
}

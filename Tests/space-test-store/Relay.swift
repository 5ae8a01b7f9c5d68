import Glibc
import SpaceSystem
import SystemPackage

/// A program that connects a daemon with a store, as `space-etcd` does with etcd.
enum Relay {
    /// Passes what comes on standard input to the store, and what the store answers to standard output; returns when
    /// either has ended.
    static func run(_ store: String) throws {
        let socket = FileDescriptor(rawValue: try LocalSocket.connected(store).release())
        try DetachedThread.start {
            copy(from: .standardInput, to: socket)
            exit(0)
        }
        copy(from: socket, to: .standardOutput)
    }

    private static func copy(from source: FileDescriptor, to target: FileDescriptor) {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        do {
            while true {
                let count = try bytes.withUnsafeMutableBytes { try source.read(into: $0) }
                guard count > 0 else { return }
                _ = try target.writeAll(bytes.prefix(count))
            }
        } catch {
            // The other side has ended.
        }
    }
}

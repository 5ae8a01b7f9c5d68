import SpaceSystem
import SystemPackage
import TupleCoding

/// The identity of the running system; mutexes, PIDs and locks in a file mean nothing on another one.
package struct HostIdentity: Equatable, Sendable {
    package var bootID: [UInt8]
    package var pidNamespace: UInt64
    package var timeNamespace: UInt64

    /// Reads the identity from /proc.
    package static func current() throws(SpaceError) -> HostIdentity {
        try SpaceError.naming("identify the running system", on: nil) { () throws(SpaceError) in
            HostIdentity(
                bootID: try read("/proc/sys/kernel/random/boot_id") { (path) throws(Errno) in
                    try SystemIdentity.bootID(path: path).bytes
                },
                pidNamespace: try read("/proc/self/ns/pid") { (path) throws(Errno) in
                    try SystemIdentity.pidNamespace(path: path)
                },
                timeNamespace: try read("/proc/self/ns/time") { (path) throws(Errno) in
                    try SystemIdentity.timeNamespace(path: path)
                }
            )
        }
    }

    private static func read<Part>(_ path: String, _ body: (String) throws(Errno) -> Part) throws(SpaceError) -> Part {
        do throws(Errno) {
            return try body(path)
        } catch {
            guard [.noSuchFileOrDirectory, .illegalByteSequence, .permissionDenied].contains(error) else {
                throw SpaceError(error, subject: path)
            }
            throw SpaceError(
                .inputOutput,
                reason: error == .illegalByteSequence ? "there is no UUID in \(path)" : "\(path): \(error)",
                advice: "mount /proc as the kernel shows it (mount -t proc proc /proc)"
            )
        }
    }
}

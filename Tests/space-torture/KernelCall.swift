import Glibc

/// System calls that Swift's Glibc hides.
enum KernelCall {
    /// unshare(2), CLONE_NEWNS and CLONE_NEWNET.
    static let newMounts: CInt = 0x0002_0000
    static let newNetwork: CInt = 0x4000_0000

    private typealias OfOne = @convention(c) (CInt) -> CInt
    private typealias OfTwo = @convention(c) (CInt, CInt) -> CInt

    /// Gives this process namespaces of the kernel of its own.
    ///
    /// Returns: Why not, where that is not permitted.
    static func unshare(_ what: CInt) -> String? {
        guard let symbol = dlsym(nil, "unshare") else { return "there is no unshare in libc" }
        let call = unsafeBitCast(symbol, to: OfOne.self)
        return call(what) == 0 ? nil : "unshare, errno \(errno)"
    }

    /// Moves this process into the network of the process with this PID.
    ///
    /// Returns: Whether it is there.
    static func enterNetwork(of pid: pid_t) -> Bool {
        guard let symbol = dlsym(nil, "setns") else { return false }
        let call = unsafeBitCast(symbol, to: OfTwo.self)
        let file = open("/proc/\(pid)/ns/net", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        return call(file, newNetwork) == 0
    }
}

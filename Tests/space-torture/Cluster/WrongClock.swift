import Glibc

/// The wall clock of a machine of the part `cluster`: a file beside its root says how wrong it is for all its processes.
///
/// The library Tests/WrongClock reads it, if it was loaded into them.
enum WrongClock {
    static func file(_ root: String) -> String { "\(root).clock" }

    /// Sets how far a machine's wall clock is ahead, in seconds.
    static func set(_ root: String, ahead seconds: Int64) throws {
        let file = open(file(root), O_WRONLY | O_CREAT, 0o600)
        guard file >= 0 else { throw UsageError(text: "\(Self.file(root)): errno \(errno)") }
        defer { close(file) }
        // In place: processes have the file mapped.
        let count = withUnsafeBytes(of: seconds) { pwrite(file, $0.baseAddress, $0.count, 0) }
        guard count == MemoryLayout<Int64>.size else { throw UsageError(text: "\(Self.file(root)): errno \(errno)") }
    }

    /// Gives this process the clock of a machine.
    static func use(_ root: String) {
        guard let symbol = dlsym(nil, "space_use_wrong_clock") else { return }
        unsafeBitCast(symbol, to: (@convention(c) (UnsafePointer<CChar>) -> Void).self)(file(root))
    }
}

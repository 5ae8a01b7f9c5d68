import Glibc

/// Facts about the process that can change while a command runs, noted when it starts.
enum Launch {
    /// The parent as found at start.
    ///
    /// `Executable` reads it before anything else.
    static let parent = getppid()
}

import Glibc

/// What is noted when the process starts, because it can change while a command runs.
enum Launch {
    /// The parent when the process started: `Executable` reads it before anything else.
    static let parent = getppid()
}

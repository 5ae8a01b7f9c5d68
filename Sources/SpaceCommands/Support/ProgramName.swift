/// The names of this program: `space`, and `space-dump`, a link to it that stands for `space dump`.
enum ProgramName: String {
    case space
    case dump = "space-dump"

    /// The one by which it was called: the last part of argv[0].
    ///
    /// By any other name it is `space`. The kernel passes argv[0] as the caller wrote it, so what counts is the link's name, and not that of its target.
    static let own: ProgramName = {
        guard CommandLine.argc > 0, let first = CommandLine.unsafeArgv[0] else { return .space }
        let last = String(cString: first).split(separator: "/").last
        return last.flatMap { ProgramName(rawValue: String($0)) } ?? .space
    }()
}

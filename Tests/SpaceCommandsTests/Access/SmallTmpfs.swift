import SpaceTestSupport

/// A small tmpfs in the root's place, which only one script sees, and which goes with the script.
enum SmallTmpfs {
    /// Whether a shell can mount a file system of its own.
    static let mayMount: Bool = {
        guard let root = try? TemporaryRoot() else { return false }
        return (try? CommandRunner(root: root.path).shell(script("8m", "true")))?.ending == .exited(0)
    }()

    /// The words that make a shell run a script there; that shell is the owner.
    static func script(_ size: String, _ script: String) -> String {
        """
        exec unshare --mount --propagation private sh -c '
        mount -t tmpfs -o size=\(size),mode=700 tmpfs "$SHARED_SPACE_ROOT" || exit 9
        export SHARED_SPACE_OWNER=$$
        \(script)
        '
        """
    }
}

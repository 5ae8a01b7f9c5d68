import Glibc
import SpaceSystem

/// The answers of git about a repository; there is none if git isn't installed, or refuses.
enum GitAnswer {
    /// The first line that git prints if it runs in a folder, without the variables that name another repository.
    static func line(of arguments: [String], in folder: String) -> String? {
        guard let output = try? OwnedDescriptor.memoryFile("git") else { return nil }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output.raw, STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        var words = cStrings(["git", "-C", folder] + arguments)
        var variables = cStrings(environment)
        defer { for word in words + variables { free(word) } }
        var child: pid_t = 0
        guard posix_spawnp(&child, "git", &actions, nil, &words, &variables) == 0 else { return nil }
        var status: CInt = 0
        while waitpid(child, &status, 0) == -1 { if errno != EINTR { return nil } }
        guard status == 0, let bytes = try? FileBytes.read(output.raw, limit: 1 << 16) else { return nil }
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }

    private static func cStrings(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        texts.map { strdup($0) } + [nil]
    }

    private static var environment: [String] {
        guard let bytes = try? FileBytes.read(at: AT_FDCWD, "/proc/self/environ", limit: 4 << 20) else { return [] }
        return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            .filter { !$0.hasPrefix("GIT_DIR=") && !$0.hasPrefix("GIT_WORK_TREE=") && !$0.hasPrefix("GIT_COMMON_DIR=") }
    }
}

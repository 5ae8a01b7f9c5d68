import Glibc

/// Keeps a thread, and those that it starts from now on, to one processor, with taskset(1).
///
/// - `thread`: Its number, as gettid(2) gives it; for a main thread its process's.
/// - `number`: The processor's number, from 0.
package func keep(thread: Int32, onProcessor number: Int) throws {
    let arguments = ["taskset", "--pid", "--cpu-list", "\(number)", "\(thread)"]
    var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    defer { words.forEach { free($0) } }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    var child: pid_t = 0
    let error = posix_spawnp(&child, "taskset", &actions, nil, &words, environ)
    guard error == 0 else { throw TestFailure("posix_spawnp taskset: errno \(error)") }
    var status: CInt = 0
    guard waitpid(child, &status, 0) == child, status == 0 else {
        throw TestFailure("taskset of thread \(thread): status \(status)")
    }
}

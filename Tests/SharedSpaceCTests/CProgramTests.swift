import Glibc
import SharedSpace
import SpaceInspection
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

/// The C library's examples and programs: each is compiled against the header as a user's would be, and run.
///
/// They are linked with a shared library of the same objects that SwiftPM has built anyway: one link for all of them, and a
/// program takes a tenth of a second to compile. Linked statically each would carry 60 MB of the library, and take seconds.
@Suite(.blocking, .timeLimit(.minutes(5)), .enabled(if: CPrograms.canBeRun))
struct CProgramTests {
    @Test(arguments: CPrograms.all) func endsWell(_ program: String) throws {
        let root = try TemporaryRoot()
        let runner = CommandRunner(root: root.path)
        let path = try CPrograms.compile(program, in: root)
        // What the program leaves behind is checked, where it does not delete or count namespaces itself.
        let kept = try CPrograms.leavesJobs.contains(program) ? root.space.namespace("jobs") : nil
        let result = try runner.start(path, [], environment: CPrograms.environment).finish()
        #expect(result.ending == .exited(0), "\(program): \(result.errors)")
        #expect(result.errors == "")
        if program == "Examples/first" { #expect(result.output == "[\"resize\",42,\"cat.png\"]\n") }
        if let kept { #expect(try kept.verify() == []) }
    }

    /// What is dropped while a stopped process is in the way is free when that process goes on, although its owner lives on.
    @Test func whatIsDroppedReturnsLater() throws {
        let root = try TemporaryRoot()
        let runner = CommandRunner(root: root.path)
        let path = try CPrograms.compile("Programs/dropped", in: root)
        let namespace = try root.space.namespace("n")
        let program = try runner.start(path, [], environment: CPrograms.environment)
        #expect(try program.readLine() == "obtained")
        let other = try Agent(root, "n")
        try other.run("arm stop gateTaken")
        try other.send("write [\"other\"]")
        try other.waitUntilStopped()
        try program.send("\n")
        #expect(try program.readLine() == "dropped")
        other.resume()
        #expect(try other.line()?.hasPrefix("ok") == true)
        let isFree = try eventually {
            let status = try namespace.status()
            return try status.claims.isEmpty && status.holds.isEmpty && status.responders.isEmpty
                && namespace.readIfExists("job", 1) != nil && namespace.queue("queue").counts()[.ready] == 1
        }
        #expect(isFree)
        try program.send("\n")
        #expect(try program.finish().ending == .exited(0))
    }

    /// A header that a C++ program includes, and that two compilers find nothing wrong with.
    @Test(arguments: ["cc -std=c99", "cc -std=c11", "clang -std=c99", "c++ -std=c++11", "clang++ -std=c++17"])
    func headerIsClean(_ compiler: String) throws {
        let root = try TemporaryRoot()
        let language = compiler.contains("++") ? "c++" : "c"
        let result = try CommandRunner(root: root.path).shell(
            "command -v \(compiler.split(separator: " ")[0]) > /dev/null || exit 77\n"
                + "\(compiler) -x \(language) -Wall -Wextra -pedantic -Werror \(CPrograms.include) -c - -o \(root.path)/.o",
            input: "#include <sharedspace.h>\nint main(void) { return sharedspace_abi() != SHAREDSPACE_ABI; }\n",
            environment: CPrograms.environment
        )
        #expect(result.ending == .exited(0) || result.ending == .exited(77), "\(result.errors)")
    }

    /// The functions of the header, those that tools/library exports, and those that the examples call are the same.
    @Test func everyFunctionIsKnownAndShown() throws {
        let header = try CPrograms.text("Sources/CSharedSpace/include/sharedspace.h")
        let declaration = #/(?m)^(?:int|int32_t|int64_t|uint32_t|size_t|void|const char \*) ?\*?(sharedspace_\w+)\(/#
        let declared = header.matches(of: declaration).map { String($0.output.1) }.sorted()
        #expect(declared.count > 40)
        let known = try CPrograms.text("tools/abi/0.txt").split(separator: "\n").map(String.init)
        #expect(known == declared)
        let shown = try CPrograms.all.map { try CPrograms.text("Tests/SharedSpaceCTests/\($0).c") }.joined()
        for function in declared { #expect(shown.contains("\(function)("), "no example calls \(function)") }
    }

    /// Every C example of every article stands in a program that is compiled and run here.
    @Test func articlesShowWhatIsRun() throws {
        let programs = try (CPrograms.all.map { "Tests/SharedSpaceCTests/\($0).c" })
            .map { try CPrograms.text($0).filter { !$0.isWhitespace } }
        var count = 0
        for article in try CPrograms.articles() {
            for example in try CPrograms.examples(of: article) {
                let shown = example.filter { !$0.isWhitespace }
                #expect(programs.contains { $0.contains(shown) }, "\(article) shows what no test runs:\n\(example)")
                count += 1
            }
        }
        #expect(count > 5)
    }
}

/// The programs in the folders beside this file.
private enum CPrograms {
    private static let package = Repository.folder
    static let include = "-I \(package)/Sources/CSharedSpace/include"

    /// A build under a sanitizer makes a library that only a program of the same sanitizer can load.
    static var canBeRun: Bool { dlsym(nil, "__asan_init") == nil && dlsym(nil, "__tsan_init") == nil }

    static var environment: [String: String] {
        // The toolchain's compilers come last, so that the system's is taken where there is one.
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        return [
            "PATH": "\(CommandRunner.products):/usr/local/bin:/usr/bin:/bin:\(path)",
            // The sanitizer doesn't see a pointer whose spare bits hold something, as Swift's weak references do.
            "ASAN_OPTIONS": "detect_leaks=0",
        ]
    }

    static let all: [String] = ["Examples", "Programs"].flatMap { folder in
        ((try? names(in: "Tests/SharedSpaceCTests/\(folder)")) ?? []).filter { $0.hasSuffix(".c") }
            .map { "\(folder)/\($0.dropLast(2))" }
    }.sorted()

    /// Programs that leave whole what is in the namespace.
    static let leavesJobs: Set<String> = [
        "Examples/bury", "Examples/claim", "Examples/find", "Examples/loop", "Examples/queue", "Examples/queue_rules",
        "Examples/respond", "Examples/write", "Programs/killed", "Programs/loop_killed", "Programs/workers",
    ]

    /// Compiles a program, with the checks of memory that the system's compiler has.
    static func compile(_ program: String, in root: TemporaryRoot) throws -> String {
        let path = "\(root.path)/.program"
        let source = "\(package)/Tests/SharedSpaceCTests/\(program).c"
        let result = try CommandRunner(root: root.path).shell(
            """
            compile() { "$@" -std=c99 -D_GNU_SOURCE -Wall -Wextra -pedantic -Werror \(include) \(source) -o \(path) \
                -L \(CommandRunner.products) -lshared-space -Wl,-rpath,\(CommandRunner.products) -pthread; }
            if command -v gcc > /dev/null; then compile gcc -fsanitize=address,undefined; else compile clang; fi
            """,
            environment: environment
        )
        #expect(result.ending == .exited(0) && result.errors == "", "\(program): \(result.errors)")
        return path
    }

    static func text(_ file: String) throws -> String {
        String(decoding: try FileBytes.read(at: AT_FDCWD, "\(package)/\(file)", limit: 1 << 20), as: UTF8.self)
    }

    private static func names(in folder: String) throws -> [String] {
        let descriptor = try OwnedDescriptor.open("\(package)/\(folder)", flags: O_RDONLY | O_DIRECTORY)
        return try Directory.list(descriptor.raw)
    }

    static func articles() throws -> [String] {
        let catalogue = "Sources/SharedSpace/SharedSpace.docc"
        return ["README.md"] + (try names(in: catalogue)).filter { $0.hasSuffix(".md") }.map { "\(catalogue)/\($0)" }
    }

    /// The blocks that begin with ```c.
    static func examples(of article: String) throws -> [String] {
        var examples: [String] = []
        var example: String?
        for line in try text(article).split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                if let example { examples.append(example) }
                example = line == "```c" ? "" : nil
            } else if example != nil {
                example? += line + "\n"
            }
        }
        return examples
    }
}

import Glibc
import SpaceSystem
import SpaceTestSupport
import Testing

@testable import SpaceEngine

/// Every Swift example of every article and of the README stands in a source file that the tests compile.
@Suite struct ArticleTests {
    /// The package's folder.
    private static let folder = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()

    private static let articles: [String] = {
        let catalogue = "Sources/SharedSpace/SharedSpace.docc"
        return ["README.md"]
            + ((try? files(under: catalogue, suffix: ".md")) ?? []).map { "\(catalogue)/\($0)" }
    }()

    @Test(arguments: articles) func examplesAreCompiled(_ article: String) throws {
        for example in try Self.examples(of: article) where !Self.isManifest(example) {
            let shown = example.filter { !$0.isWhitespace }
            #expect(
                Self.compiled.contains { $0.contains(shown) },
                "\(article) shows what no test compiles:\n\(example)"
            )
        }
    }

    /// A whole manifest, or the lines of one, is read by SwiftPM.
    @Test(.timeLimit(.minutes(5))) func manifestsAreRead() throws {
        var count = 0
        for example in try Self.articles.flatMap(Self.examples).filter(Self.isManifest) {
            let whole =
                example.contains("Package(") ? example : "let package = Package(name: \"example\",\n\(example))\n"
            let root = try TemporaryRoot()
            let runner = CommandRunner(root: root.path)
            let text = "// swift-tools-version: 6.2\nimport PackageDescription\n\(whole)"
            let read = try runner.shell(
                "mkdir \(root.path)/manifest && cd \(root.path)/manifest && cat > Package.swift && "
                    + "swift package --disable-sandbox dump-package",
                input: text,
                environment: ["PATH": getenv("PATH").map { String(cString: $0) } ?? ""]
            )
            #expect(read.ending == .exited(0), "\(read.errors)\n\(whole)")
            #expect(read.output.contains("SharedSpace"))
            count += 1
        }
        #expect(count > 1)
    }

    private static func isManifest(_ example: String) -> Bool { example.contains(".package(") }

    /// Numbers in the articles that the code knows.
    @Test func numbersAreThoseOfTheCode() throws {
        let points = CrashPoint.allCases.count
        #expect(try Self.text("README.md").contains("at each of \(points) named steps"))
        let promises = try Self.text("Sources/SharedSpace/SharedSpace.docc/Promises.md")
        #expect(promises.contains("| \(points) named places between two steps"))
        let format = try Self.text("Sources/SharedSpace/SharedSpace.docc/OnDiskFormat.md")
        let (size, first) = (ControlFile.size.grouped, ControlFile.firstSize.grouped)
        #expect(format.contains("control     \(size) bytes,") && format.contains("the first \(first) are reserved"))
        #expect(format.contains("LMDB's reader table: \(DataFile.lockFileSize.grouped) bytes"))
        #expect(format.contains("This is version \(ControlHeader.currentVersion) of the format."))
        #expect(
            try Self.text("Sources/SharedSpace/SharedSpace.docc/ChangeLog.md").contains(
                "format \(ControlHeader.currentVersion)"
            )
        )
    }

    @Test func thereAreArticles() throws {
        #expect(Self.articles.count > 10)
        #expect(!Self.compiled.isEmpty)
    }

    /// The blocks that begin with ```swift, without their import lines.
    static func examples(of article: String) throws -> [String] {
        var examples: [String] = []
        var example: String?
        for line in try text(article).split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                if let example { examples.append(example) }
                example = line == "```swift" ? "" : nil
            } else if example != nil, !line.hasPrefix("import ") {
                example? += line + "\n"
            }
        }
        return examples
    }

    /// The sources with the examples, without white space.
    private static let compiled: [String] = {
        ["Tests/SharedSpaceTests", "Tests/service-examples"].flatMap { folder in
            ((try? files(under: folder, suffix: ".swift")) ?? []).compactMap { file in
                try? text("\(folder)/\(file)").split(separator: "\n").filter { !$0.hasPrefix("import ") }.joined()
                    .filter { !$0.isWhitespace }
            }
        }
    }()

    /// The files in a folder and in those below it, by their paths in it.
    private static func files(under folder: String, suffix: String) throws -> [String] {
        let path = "\(Self.folder)/\(folder)"
        let descriptor = try OwnedDescriptor.open(path, flags: O_RDONLY | O_DIRECTORY)
        return try Directory.list(descriptor.raw).flatMap { name -> [String] in
            if name.hasSuffix(suffix) { return [name] }
            guard !name.contains(".") else { return [] }
            return try files(under: "\(folder)/\(name)", suffix: suffix).map { "\(name)/\($0)" }
        }
    }

    private static func text(_ path: String) throws -> String {
        String(decoding: try FileBytes.read(at: AT_FDCWD, "\(folder)/\(path)", limit: 1 << 20), as: UTF8.self)
    }
}

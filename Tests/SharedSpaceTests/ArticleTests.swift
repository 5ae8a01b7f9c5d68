import Glibc
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceEngine

/// Every Swift example of every article and of the README stands in a source file that the tests compile.
@Suite struct ArticleTests {
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
            let text = "// swift-tools-version: 6.3\nimport PackageDescription\n\(whole)"
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

    /// The map of the sources, and what contributors read, name files that are there, and what these declare.
    @Test(arguments: ["HowATakeTravels", "Contributing"]) func mapsNameWhatIsThere(_ article: String) throws {
        let text = try Self.text("Sources/SharedSpace/SharedSpace.docc/\(article).md")
        let declarations = try Self.declarations.get()
        let (files, declared) = (declarations.keys, declarations.values.reduce(into: Set()) { $0.formUnion($1) })
        var (named, known) = (0, 0)
        for word in text.split(separator: "`", omittingEmptySubsequences: false).enumerated() where word.offset % 2 == 1
        {
            let word = String(word.element)
            if word.hasSuffix(".swift") {
                #expect(files.contains { $0 == word || $0.hasSuffix("/\(word)") }, "\(word) is no source file")
                named += 1
            } else if word.hasPrefix("tools/") {
                #expect(access("\(Repository.folder)/\(word.prefix { $0 != " " })", F_OK) == 0, "\(word) is not there")
            } else if word.wholeMatch(of: #/\w+(?:\/[\w-]+)+/#) != nil {
                #expect(files.contains { "\($0)".contains("\(word)/") }, "\(word) is no folder of sources")
            } else if word.wholeMatch(of: #/\w+(?:\(\w*:?\))?/#) != nil {
                let name = String(word.prefix { $0 != "(" })
                let isModule = files.contains { $0.hasPrefix("Sources/\(name)/") }
                #expect(declared.contains(name) || isModule || Self.words.contains(name), "\(word) is not declared")
                known += 1
            }
        }
        #expect(named > 3 && known > 5)
    }

    /// A row of a table that names a function names a file that declares it.
    @Test func rowsNameTheFilesOfTheirFunctions() throws {
        let declarations = try Self.declarations.get()
        let tables = declarations.first { $0.key.hasSuffix("/Tables/Tables.swift") }?.value ?? []
        var known = 0
        for article in ["HowATakeTravels", "Contributing"] {
            let text = try Self.text("Sources/SharedSpace/SharedSpace.docc/\(article).md")
            for row in text.split(separator: "\n") where row.hasPrefix("|") {
                let quoted = row.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                    .filter { $0.offset % 2 == 1 }.map { String($0.element) }
                let declared = declarations.filter { file in quoted.contains { "/\(file.key)".hasSuffix("/\($0)") } }
                    .values.reduce(into: Set()) { $0.formUnion($1) }
                for word in quoted where word.wholeMatch(of: #/[a-z]\w*(?:\(\w*:?\))?/#) != nil {
                    let name = String(word.prefix { $0 != "(" })
                    let isValue = StorageMode(rawValue: name) != nil || SpaceError.Code(rawValue: name) != nil
                    guard !isValue, !tables.contains(name), !Self.words.contains(name) else { continue }
                    #expect(declared.contains(name), "\(article): no file of this row declares \(word):\n\(row)")
                    known += 1
                }
            }
        }
        #expect(known > 20 && !tables.isEmpty)
    }

    /// What each source file declares.
    private static let declarations = Result {
        let declaration = #/\b(?:func|var|let|case|struct|class|enum|protocol|actor|typealias) `?(\w+)/#
        let files = try ["Sources", "Tests"].flatMap { folder in
            try Self.files(under: folder, suffix: ".swift").map { "\(folder)/\($0)" }
        }
        return Dictionary(
            uniqueKeysWithValues: try files.map { file in
                (file, Set(try text(file).matches(of: declaration).map { String($0.output.1) }))
            }
        )
    }

    /// What is in quotes and not declared in the sources.
    private static let words: Set<String> = ["sh", "in", "nil"]

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
        let path = "\(Repository.folder)/\(folder)"
        let descriptor = try OwnedDescriptor.open(path, flags: O_RDONLY | O_DIRECTORY)
        return try Directory.list(descriptor.raw).flatMap { name -> [String] in
            if name.hasSuffix(suffix) { return [name] }
            let kind = try Directory.info(at: descriptor.raw, name).kind
            guard kind == .directory else { return [] }
            return try files(under: "\(folder)/\(name)", suffix: suffix).map { "\(name)/\($0)" }
        }
    }

    private static func text(_ path: String) throws -> String {
        String(
            decoding: try FileBytes.read(at: AT_FDCWD, "\(Repository.folder)/\(path)", limit: 1 << 20),
            as: UTF8.self
        )
    }
}

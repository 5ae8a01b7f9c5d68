// swift-tools-version: 6.3
import PackageDescription

// The fuzzers: of the tuple coding, of the files on disk, and of the commands' input. They need the library
// instrumented, so they are a package of their own, which tools/fuzz builds with --sanitize=fuzzer. The same sources are
// targets of the main package, whose tests run the corpus without a fuzzer.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"), .define("FUZZING"),
]
let library: Target.Dependency = .product(name: "SharedSpace", package: "SharedSpace")
let coding: Target.Dependency = .product(name: "TupleCoding", package: "SharedSpace")
let commands: Target.Dependency = .product(name: "SpaceCommands", package: "SharedSpace")
let agents: Target.Dependency = .product(name: "SpaceAgents", package: "SharedSpace")
let cluster: Target.Dependency = .product(name: "SpaceCluster", package: "SharedSpace")

func fuzzer(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: name, swiftSettings: settings)
}

let package = Package(
    name: "SpaceFuzzing",
    dependencies: [.package(name: "SharedSpace", path: "../..")],
    targets: [
        .target(name: "FuzzCheck", path: "FuzzCheck", swiftSettings: settings),
        .target(name: "FuzzSupport", dependencies: [library], path: "FuzzSupport", swiftSettings: settings),
        fuzzer("FuzzTuple", [coding, "FuzzCheck"]),
        fuzzer("FuzzJSON", [coding, "FuzzCheck"]),
        fuzzer("FuzzTemplate", [coding, "FuzzCheck"]),
        fuzzer("FuzzCodable", [coding, "FuzzCheck"]),
        fuzzer("FuzzRows", [library, "FuzzSupport"]),
        fuzzer("FuzzControl", [library, "FuzzSupport"]),
        fuzzer("FuzzBackup", [library, "FuzzSupport"]),
        fuzzer("FuzzEntry", [library, "FuzzSupport"]),
        fuzzer("FuzzMessages", [library, cluster, "FuzzCheck"]),
        fuzzer("FuzzCommands", [library, commands]),
        fuzzer("FuzzAgents", [agents, coding, "FuzzCheck"]),
    ]
)

// swift-tools-version: 6.3
import PackageDescription

/// The settings of every Swift target: language mode 6 with the upcoming rules that keep imports and existentials visible.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let system: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")
let atomics: Target.Dependency = .product(name: "Atomics", package: "swift-atomics")
let orderedCollections: Target.Dependency = .product(name: "OrderedCollections", package: "swift-collections")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")
let subprocess: Target.Dependency = .product(name: "Subprocess", package: "swift-subprocess")

/// A program that an article shows.
func example(_ name: String) -> Target {
    .executableTarget(
        name: "example-\(name)",
        dependencies: ["SharedSpace", "SharedSpaceObjects", "SharedSpaceServices", lifecycle, logging],
        path: "Tests/service-examples/\(name)",
        swiftSettings: [.swiftLanguageMode(.v6)]
    )
}

/// A fuzzer without libFuzzer: what it does with one input.
func fuzzer(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: "Tests/Fuzzing/\(name)", swiftSettings: settings)
}
/// The floors that a fuzzer reaches into.
let floors: [Target.Dependency] = ["SharedSpace", "SpaceInspection", "SpaceRecipes", "TupleSpace", "SpaceEngine"]
let fuzzers = [
    "FuzzTuple", "FuzzJSON", "FuzzTemplate", "FuzzCodable", "FuzzRows", "FuzzControl", "FuzzBackup", "FuzzEntry",
    "FuzzMessages", "FuzzCommands", "FuzzAgents",
]

/// The daemon of several machines, `space-etcd`, is built with SHARED_SPACE_CLUSTER alone: a package that depends on this one,
/// and a build of `space`, fetch and build neither gRPC nor NIO (`tools/build --cluster`).
let clusterSwitch = Context.environment["SHARED_SPACE_CLUSTER"]
let isForCluster = clusterSwitch != nil
let grpc: Target.Dependency = .product(name: "GRPCCore", package: "grpc-swift-2")
let protobuf: Target.Dependency = .product(name: "SwiftProtobuf", package: "swift-protobuf")

let clusterPackages: [Package.Dependency] = [
    .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.3"),
    .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.2"),
    .package(url: "https://github.com/grpc/grpc-swift-protobuf", from: "2.4.1"),
    // Without its default trait, which needs all of Foundation.
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0", traits: []),
    .package(url: "https://github.com/apple/swift-nio", from: "2.86.0"),
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.38.0"),
]
let clusterTargets: [Target] = [
    // etcd's messages: generated code, see tools/etcd/generate.
    .target(name: "EtcdMessages", dependencies: [protobuf], path: "tools/etcd/Messages", swiftSettings: settings),
    .target(
        name: "EtcdStore",
        dependencies: [
            "EtcdMessages", "ClusterStore", "SpaceSystem", system, grpc, protobuf,
            .product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport"),
            .product(name: "GRPCProtobuf", package: "grpc-swift-protobuf"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOPosix", package: "swift-nio"),
            .product(name: "NIOHTTP2", package: "swift-nio-http2"),
        ],
        swiftSettings: settings
    ),
    .executableTarget(
        name: "space-etcd",
        dependencies: ["EtcdStore", "ClusterStore", "SpaceCommands"],
        swiftSettings: settings
    ),
]

/// The tuple coding and the commands' insides are products for their fuzzers alone, which are a package of their own.
let fuzzed: [Product] =
    Context.environment["SHARED_SPACE_FUZZING"] == nil
    ? []
    : [
        .library(name: "TupleCoding", targets: ["TupleCoding"]),
        .library(name: "SpaceCommands", targets: ["SpaceCommands", "CommandWords"]),
        .library(name: "SpaceAgents", targets: ["SpaceAgents"]),
        .library(name: "SpaceCluster", targets: ["SpaceCluster", "ClusterStore"]),
    ]

let package = Package(
    name: "SharedSpace",
    products: [
        .library(name: "SharedSpace", targets: ["SharedSpace"]),
        .library(name: "SpaceInspection", targets: ["SpaceInspection"]),
        .library(name: "SharedSpaceObjects", targets: ["SharedSpaceObjects"]),
        .library(name: "SharedSpaceServices", targets: ["SharedSpaceServices"]),
        .executable(name: "space", targets: ["space"]),
        // What the tests' C programs are linked with. tools/library makes the library that is installed.
        .library(name: "shared-space", type: .dynamic, targets: ["SharedSpaceC"]),
    ] + fuzzed + (isForCluster ? [.executable(name: "space-etcd", targets: ["space-etcd"])] : []),
    dependencies: [
        .package(url: "https://github.com/apple/swift-system", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-atomics", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.1.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.0", traits: []),
    ] + (isForCluster ? clusterPackages : []),
    targets: [
        // The ground: the system's liblmdb, and what Swift can't reach of libc and the kernel.
        .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
        .target(name: "CSpaceShims"),
        .target(name: "CGuardedLMDB", dependencies: ["CLMDB"]),

        // Typed wrappers.
        .target(name: "SpaceSystem", dependencies: ["CSpaceShims", system, atomics], swiftSettings: settings),
        .target(name: "LMDB", dependencies: ["CLMDB", "CGuardedLMDB", "CSpaceShims"], swiftSettings: settings),
        .target(name: "TupleCoding", swiftSettings: settings),

        // The library: its floors, and what users import.
        .target(
            name: "SpaceEngine",
            dependencies: ["TupleCoding", "LMDB", "SpaceSystem", system, atomics],
            swiftSettings: settings
        ),
        .target(
            name: "SpaceMachines",
            dependencies: ["SpaceEngine", "SpaceSystem", system],
            swiftSettings: settings
        ),
        .target(
            name: "TupleSpace",
            dependencies: ["SpaceMachines", "SpaceEngine", "TupleCoding", "SpaceSystem", system, atomics],
            swiftSettings: settings
        ),
        .target(
            name: "SpaceRecipes",
            dependencies: ["TupleSpace", "SpaceEngine", "TupleCoding", "SpaceSystem", system],
            swiftSettings: settings
        ),
        // Status and checking: a product of its own, because programs that only use a space need neither.
        .target(
            name: "SpaceInspection",
            dependencies: ["SpaceRecipes", "TupleSpace", "SpaceEngine", "TupleCoding", "SpaceSystem", system],
            swiftSettings: settings
        ),
        // Several machines: the store that they share, and the daemon of a root.
        .target(name: "ClusterStore", swiftSettings: settings),
        .target(
            name: "SpaceCluster",
            dependencies: [
                "ClusterStore", "SpaceInspection", "SpaceRecipes", "TupleSpace", "SpaceMachines", "SpaceEngine",
                "TupleCoding", "SpaceSystem", system,
            ],
            swiftSettings: settings
        ),
        .target(
            name: "SharedSpace",
            dependencies: ["SpaceRecipes", "TupleSpace", "SpaceEngine", "TupleCoding"],
            swiftSettings: settings
        ),

        // Collections, responders and coarse observers: a product of its own, so that the library shows a tuple space with
        // its locks, queues and watching.
        .target(
            name: "SharedSpaceObjects",
            dependencies: [
                "SharedSpace", "SpaceRecipes", "TupleSpace", "SpaceEngine", "TupleCoding", "SpaceSystem",
                orderedCollections,
            ],
            swiftSettings: settings
        ),

        // What services want besides: a product of its own, so that the library needs no Foundation and no more packages.
        .target(
            name: "SharedSpaceServices",
            dependencies: ["SharedSpace", "SpaceInspection", "SpaceRecipes", lifecycle, metrics],
            swiftSettings: settings
        ),

        // The C library: its header, and the functions that the compiler holds against it. tools/library links it.
        .target(name: "CSharedSpace"),
        .target(
            name: "SharedSpaceC",
            dependencies: [
                "CSharedSpace", "SharedSpace", "SharedSpaceObjects", "SpaceInspection", "SpaceRecipes", "TupleSpace",
                "SpaceEngine", "SpaceSystem", "TupleCoding",
            ],
            swiftSettings: settings
        ),

        // Coding agents: what `space mcp` and `space agents` do.
        .target(
            name: "SpaceAgents",
            dependencies: [
                "SharedSpace", "SpaceRecipes", "TupleSpace", "SpaceEngine", "TupleCoding", "SpaceSystem", system,
            ],
            swiftSettings: settings
        ),

        // The commands.
        .target(name: "CommandWords", swiftSettings: settings),
        .target(
            name: "SpaceCommands",
            dependencies: [
                "CommandWords", "SharedSpace", "SharedSpaceObjects", "SpaceAgents", "SpaceCluster", "SpaceInspection",
                "ClusterStore", "TupleCoding", "SpaceSystem", system,
            ],
            swiftSettings: settings
        ),
        .executableTarget(name: "space", dependencies: ["SpaceCommands"], swiftSettings: settings),

        // Tests.
        .target(
            name: "ClusterStoreTesting",
            dependencies: ["ClusterStore", "SpaceSystem", "TupleCoding", system],
            path: "Tests/ClusterStoreTesting",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "space-test-store",
            dependencies: ["ClusterStoreTesting", "ClusterStore", "SpaceCluster", "SpaceSystem", system],
            path: "Tests/space-test-store",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "space-test-daemon",
            dependencies: ["ClusterStoreTesting", "ClusterStore", "SpaceCommands"],
            path: "Tests/space-test-daemon",
            swiftSettings: settings
        ),
        // With the switch, the tests of stores examine an etcd too; see tools/etcd/test.
        .testTarget(
            name: "ClusterStoreTests",
            dependencies: [
                "ClusterStore", "ClusterStoreTesting", "SpaceSystem", "SpaceTestSupport", system,
            ] + (isForCluster ? ["EtcdStore", "space", "space-etcd"] : []),
            exclude: isForCluster ? [] : ["Etcd"],
            swiftSettings: settings + (isForCluster ? [.define("ETCD")] : [])
        ),
        .target(name: "SeededRandom", path: "Tests/SeededRandom", swiftSettings: settings),
        .target(
            name: "SpaceTestSupport",
            dependencies: [
                "SharedSpace", "SharedSpaceObjects", "SpaceInspection", "TupleSpace", "SpaceEngine", "LMDB",
                "SpaceSystem", system, subprocess,
            ],
            path: "Tests/SpaceTestSupport",
            swiftSettings: settings
        ),
        // Apart from what the torture uses too, which links no test library.
        .target(
            name: "SpaceTesting",
            dependencies: [
                "SharedSpace", "SharedSpaceObjects", "TupleSpace", "SpaceEngine", "SpaceSystem", "SeededRandom",
                "SpaceTestSupport", system,
            ],
            path: "Tests/SpaceTesting",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "space-test-agent",
            dependencies: [
                "SharedSpace", "SharedSpaceObjects", "SpaceAgents", "SpaceInspection", "SpaceSystem", system,
            ],
            path: "Tests/space-test-agent",
            swiftSettings: settings
        ),
        .target(
            name: "LinearizabilityChecker",
            path: "Tests/LinearizabilityChecker",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "space-torture",
            dependencies: [
                "SharedSpace", "SharedSpaceObjects", "SpaceInspection", "SpaceSystem", "LinearizabilityChecker",
                "SeededRandom", "SpaceTestSupport", "space-test-agent", "space", "space-without-calls", system,
            ],
            path: "Tests/space-torture",
            swiftSettings: settings
        ),
        .target(name: "CWriteRecorder", path: "Tests/CWriteRecorder"),
        .executableTarget(
            name: "space-write-recorder",
            dependencies: ["CWriteRecorder", "SharedSpace"],
            path: "Tests/space-write-recorder",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "space-system-probe",
            dependencies: ["SpaceSystem", system],
            path: "Tests/space-system-probe",
            swiftSettings: settings
        ),
        .executableTarget(name: "space-without-calls", path: "Tests/space-without-calls"),
        example("intake"), example("workers"), example("planner"),
        example("producer"), example("worker"), example("claimer"), example("finisher"),
        .target(name: "FuzzCheck", path: "Tests/Fuzzing/FuzzCheck", swiftSettings: settings),
        fuzzer("FuzzSupport", floors),
        fuzzer("FuzzTuple", ["FuzzCheck", "TupleCoding"]),
        fuzzer("FuzzJSON", ["FuzzCheck", "TupleCoding"]),
        fuzzer("FuzzTemplate", ["FuzzCheck", "TupleCoding"]),
        fuzzer("FuzzCodable", ["FuzzCheck", "TupleCoding"]),
        fuzzer("FuzzRows", floors + ["FuzzSupport"]),
        fuzzer("FuzzControl", floors + ["FuzzSupport"]),
        fuzzer("FuzzBackup", floors + ["FuzzSupport"]),
        fuzzer("FuzzEntry", floors + ["FuzzSupport", "SpaceSystem"]),
        fuzzer(
            "FuzzMessages",
            ["FuzzCheck", "SpaceCluster", "TupleSpace", "SpaceMachines", "SpaceEngine"]
        ),
        fuzzer("FuzzAgents", ["FuzzCheck", "SpaceAgents", "TupleCoding"]),
        fuzzer("FuzzCommands", floors + ["SpaceCommands", "CommandWords", "TupleCoding"]),
        .executableTarget(
            name: "space-fuzz-replay",
            dependencies: fuzzers.map { .target(name: $0) } + ["SeededRandom"],
            path: "Tests/space-fuzz-replay",
            swiftSettings: settings
        ),
        .testTarget(
            name: "FuzzReplayTests",
            dependencies: ["space-fuzz-replay", "SpaceTestSupport", "SpaceTesting"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SharedSpaceServicesTests",
            dependencies: [
                "SharedSpace", "SharedSpaceObjects", "SharedSpaceServices", "SpaceTestSupport", "SpaceTesting",
                "example-intake", "example-workers", "example-planner", "example-producer", "example-worker",
                "example-claimer",
                lifecycle, metrics, logging,
                system,
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SpaceSystemTests",
            dependencies: ["SpaceSystem", "CSpaceShims", "space-system-probe", system, atomics],
            swiftSettings: settings
        ),
        .testTarget(
            name: "LinearizabilityCheckerTests",
            dependencies: ["LinearizabilityChecker"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "LMDBTests",
            dependencies: ["LMDB", "CGuardedLMDB", "CLMDB", "SeededRandom", system],
            swiftSettings: settings
        ),
        .testTarget(
            name: "TupleCodingTests",
            dependencies: ["TupleCoding", "SeededRandom"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SharedSpaceTests",
            dependencies: [
                "SharedSpace", "SharedSpaceObjects", "SpaceInspection", "SpaceRecipes", "TupleSpace", "SpaceEngine",
                "LMDB", "SpaceSystem", "SeededRandom", "SpaceTestSupport", "SpaceTesting",
                "space-write-recorder", system,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SharedSpaceObjectsTests",
            dependencies: [
                "SharedSpaceObjects", "SpaceInspection", "SpaceRecipes", "TupleSpace", "SpaceEngine", "SpaceSystem",
                "SeededRandom", "SpaceTestSupport", "SpaceTesting", orderedCollections,
            ],
            swiftSettings: settings
        ),
        .testTarget(name: "CommandWordsTests", dependencies: ["CommandWords"], swiftSettings: settings),
        .testTarget(
            name: "SpaceCommandsTests",
            dependencies: [
                "SharedSpace", "SharedSpaceObjects", "SpaceCommands", "CommandWords", "SpaceSystem", "SpaceTestSupport",
                "SpaceTesting", "TupleCoding", "space", "space-test-agent", "space-without-calls", system,
                subprocess,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SpaceAgentsTests",
            dependencies: [
                "SharedSpace", "SpaceAgents", "SpaceInspection", "SpaceRecipes", "TupleSpace", "SpaceEngine",
                "TupleCoding", "SpaceSystem", "SeededRandom", "SpaceTestSupport", "SpaceTesting", "space",
                "space-test-agent", system,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SharedSpaceCTests",
            dependencies: [
                "SharedSpace", "SpaceInspection", "SpaceSystem", "SpaceTestSupport", "SpaceTesting", system,
            ],
            exclude: ["Examples", "Programs"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SpaceClusterTests",
            dependencies: [
                "ClusterStoreTesting", "SharedSpace", "SharedSpaceObjects", "SpaceCluster", "SpaceMachines",
                "SpaceEngine", "SpaceSystem",
                "SpaceTestSupport", "SpaceTesting", "TupleCoding", "TupleSpace", "space",
                "space-test-agent",
                "space-test-daemon", "space-test-store", system,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SharedSpaceProcessTests",
            dependencies: [
                "SharedSpace", "SharedSpaceObjects", "SpaceInspection", "TupleSpace", "SpaceEngine", "SpaceSystem",
                "SeededRandom", "SpaceTestSupport", "SpaceTesting", "space-test-agent", "space-torture", system,
                subprocess,
            ],
            swiftSettings: settings
        ),
    ] + (isForCluster ? clusterTargets : [])
)
// For tools/etcd/test, which need not wait for the others.
if clusterSwitch == "tests" { package.targets.removeAll { $0.isTest && $0.name != "ClusterStoreTests" } }

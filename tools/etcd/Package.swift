// swift-tools-version: 6.3
import PackageDescription

// A package of its own, so that a build of the library and of `space` fetches and builds neither gRPC nor NIO. The
// store and its wire are those of the main package: the folders in Sources are links to it, because what they share
// has `package` access.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let system: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")
let atomics: Target.Dependency = .product(name: "Atomics", package: "swift-atomics")
let grpc: Target.Dependency = .product(name: "GRPCCore", package: "grpc-swift-2")
let protobuf: Target.Dependency = .product(name: "SwiftProtobuf", package: "swift-protobuf")

let package = Package(
    name: "etcd",
    products: [.executable(name: "space-etcd", targets: ["space-etcd"])],
    dependencies: [
        .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.3"),
        .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.2"),
        .package(url: "https://github.com/grpc/grpc-swift-protobuf", from: "2.4.1"),
        // Without its default trait, which needs all of Foundation.
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0", traits: []),
        .package(url: "https://github.com/apple/swift-nio", from: "2.86.0"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.38.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-atomics", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    ],
    targets: [
        // The main package's.
        .target(name: "CSpaceShims"),
        .target(name: "SpaceSystem", dependencies: ["CSpaceShims", system, atomics], swiftSettings: settings),
        .target(name: "ClusterStore", swiftSettings: settings),
        .target(
            name: "ClusterStoreRemote",
            dependencies: ["ClusterStore", "SpaceSystem", system],
            swiftSettings: settings
        ),

        // etcd's messages: generated code, see the script generate.
        .target(name: "EtcdMessages", dependencies: [protobuf], swiftSettings: settings),
        .executableTarget(
            name: "space-etcd",
            dependencies: [
                "EtcdMessages", "ClusterStoreRemote", "ClusterStore", "SpaceSystem", system, grpc, protobuf,
                .product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport"),
                .product(name: "GRPCProtobuf", package: "grpc-swift-protobuf"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),

        // The main package's tests of stores, so that tools/etcd/test need not build all the others.
        .target(
            name: "ClusterStoreTesting",
            dependencies: ["ClusterStore"],
            path: "Tests/ClusterStoreTesting",
            swiftSettings: settings
        ),
        .target(name: "SeededRandom", path: "Tests/SeededRandom", swiftSettings: settings),
        .testTarget(
            name: "ClusterStoreTests",
            dependencies: [
                "ClusterStore", "ClusterStoreRemote", "ClusterStoreTesting", "SeededRandom", "SpaceSystem", system,
            ],
            swiftSettings: settings
        ),
    ]
)

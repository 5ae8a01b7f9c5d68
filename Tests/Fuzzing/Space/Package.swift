// swift-tools-version: 6.2
import PackageDescription

// The fuzzers of what lies on disk, and of what the commands are given: they need the whole library, instrumented, so they
// are a package of their own, built by tools/fuzz with --sanitize=fuzzer. (Those of the tuple coding are compiled by
// tools/fuzz directly.)

let settings: [SwiftSetting] = [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]
let library: Target.Dependency = .product(name: "SharedSpace", package: "SharedSpace")

let package = Package(
    name: "SpaceFuzzing",
    dependencies: [
        .package(name: "SharedSpace", path: "../../.."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    ],
    targets: [
        .target(name: "FuzzSupport", dependencies: [library], path: "FuzzSupport", swiftSettings: settings),
        .executableTarget(
            name: "FuzzRows",
            dependencies: [library, "FuzzSupport"],
            path: "FuzzRows",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FuzzControl",
            dependencies: [library, "FuzzSupport"],
            path: "FuzzControl",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FuzzCommands",
            dependencies: [
                library, .product(name: "SpaceCommands", package: "SharedSpace"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "FuzzCommands",
            swiftSettings: settings
        ),
    ]
)

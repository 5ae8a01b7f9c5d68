// swift-tools-version: 6.2
import PackageDescription

// The fuzzers of what lies on disk: they need the whole library, instrumented, so they are a package of their own, built
// by tools/fuzz with --sanitize=fuzzer. (Those of the tuple coding are compiled by tools/fuzz directly.)

let settings: [SwiftSetting] = [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]
let library: Target.Dependency = .product(name: "SharedSpace", package: "SharedSpace")

let package = Package(
    name: "SpaceFuzzing",
    dependencies: [.package(name: "SharedSpace", path: "../../..")],
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
    ]
)

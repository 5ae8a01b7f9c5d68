// swift-tools-version: 6.3
import PackageDescription

// A package of its own, so that a build of the library does not fetch or build the benchmark's dependencies.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
    name: "Benchmarks",
    dependencies: [
        .package(name: "SharedSpace", path: "../.."),
        // Without traits: the package's counts of malloc need jemalloc, and these benchmarks don't count it.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    ],
    targets: [
        .executableTarget(
            name: "ours",
            dependencies: [
                .product(name: "SharedSpace", package: "SharedSpace"),
                .product(name: "SharedSpaceObjects", package: "SharedSpace"),
                .product(name: "SpaceInspection", package: "SharedSpace"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "Regression",
            dependencies: [
                .product(name: "SharedSpace", package: "SharedSpace"),
                .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "Benchmarks/Regression",
            swiftSettings: settings,
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
        ),
    ]
)

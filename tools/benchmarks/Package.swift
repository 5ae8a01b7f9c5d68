// swift-tools-version: 6.1
import PackageDescription

// A package of its own, so that who builds the library need not fetch or build what measures it.
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
        // Without traits: its counts of malloc need jemalloc, and what is counted here does not.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    ],
    targets: [
        .executableTarget(
            name: "ours",
            dependencies: [.product(name: "SharedSpace", package: "SharedSpace")],
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

// swift-tools-version: 6.1
import PackageDescription

// A package of its own, so that who builds the library need not fetch or build what measures it.
let package = Package(
    name: "Benchmarks",
    dependencies: [.package(name: "SharedSpace", path: "../..")],
    targets: [
        .executableTarget(
            name: "ours",
            dependencies: [.product(name: "SharedSpace", package: "SharedSpace")],
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
            ]
        )
    ]
)

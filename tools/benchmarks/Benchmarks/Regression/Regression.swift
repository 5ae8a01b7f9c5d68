import Benchmark
import Glibc
import SharedSpace

/// Counts that must not grow in the hot path: reads and writes of files, and instructions.
///
/// Neither count depends on the machine, but the instructions are counted only where there are hardware counters;
/// `tools/benchmark --counts` counts them, and all system calls, everywhere. References are not counted: under Swift
/// 6.3 the package's hooks of `swift_retain` crash.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.instructions, .readSyscalls, .writeSyscalls],
        warmupIterations: 1,
        scalingFactor: .kilo,
        maxDuration: .seconds(5),
        maxIterations: 20
    )

    Benchmark("WriteAndTake") { (benchmark, namespace: Namespace) in
        for number in benchmark.scaledIterations {
            try namespace.write("job", number, payload)
            guard try namespace.takeIfExists("job", any(Int.self), any(String.self)) != nil else { throw Missing() }
        }
    } setup: {
        try makeNamespace()
    } teardown: {
        removeRoot()
    }

    Benchmark("ClaimAndComplete") { (benchmark, namespace: Namespace) in
        for number in benchmark.scaledIterations {
            try namespace.write("job", number, payload)
            guard let claim = try namespace.claimIfExists("job", any(Int.self), any(String.self)) else {
                throw Missing()
            }
            try claim.complete()
        }
    } setup: {
        try makeNamespace()
    } teardown: {
        removeRoot()
    }

    Benchmark("Get") { (benchmark, namespace: Namespace) in
        for _ in benchmark.scaledIterations {
            guard try namespace.get("progress") != nil else { throw Missing() }
        }
    } setup: {
        let namespace = try makeNamespace()
        try namespace.set("progress", 0.5)
        return namespace
    } teardown: {
        removeRoot()
    }

    Benchmark("Read") { (benchmark, namespace: Namespace) in
        for _ in benchmark.scaledIterations {
            guard try namespace.readIfExists("job", any(Int.self), any(String.self)) != nil else { throw Missing() }
        }
    } setup: {
        let namespace = try makeNamespace()
        try namespace.write("job", 1, payload)
        return namespace
    } teardown: {
        removeRoot()
    }
}

private let payload = String(repeating: "x", count: 64)
private let root = "/dev/shm/shared-space-benchmark-\(getpid())"

private struct Missing: Error {}

private func makeNamespace() throws -> Namespace { try Space(root: root).namespace("bench") }

/// The namespace has gone with its only owner; the root remains.
private func removeRoot() {
    try? Space(root: root).delete("bench")
    for name in [".nursery", ".graveyard", ".doorbells"] { remove("\(root)/\(name)") }
    remove(root)
}

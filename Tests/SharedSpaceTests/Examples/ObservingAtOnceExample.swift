import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Testing

/// The example of "Observing" that has all forms at once.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct ObservingAtOnceExample {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    /// Stands for the space's default root.
    private func Space() throws -> SharedSpace.Space { root.space }

    @Test func observing() async throws {
        final class Progress: Sendable {
            let name = "thumbnails"
            func show(_ value: Value?) { print(name, value?.json ?? "not set") }
        }

        final class Repainting: BriefSpaceObserver {
            func spaceDidChange(_ namespace: String, generation: UInt64) async { print(namespace, "has changed") }
        }

        let jobs = try Space().namespace("jobs")
        let (progress, repainting) = (Progress(), Repainting())

        // Ends with the token: keep it. First what is there, then each change.
        let token = try jobs.observe("progress", options: [.initial, .old, .new]) { change in
            print(change.new ?? "not set")
        }

        // A bag of them ends all at once. Tuples by a template, all cells, notifications by name.
        let bag = ObservationBag()
        bag.add(
            try jobs.observe(.tuples(["resize", .any, .any]), options: .initial) { print($0.kind, $0.tuple ?? []) }
        )
        bag.add(try jobs.observe(.cells()) { print($0.key ?? "") }, named: "cells")
        bag.add(try jobs.observe(.notification("done")) { print($0.new ?? "nothing") })

        // Decoded values, before and after.
        bag.add(try jobs.observe(cell: "progress", as: Double.self) { old, new in print(old ?? 0, new ?? 0) })

        // For an object, which is not kept alive: the observation ends when it goes. No token need be kept.
        try jobs.observe("progress", for: progress) { me, change in me.show(change.new) }

        // Coarse: that something has changed, a burst as one call.
        try jobs.addObserver(repainting)

        try jobs.set("progress", 0.5)
        try jobs.post("done", 42)  // to those that observe now, in every process
        try await jobs.settled()  // the handlers of this process have been told
        #expect(jobs.observations.count == 7)
        #expect(token.isActive && bag.count == 4)
        token.cancel()
        bag.stopObserving()
        withExtendedLifetime((progress, repainting)) {}
    }
}

import SharedSpace
import SpaceTesting
import Testing

/// The random mixes of `BatchRoomTests` in all modes, with rows of all sizes.
@Suite(.spaceTest, .slow, .timeLimit(.minutes(10)))
struct SlowBatchRoomTests {
    @Test(arguments: [(.fast, 6), (.guarded, 2)] as [(StorageMode, UInt64)], [BatchMix.Surroundings.plain, .indexed])
    func whatFitsOneByOneFitsInOneStep(
        _ mode: (StorageMode, seeds: UInt64),
        _ surroundings: BatchMix.Surroundings
    ) throws {
        for seed in 1...mode.seeds { try BatchMix.fitsInOneStep(mode.0, seed: seed, surroundings) }
    }

    @Test(arguments: StorageMode.allCases, BatchMix.Surroundings.allCases)
    func noStepUsesMoreThanItMadeSureOf(_ mode: StorageMode, _ surroundings: BatchMix.Surroundings) throws {
        // Each commit of `.durable` waits for the disk.
        for seed in 1...(mode == .durable ? 1 : 2) as ClosedRange<UInt64> {
            try BatchMix.usesNoMoreThanItMadeSureOf(mode, seed: seed, surroundings)
        }
    }
}

import SharedSpace
import SpaceTesting
import Testing

/// `BatchRoomTests` in the modes that it leaves out, and its random mixes in all modes, with rows of all sizes.
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

    enum Batch: CaseIterable {
        case manySmallTuples, aStepTooLarge, aLargeStep, aBodyTooLarge
    }

    @Test(arguments: StorageMode.allCases.filter { $0 != .fast }, Batch.allCases)
    func aBatchTakesTheRoomOfWhatItStores(_ mode: StorageMode, _ batch: Batch) throws {
        let tests = BatchRoomTests()
        switch batch {
        case .manySmallTuples: try tests.aNewNamespaceTakesManySmallTuplesAtOnce(mode)
        case .aStepTooLarge: try tests.aStepThatIsTooLargeSaysHowMuchFits(mode)
        case .aLargeStep: try tests.aLargeStepKeepsWhatItStores(mode)
        case .aBodyTooLarge: try tests.aBodyThatIsTooLargeSaysHowMuchFits(mode)
        }
    }
}

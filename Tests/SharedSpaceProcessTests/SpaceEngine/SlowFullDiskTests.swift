import SharedSpace
import SpaceTesting
import Testing

/// `FullDiskTests` with the combinations that it leaves out.
@Suite(
    .slow,
    .blocking,
    .serialized,
    .timeLimit(.minutes(5)),
    .enabled(if: mayMount, "mounting a small file system is not permitted")
)
struct SlowFullDiskTests {
    @Test(
        arguments: [
            (.guarded, 500), (.durable, 500), (.fast, 4000), (.durable, 4000), (.fast, 30_000), (.guarded, 30_000),
        ] as [(StorageMode, Int)]
    )
    func aFullDiskIsAnErrorAndNotTheEnd(_ mode: StorageMode, _ size: Int) throws {
        try FullDiskTests().aFullDiskIsAnErrorAndNotTheEnd(mode, size)
    }

    @Test(
        arguments: [
            (.guarded, "transactions"), (.durable, "transactions"), (.fast, "set"), (.durable, "set"), (.fast, "queue"),
            (.guarded, "queue"),
        ] as [(StorageMode, String)]
    )
    func whateverFillsTheDisk(_ mode: StorageMode, _ filling: String) throws {
        try FullDiskTests().whateverFillsTheDisk(mode, filling)
    }
}

import SharedSpace
import SpaceTestSupport

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

extension TemporaryRoot {
    /// Rewrites the header of the namespace `n`, with a checksum that is right.
    func changeHeader(_ change: (inout ControlHeader) -> Void) throws {
        var header = try ControlHeader(decoding: try bytes(of: "n/control"))
        change(&header)
        try overwrite("n/control", header.encoded())
    }

    /// Makes the namespace `n`, which no process has open, look as it does after the machine went down and came up.
    func pretendReboot() throws {
        try changeHeader { header in header.bootID[0] ^= 0xff }
        // The lock was held when the power went, so no process would ever release it.
        try overwrite("n/control", [UInt8](repeating: 0xff, count: 40), at: 448)
    }
}

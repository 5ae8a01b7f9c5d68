import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// A short run of the matrix that `tools/torture --part queue` plays: each kind of wait, for some sources of news.
@Suite(.spaceTest, .timeLimit(.minutes(10)))
struct QueueMatrixTests {
    let root: TemporaryRoot
    let namespace: Namespace

    init() throws {
        root = try SpaceTest.root()
        namespace = try SpaceTest.namespace("matrix")
    }

    @Test(arguments: QueueMatrix.Source.allCases)
    func eachSourceWakesEachWaiter(_ source: QueueMatrix.Source) async throws {
        let matrix = QueueMatrix(namespace, of: root.space, at: root.path)
        for (number, pair) in QueueMatrix.cases.enumerated() where pair.0 == source {
            let fault = try await matrix.play(pair.0, pair.1, "\(number)")
            #expect(fault == nil)
        }
        #expect(try namespace.verify() == [])
    }
}

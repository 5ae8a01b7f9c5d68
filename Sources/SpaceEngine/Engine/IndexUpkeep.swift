import SpaceSystem

/// Builds an index, or drops one, in slices that hold the gate for about a millisecond.
///
/// An index is built from the newest tuple down. From the commit that registers the shape, every writer indexes the
/// tuples that it adds, and each slice lowers the watermark. So `index + everything below the watermark` is always
/// complete. Any process that searches by the shape continues the building, so it does no harm if a builder is killed.
package final class IndexUpkeep: Sendable {
    private static let sliceLength = 256
    private static let slicesATake = 32
    private static let unusedAfter: Int64 = 3_600_000

    private let usage = ShapeUsage()

    /// Does the upkeep after a take that searched: registers the shape if it has earned an index, or continues building
    /// one.
    ///
    /// If this fails (the gate is not free soon, a full disk, a limit), the take does not fail: the next search scans.
    package func followUp(_ shape: Shape, _ shapes: ShapeTable, examined: Int, on engine: Engine) {
        guard let index = shapes.index(for: shape) else {
            if usage.note(shape, examined: examined) { try? register(shape, on: engine) }
            if shapes.isDropping { try? dropSlice(on: engine) }
            return
        }
        if index.state == .building {
            // Builds as much as the search has just walked through: the sooner the index is ready, the fewer such
            // searches there are.
            for _ in 0..<min(max(1, examined / Self.sliceLength), Self.slicesATake) {
                guard (try? buildSlice(index.number, on: engine)) ?? false else { break }
            }
        } else if index.lastUse + Self.unusedAfter / 4 < Clock.realtimeMilliseconds() {
            try? touch(index.number, on: engine)
        }
        if shapes.isDropping { try? dropSlice(on: engine) }
    }

    private func register(_ shape: Shape, on engine: Engine) throws(SpaceError) {
        try engine.write(.adding, timeout: Engine.upkeepPatience) { (scope) throws(SpaceError) in
            guard scope.shapes.index(for: shape) == nil else { return }
            let now = Clock.realtimeMilliseconds()
            for unused in scope.shapes.indexed where unused.lastUse + Self.unusedAfter < now {
                var changed = unused
                changed.state = .dropping
                try scope.put(changed)
            }
            let taken = Set(scope.shapes.all.map(\.number))
            guard taken.count < Limits.shapes, engine.diskReserve.hasRoom(forShapes: taken.count + 1),
                let number = (1...UInt16(Limits.shapes)).first(where: { !taken.contains($0) })
            else { return }
            try scope.put(
                IndexedShape(
                    number: number,
                    state: .building,
                    watermark: scope.counters.nextTuple,
                    lastUse: now,
                    shape: shape
                )
            )
        }
    }

    private func touch(_ number: UInt16, on engine: Engine) throws(SpaceError) {
        try engine.write(.adding, timeout: Engine.upkeepPatience) { (scope) throws(SpaceError) in
            guard var index = scope.shapes.all.first(where: { $0.number == number }), index.state == .ready else {
                return
            }
            index.lastUse = Clock.realtimeMilliseconds()
            try scope.put(index)
        }
    }

    /// Builds a slice, and returns whether there is more to build.
    private func buildSlice(_ number: UInt16, on engine: Engine) throws(SpaceError) -> Bool {
        var isMore = false
        try engine.write(.adding, timeout: Engine.upkeepPatience) { (scope) throws(SpaceError) in
            isMore = false
            guard var index = scope.shapes.all.first(where: { $0.number == number }), index.state == .building else {
                return
            }
            var keys: [IndexKey] = []
            var lowest: UInt64 = 0
            var tuples = try scope.tuples.scan(below: index.watermark)
            for _ in 0..<Self.sliceLength {
                guard let (id, row) = try tuples.previous() else {
                    lowest = 0
                    break
                }
                lowest = id
                // A claimed tuple gets its row when it returns.
                if !row.isClaimed, let hash = row.encoded.hash(of: index.shape) {
                    keys.append(IndexKey(shape: number, hash: hash, id: id))
                }
            }
            for key in keys { try scope.index.put(key, NoValue()) }
            index.watermark = lowest
            index.lastUse = Clock.realtimeMilliseconds()
            if lowest == 0 { index.state = .ready }
            try scope.put(index)
            isMore = lowest != 0
        }
        return isMore
    }

    private func dropSlice(on engine: Engine) throws(SpaceError) {
        try engine.write(.removing, timeout: Engine.upkeepPatience) { (scope) throws(SpaceError) in
            guard let index = scope.shapes.all.first(where: { $0.state == .dropping }) else { return }
            var rows = try scope.index.scan(from: IndexKey(shape: index.number, hash: 0, id: 0))
            var isEmpty = false
            for _ in 0..<Self.sliceLength where !isEmpty {
                if let (key, _) = try rows.nextValid(), key.shape == index.number {
                    try rows.delete()
                } else {
                    isEmpty = true
                }
            }
            if isEmpty { try scope.indexedShapes.delete(index.number) }
            try scope.noteShapesChanged()
        }
    }
}

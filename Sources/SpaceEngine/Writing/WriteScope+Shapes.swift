import LMDB
import SpaceSystem
import Synchronization
import TupleCoding

extension WriteScope {
    package func put(_ index: IndexedShape) throws(SpaceError) {
        try lmdb { () throws(LMDBError) in
            try index.withKey { (key) throws(LMDBError) in
                try index.encoded.withBytes { (value) throws(LMDBError) in
                    try access.put(tables.shapes, key, value)
                }
            }
        }
        try noteShapesChanged()
    }

    /// From here on this transaction's own tuples are indexed as the changed table says: others may share it.
    func noteShapesChanged() throws(SpaceError) {
        counters.shapesGeneration += 1
        noteUpkeep()
        shapes = try ShapeTable(reading: snapshot, generation: counters.shapesGeneration)
    }
}

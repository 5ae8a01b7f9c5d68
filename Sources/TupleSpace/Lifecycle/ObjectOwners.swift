import Synchronization

/// Objects of this process that keep a namespace alive as long as they live.
///
/// Swift on Linux does not report the end of an object, so the next tick notices it.
package final class ObjectOwners: Sendable {
    private struct Box: Sendable {
        weak var object: (any AnyObject & Sendable)?
    }

    private let boxes = Mutex<[ObjectIdentifier: Box]>([:])

    /// - Returns: Whether the object is the first owner.
    package func add(_ object: any AnyObject & Sendable) -> Bool {
        boxes.withLock { boxes in
            let wasEmpty = boxes.isEmpty
            boxes[ObjectIdentifier(object)] = Box(object: object)
            return wasEmpty
        }
    }

    /// - Returns: Whether the object was an owner, and whether it was the last one.
    func remove(_ object: any AnyObject & Sendable) -> (wasThere: Bool, wasLast: Bool) {
        boxes.withLock { boxes in
            let wasThere = boxes.removeValue(forKey: ObjectIdentifier(object)) != nil
            return (wasThere, wasThere && boxes.isEmpty)
        }
    }

    /// The objects that still live.
    package var all: [any AnyObject & Sendable] { boxes.withLock { $0.values.compactMap(\.object) } }

    var isEmpty: Bool { boxes.withLock { $0.isEmpty } }

    /// Forgets the objects that no longer live.
    ///
    /// - Returns: Whether no owner is left.
    func forgetTheDead() -> Bool {
        boxes.withLock { boxes in
            guard !boxes.isEmpty else { return false }
            boxes = boxes.filter { $0.value.object != nil }
            return boxes.isEmpty
        }
    }
}

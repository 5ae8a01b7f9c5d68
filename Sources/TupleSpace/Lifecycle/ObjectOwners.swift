import Synchronization

/// Objects of this process that keep a namespace alive as long as they live.
///
/// Swift on Linux has no hook for an object's end, so a dead one is noticed at the next tick.
package final class ObjectOwners: Sendable {
    private struct Box: Sendable {
        weak var object: (any AnyObject & Sendable)?
    }

    private let boxes = Mutex<[ObjectIdentifier: Box]>([:])

    /// - Returns: Whether it is the first.
    package func add(_ object: any AnyObject & Sendable) -> Bool {
        boxes.withLock { boxes in
            let wasEmpty = boxes.isEmpty
            boxes[ObjectIdentifier(object)] = Box(object: object)
            return wasEmpty
        }
    }

    /// - Returns: Whether it was there, and whether it was the last.
    func remove(_ object: any AnyObject & Sendable) -> (wasThere: Bool, wasLast: Bool) {
        boxes.withLock { boxes in
            let wasThere = boxes.removeValue(forKey: ObjectIdentifier(object)) != nil
            return (wasThere, wasThere && boxes.isEmpty)
        }
    }

    var isEmpty: Bool { boxes.withLock { $0.isEmpty } }

    /// Forgets the dead.
    ///
    /// - Returns: Whether the last one was among them.
    func forgetTheDead() -> Bool {
        boxes.withLock { boxes in
            guard !boxes.isEmpty else { return false }
            boxes = boxes.filter { $0.value.object != nil }
            return boxes.isEmpty
        }
    }
}

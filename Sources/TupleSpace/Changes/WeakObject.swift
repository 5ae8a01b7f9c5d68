import Synchronization
import TupleCoding

/// An object that an observation does not keep alive.
final class WeakObject<Object: AnyObject & Sendable>: Sendable {
    private let reference: Mutex<Reference>
    let id: ObjectIdentifier

    private struct Reference { weak var object: Object? }

    init(_ object: Object) {
        reference = Mutex(Reference(object: object))
        id = ObjectIdentifier(object)
    }

    var value: Object? { reference.withLock { $0.object } }
}

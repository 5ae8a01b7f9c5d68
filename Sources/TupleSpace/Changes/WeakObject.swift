import Synchronization

/// A weak reference to the object that an observation belongs to.
package final class WeakObject<Object: AnyObject & Sendable>: Sendable {
    private let reference: Mutex<Reference>
    package let id: ObjectIdentifier

    private struct Reference { weak var object: Object? }

    package init(_ object: Object) {
        reference = Mutex(Reference(object: object))
        id = ObjectIdentifier(object)
    }

    package var value: Object? { reference.withLock { $0.object } }
}

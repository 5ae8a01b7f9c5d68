import SpaceSystem
import TupleCoding

/// What `observe` observes: a cell's key, a ``ChangeFilter``, or a cell with the type of its value.
///
/// ```swift
/// self.token = try jobs.observe("progress") { change in … }                               // a key, or a path
/// self.token = try jobs.observe(.tuples(["resize", .any])) { change in … }                // a filter
/// self.token = try jobs.observe(.cell("progress", as: Double.self)) { old, new in … }     // typed values
/// ```
///
/// A type of your own can conform, to give handlers something other than the plain change.
public protocol ChangeSelection: Sendable {
    /// What a handler is called with.
    associatedtype Told: Sendable

    /// The changes to deliver.
    var changeFilter: ChangeFilter { get }

    /// What the handler is called with for a change; `nil` for no call.
    ///
    /// Called before each call of the handler, where the handler runs, or on a thread of the library. An error that it
    /// throws goes to the observation's `onError`.
    ///
    /// - Parameters:
    ///   - change: A change that the filter lets through, a gap, or the namespace's end.
    ///   - namespace: The namespace that changed.
    func told(_ change: Change, in namespace: Namespace) throws -> Told?
}

extension ChangeSelection where Told == Change {
    /// The change itself.
    public func told(_ change: Change, in namespace: Namespace) -> Change? { change }
}

/// A key stands for the changes of its cell; a path (`"user.name"`) for those of a part of the cell's value.
extension String: ChangeSelection {
    /// The changes of the cell with this key.
    public var changeFilter: ChangeFilter { ChangeFilter(cells: .key(self)) }
}

extension ChangeFilter: ChangeSelection {
    /// The filter itself.
    public var changeFilter: ChangeFilter { self }
}

/// A cell whose value is told decoded: ``ChangeSelection/cell(_:as:)``.
public struct TypedCell<Content: Decodable & Sendable>: ChangeSelection {
    private let key: String

    fileprivate init(_ key: String) { self.key = key }

    /// The changes of the cell.
    public var changeFilter: ChangeFilter { key.changeFilter }

    /// The value before and after the change, `nil` where the cell is not set; `nil` at the namespace's end.
    public func told(_ change: Change, in namespace: Namespace) throws -> (old: Content?, new: Content?)? {
        func content(_ value: Value?) throws(SpaceError) -> Content? {
            do throws(SpaceError) { return try value?.content(Content.self) } catch {
                throw error.named("observe the cell \(key.quotedForPeople)", namespace.name)
            }
        }
        switch change.kind {
        case .set, .unset: return (try content(change.old), try content(change.new))
        // After missed changes the present value is told.
        case .gap: return (nil, try content(try namespace.present(at: key)))
        default: return nil
        }
    }
}

extension ChangeSelection {
    /// A cell whose handler gets the values before and after each change, decoded.
    ///
    /// A value of another type is an error for the observation's `onError`. If changes were missed, the handler gets
    /// the present value as the new one. The end of the namespace is not told.
    ///
    /// - Parameters:
    ///   - key: The cell, or with a path (`"user.name"`) a part of its value.
    ///   - type: The type of the value.
    public static func cell<Content>(_ key: String, as type: Content.Type) -> Self where Self == TypedCell<Content> {
        TypedCell(key)
    }
}

extension ChangeSelection where Self == ChangeFilter {
    /// All changes.
    public static var everything: ChangeFilter {
        ChangeFilter(tuples: .any, cells: .all, notifications: .all, collections: .all)
    }

    /// The changes of a cell, or with a path (`"user.name"`) of a part of its value.
    public static func cell(_ key: String) -> ChangeFilter { ChangeFilter(cells: .key(key)) }

    /// The changes of all cells.
    public static var cells: ChangeFilter { ChangeFilter(cells: .all) }

    /// The changes of some cells: `.cells(.prefix("config/"))`, `.cells(.matching("*.port"))`.
    public static func cells(_ which: ChangeFilter.Cells) -> ChangeFilter { ChangeFilter(cells: which) }

    /// The changes of the tuples that match.
    public static func tuples(_ template: Template) -> ChangeFilter { ChangeFilter(tuples: template) }

    /// The notifications with a name: all of them, or those that an object of this process posts.
    ///
    /// The object is not retained.
    public static func notification(_ name: String, from sender: (any AnyObject & Sendable)? = nil) -> ChangeFilter {
        ChangeFilter(notifications: sender.map { .sent(by: PostSender($0), named: name) } ?? .named(name))
    }

    /// All notifications.
    public static var notifications: ChangeFilter { ChangeFilter(notifications: .all) }

    /// The notifications whose names match a pattern: ``ChangeFilter/Notifications/matching(_:)``.
    ///
    /// ```swift
    /// bag.add(try jobs.observe(.notifications(matching: "build.*")) { change in … })
    /// ```
    public static func notifications(matching pattern: String) -> ChangeFilter {
        ChangeFilter(notifications: .matching(pattern))
    }

    /// The changes of the ordered set, or of the dictionary, with a name.
    public static func collection(_ name: String) -> ChangeFilter { ChangeFilter(collections: .named(name)) }
}

extension Namespace {
    /// The value of a cell, or of the part of a cell that a path leads to.
    func present(at path: String) throws(SpaceError) -> Value? {
        for key in ChangeFilter.keys(on: path) {
            guard let value = try get(String(decoding: key, as: UTF8.self)) else { continue }
            guard key.count < path.utf8.count else { return value }
            return value.part(path.utf8.components(from: key.count + 1))
        }
        return nil
    }
}

extension Value {
    /// The part that a path of names leads to, if there is one.
    func part(_ names: [String]) -> Value? {
        var value = self
        for name in names {
            guard case .object(let record) = value, let inner = record[name] else { return nil }
            value = inner
        }
        return value
    }
}

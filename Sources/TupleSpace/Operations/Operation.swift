/// A change of tuples, cells or claims, or a post, as a value.
///
/// A verb makes it, and the chain of executors carries it out: the near end (the ring and the marks), the root's daemon in a
/// namespace of several machines, the tables. An executor that can't answers `nil`, having changed nothing, and the next one
/// is asked; the tables can do all. So each of these changes is described once, and a verb knows no executor. The body of a
/// transaction carries out the same operations in its own transaction.
///
/// Recipes, registrations and settings are no operations: only the tables have their rows, which they change in a scope, by
/// `NamespaceCore.write`.
///
/// An operation names ids, keys and bytes, never a template: the caller has found and decoded what it removes. It may
/// borrow its bytes from the caller's stack, so it must not outlive the call that it is passed to. Each operation is a
/// type of its own: so its outcome has a type, and the chain has code of its own for each, without a switch.
package protocol Operation {
    /// What becomes of it.
    associatedtype Outcome

    /// What operations of this kind do, as their errors say it.
    static var name: String { get }

    /// What this operation does, if its errors say more than that.
    var name: String { get }

    /// Whether it may need more disk space than it frees.
    static var purpose: WritePurpose { get }

    /// What its commit may leave in the near end.
    var keeps: NearKept { get }

    /// The session or process that the operation names, if it names one.
    var holder: ClaimHolder? { get }

    /// The same operation with another holder: the machine may have become another member since.
    func with(holder: ClaimHolder) -> Self

    /// The size of the values that come and go, in bytes, for the limits of a transaction's body.
    func size(in scope: WriteScope) throws(SpaceError) -> Int

    /// Carries it out by one store of the near end: in the ring, or by a mark on a tuple of the tables; `nil` if that can't
    /// be done.
    func execute(withoutTransaction engine: Engine) throws(SpaceError) -> Outcome?

    /// Sends it to the process that carries out what several have sent, in one commit; `nil` if the caller must do it itself.
    ///
    /// A removal that looks has no such step: it is sent with several candidates, and only the look has more than one
    /// (`Looking.removeBySending`).
    func send(by core: NamespaceCore) throws(SpaceError) -> Outcome?

    /// Carries it out in a transaction.
    ///
    /// It may run more than once, if the transaction is undone, so it changes nothing but what the scope stands for.
    func execute(in scope: WriteScope) throws(SpaceError) -> Outcome
}

extension Operation {
    package var name: String { Self.name }
    package static var purpose: WritePurpose { .removing }
    @inline(__always) package var keeps: NearKept { [] }
    @inline(__always) package var holder: ClaimHolder? { nil }
    @inline(__always) package func with(holder: ClaimHolder) -> Self { self }
    package func size(in scope: WriteScope) throws(SpaceError) -> Int { 0 }
    @inline(__always) package func execute(withoutTransaction engine: Engine) throws(SpaceError) -> Outcome? { nil }
    @inline(__always) package func send(by core: NamespaceCore) throws(SpaceError) -> Outcome? { nil }
}

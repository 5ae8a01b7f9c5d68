import SpaceInspection

/// Who waits for whom in several namespaces together.
///
/// A circle may go through more than one of them: it is then named as one that spans them, and belongs to none.
struct SpaceWaits {
    private let graph: WaitGraph

    init(_ statuses: [NamespaceStatus]) {
        var waits = ObjectWaits()
        for status in statuses { waits.add(status.waits, of: Name(status.name)) }
        graph = WaitGraph(waits)
    }

    /// The number of waits for objects of a namespace.
    func waits(in namespace: String) -> Int { graph.waits.count { $0.namespace == Name(namespace) } }

    /// The deadlocks within a namespace.
    func deadlocks(in namespace: String) -> [Deadlock] { graph.deadlocks.filter { $0.namespaces == [Name(namespace)] } }

    /// The number of waits of processes for what they hold themselves.
    func ownWaits(in namespace: String) -> Int {
        graph.doubtful.count { $0.steps.count == 1 && $0.namespaces == [Name(namespace)] }
    }

    /// The circles within a namespace: first the deadlocks, then those that may end by themselves.
    func circles(in namespace: String) -> [Deadlock] {
        (graph.deadlocks + graph.doubtful).filter { $0.namespaces == [Name(namespace)] }
    }

    /// The deadlocks that go through several namespaces.
    var spanning: [Deadlock] { graph.deadlocks.filter { $0.namespaces.count > 1 } }

    /// The circles through several namespaces that may end by themselves.
    var doubtfulSpanning: [Deadlock] { graph.doubtful.filter { $0.namespaces.count > 1 } }
}

extension Deadlock {
    /// The namespaces whose objects are waited for.
    fileprivate var namespaces: Set<Name> { Set(steps.compactMap(\.namespace)) }
}

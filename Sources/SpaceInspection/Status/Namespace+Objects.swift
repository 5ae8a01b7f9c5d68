extension Namespace {
    /// The named objects of the namespace, by name.
    ///
    /// - Throws: `namespaceDeleted`, `closed`, `damaged`.
    /// - Complexity: O(objects + entries of dictionaries).
    package var objects: [SharedObjectInfo] {
        get throws(SpaceError) {
            try attempt("list the objects") { (core) throws(SpaceError) in
                try core.read { (snapshot) throws(SpaceError) in try snapshot.objectInfos() }
            }
        }
    }
}

extension Snapshot {
    package func objectInfos() throws(SpaceError) -> [SharedObjectInfo] {
        var infos: [SharedObjectInfo] = []
        try forEachObject { (name, object) throws(SpaceError) in
            // The listing must show damaged objects too.
            let items = object.kind == .queue ? try? queueCounts(QueueRows(number: object.number)) : nil
            let count: Int? =
                switch object.kind {
                case .orderedSet: try row(object.number, .directory).flatMap(ElementDirectory.init)?.count
                case .dictionary: try entryCount(ofDictionary: name)
                default: items?.all
                }
            infos.append(
                SharedObjectInfo(
                    named: Name(name),
                    kind: object.kind,
                    elementType: object.kind.isCollection ? CollectionDetails(object.details)?.elementType : nil,
                    count: count,
                    queue: object.kind == .queue ? WorkQueueInfo(items, QueueSettings(object.details), clock) : nil
                )
            )
        }
        return infos
    }
}

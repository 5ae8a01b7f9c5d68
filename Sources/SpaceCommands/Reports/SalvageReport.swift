import SharedSpace
import SpaceInspection

/// What was saved of a damaged namespace, as the lines that `space load` reads.
struct SalvageReport {
    let salvage: Salvage

    /// Prints JSON lines, each with a `kind`.
    func lines(_ print: (String) throws -> Void) throws {
        var namespace = DumpReport.line("namespace")
        namespace.add("name", salvage.name)
        namespace.add("mode", salvage.mode.rawValue)
        namespace.add("salvaged", true)
        namespace.add("delivery_limit", salvage.deliveryLimit)
        namespace.add("ends_with", DumpReport.end)
        if let history = salvage.history { namespace.add("history", json: StatusReport.json(history)) }
        try print(namespace.line)
        for item in salvage.tuples {
            let holder: Int32? = item.isOfHolder ? 0 : nil
            try print(DumpReport.tuple(item.id, item.tuple, item.expires, item.deliveries, item.origin, holder: holder))
        }
        for claim in salvage.claims { try print(StatusReport.object(claim, in: DumpReport.line("claim")).line) }
        for claim in salvage.buried {
            try print(StatusReport.object(buried: claim, in: DumpReport.line("buried")).line)
        }
        for cell in salvage.cells { try print(DumpReport.cell(cell)) }
        for collection in salvage.collections {
            try print(DumpReport.line(of: collection))
            for (index, element) in collection.elements.enumerated() {
                let key = collection.keys.indices.contains(index) ? collection.keys[index] : nil
                try print(DumpReport.line(of: element, key: key, in: collection))
            }
        }
        for queue in salvage.recipes.queues {
            try print(DumpReport.line(of: queue, count: queue.items.count))
            for item in queue.items { try print(DumpReport.line(of: item, in: queue)) }
        }
        for state in salvage.recipes.states { try print(DumpReport.line(of: state)) }
        try print(DumpReport.line(DumpReport.end).line)
    }
}

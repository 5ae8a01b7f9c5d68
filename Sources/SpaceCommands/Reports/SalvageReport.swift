import SpaceInspection

/// What was saved of a damaged namespace, as the lines that `space load` reads.
struct SalvageReport {
    let salvage: Salvage

    /// Prints JSON lines, each with a `kind`.
    func lines(_ print: (String) throws -> Void) throws {
        let namespace: JSONObject = [
            "name": salvage.name, "mode": salvage.mode.rawValue, "salvaged": true,
            "delivery_limit": salvage.deliveryLimit, "ends_with": DumpReport.end,
            "history": (salvage.history?.object).orLeftOut,
        ]
        try print(DumpReport.line("namespace", namespace))
        for item in salvage.tuples {
            let holder: Int32? = item.isOfHolder ? 0 : nil
            try print(DumpReport.tuple(item.id, item.tuple, item.expires, item.deliveries, item.origin, holder: holder))
        }
        for claim in salvage.claims { try print(DumpReport.line("claim", claim.object)) }
        for claim in salvage.buried { try print(DumpReport.line("buried", claim.buriedObject)) }
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
        try print(DumpReport.line(DumpReport.end))
    }
}

import TupleCoding

// The number of permits that was set for all users of a semaphore.

extension WriteScope {
    /// The request with the number of permits that was set, if one was.
    ///
    /// Throws `invalidArgument` for more permits than there are.
    func withSetPermits(_ request: PlaceRequest) throws(SpaceError) -> PlaceRequest {
        guard request.kind == .semaphore else { return request }
        var request = request
        if let set = try snapshot.object(request.name, .semaphore) { request.details = set.details }
        let permits = request.details.permits
        guard request.weight <= permits else {
            let reason = "\(request.weight) of \(permits) permits are never to be had"
            throw .badNumber(reason, advice: "ask for no more than there are")
        }
        return request
    }

    /// Sets the number of permits of a semaphore and of all its places, or takes it back, and settles the name; returns
    /// whether one had been set before.
    @discardableResult
    package func setPermits(_ number: Int?, of name: String) throws(SpaceError) -> Bool {
        let row = try snapshot.object(name, .semaphore)
        guard let number else {
            if row != nil { try removeObject(name) }
            return row != nil
        }
        if let row {
            try store(name, SharedObjectRow(kind: .semaphore, number: row.number, details: .int(number)))
        } else {
            _ = try makeObject(name, .semaphore, details: .int(number))
        }
        let keys = PlaceKeys(name)
        var places: [PlaceRow] = []
        try snapshot.forEachPlace(keys) { place throws(SpaceError) in
            places.append(place)
            return true
        }
        for var place in places {
            place.details = .int(number)
            try put(place, keys)
        }
        try TurnRules().settle(name, in: self)
        return row != nil
    }
}

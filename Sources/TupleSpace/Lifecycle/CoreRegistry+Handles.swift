import Synchronization

// What keeps a namespace open in this process: its handles, and the objects that own it.

extension CoreRegistry {
    func addHandle(to core: NamespaceCore, _ entry: Entry) throws(SpaceError) {
        try entry.withState { (state) throws(SpaceError) in
            guard state.core === core else { throw .leftHandle }
            state.handles += 1
        }
    }

    func endHandle(of core: NamespaceCore, _ entry: Entry, isOwning: Bool) throws(SpaceError) {
        try entry.state.withLock { (state) throws(SpaceError) in
            // The entry may belong to a later namespace whose folder got the same inode.
            guard state.core === core else { return }
            state.handles -= 1
            if isOwning { state.owningHandles -= 1 }
            if state.handles == 0, core.owners.isEmpty {
                state.core = nil
                try core.leave(timeout: core.timeout)
            } else if state.owningHandles == 0, core.owners.isEmpty {
                try core.stopOwning()
            }
        }
    }

    func addOwner(_ object: any AnyObject & Sendable, to core: NamespaceCore, _ entry: Entry) throws(SpaceError) {
        try entry.state.withLock { (state) throws(SpaceError) in
            guard state.core === core else { return try core.checkUsable() }
            guard core.owners.add(object) else { return }
            do throws(SpaceError) {
                guard try core.join(.session) else { return try core.checkUsable() }
            } catch {
                _ = core.owners.remove(object)
                throw error
            }
        }
    }

    /// Ends the owning when the last owner object is gone.
    func endOwning(of core: NamespaceCore, _ entry: Entry) throws(SpaceError) {
        try entry.state.withLock { (state) throws(SpaceError) in
            guard state.core === core, state.owningHandles == 0, core.owners.isEmpty else { return }
            guard state.handles == 0 else { return try core.stopOwning() }
            // The objects have outlived the last handle.
            state.core = nil
            try core.leave(timeout: core.timeout)
        }
    }

    /// Ends the ownership after a tick has noticed that the last owner object is gone.
    func lostObjectOwners(_ core: NamespaceCore) {
        try? endOwning(of: core, entry(core.folderID))
    }
}

import SharedSpace

extension NamespaceCore {
    /// How many threads and tasks of all processes wait, those that hold something and wait for its loss among them.
    var slotsInUse: Int {
        control.slots.range.count { index in
            let state = control.slots.slot(index).current.state
            return state == .active || state == .granted
        }
    }
}

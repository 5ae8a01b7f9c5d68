extension SpaceError {
    /// Whether it was too much to store: something smaller may do.
    package var isOfStorage: Bool {
        switch code {
        case .storageFull, .limitReached, .tooLarge, .transactionTooLarge: true
        default: false
        }
    }

    /// Whether it is about what was to be moved, too large for the room or damaged: with something else it may go on.
    package var isOfContent: Bool { isOfStorage || code == .damaged }

    /// Whether trying again may help.
    package var mayPass: Bool {
        switch code {
        case .holderStopped, .holderBusy, .storageFull, .limitReached, .readersExhausted, .descriptorsExhausted,
            .inputOutput:
            true
        default: false
        }
    }
}

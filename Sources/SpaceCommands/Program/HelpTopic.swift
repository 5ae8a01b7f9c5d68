/// A part of the help that belongs to many commands: what `space help templates`, `help durations` and so on print.
enum HelpTopic: String, CaseIterable {
    case templates, durations, environment, status

    var text: String {
        switch self {
        case .templates:
            """
            A template is JSON text that says which tuples are meant. An array matches tuples of as many fields; an object matches
            records that have at least its fields, or with --exact only these. What is no formal matches equal values.

              "?"                        anything; alone, any tuple
              "?int" "?double" "?string" "?bool" "?bytes" "?uuid" "?array" "?object"
                                         any value of that type
              "?1...9" "?0.5..<1" "?a...f" "?5..." "?...9" "?..<9"
                                         a range of integers, doubles or strings
              "?/^cat/"                  strings in which the expression is found
              "?..."                     the rest: any fields, as the last of an array
              "??x"                      the string "?x"

            With --literal nothing is a formal. --arg NAME STRING and --argjson NAME JSON give $NAME a value, which is never a formal.
            1 and 1.0 differ, and so do "1" and 1.

            EXAMPLES:
              space read jobs '["resize", "?int", "?string"]'
              space take jobs '{"kind": "resize", "id": "?1...100"}'
              space take jobs --arg file "$f" '["resize", "?", $file]'
            """
        case .status:
            ExitStatus.help
        case .durations:
            """
            A duration is a number with a unit: 250ms, 5s, 2m, 1h, 1d; several in a row, the larger first: 1h30m. A fraction may be
            given (0.5s), and a number without a unit is seconds.

            --wait D waits for so long, --wait 0 tries once, and --wait alone waits without a limit; the next word counts as D only if
            it is a duration. A word that begins with a digit and is no duration is refused. More than a thousand years count
            as a thousand years.
            """
        case .environment:
            """
            A namespace that a command creates goes when its last owner has ended. The owner is the session leader: the terminal's
            shell, the cron job, the unit's main process, a container's first process. Where that is the command itself (ssh HOST
            space …, setsid, a unit's ExecStart), has exited, or is another user's, it is the calling process. A command that creates
            a namespace for an owner that was not named says so, unless that is the interactive shell of the terminal, or --quiet is
            given. To name one: --owner PID, SHARED_SPACE_OWNER, 'space own'; to keep a namespace without owners: --persistent.

            SHARED_SPACE_ROOT    The folder with the namespaces (default: /dev/shm/shared-space-UID); --root comes before it.
            SHARED_SPACE_OWNER   The process that owns what a command creates, or 'none'; --owner comes before it. A script whose
                                 namespaces end with it begins with: export SHARED_SPACE_OWNER=$$

            What the commands give to the programs that they run:

            SHARED_SPACE_ROOT, SHARED_SPACE_NAMESPACE
                                 Where the program's tuple, item or request is (claim, queue, respond).
            SHARED_SPACE_FENCING The fencing number, greater for every later holder (lock, semaphore, elect, claim, queue); of several
                                 locks their numbers with spaces in between.
            SHARED_SPACE_ID, SHARED_SPACE_DELIVERIES
                                 The number of the claimed tuple or of the item, and how often it was delivered (claim, queue).
            SHARED_SPACE_TUPLE   The claimed tuple in JSON form (claim); its standard input has it too.
            SHARED_SPACE_FIELD_0, SHARED_SPACE_FIELD_1 …
                                 Its fields, as 'space take --field N -r' prints them, or by name: SHARED_SPACE_FIELD_kind. Fields
                                 with other names than letters, digits and _ are left out; of a tuple beyond 32 KiB, all are.
            SHARED_SPACE_QUEUE   The queue of the item (queue), for 'space queue NS QUEUE extend D'.
            SHARED_SPACE_NAME, SHARED_SPACE_KEY, SHARED_SPACE_REQUEST
                                 What a responder answers to, its key, and the request, for 'space request --next' (respond).
            """
        }
    }
}

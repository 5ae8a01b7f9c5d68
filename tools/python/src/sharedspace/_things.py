"""The numbers of sharedspace.h for what is passed, ruled and removed.

They are plain integers: `enum` takes long to import.
"""


class Kind:
    """SHAREDSPACE_LOCK and those after it."""

    LOCK = 1
    SEMAPHORE = 2
    ELECTION = 3
    BARRIER = 4
    LATCH = 5
    RATE = 6
    COUNTER = 7
    QUEUE = 8
    ORDERED = 9
    RESPONDER = 10


class Rule:
    """SHAREDSPACE_RULE_…"""

    REMOVE = 1
    COUNT = 2
    DOWN = 3
    PERMITS = 4
    DEPOSE = 5
    PAUSE = 6
    RESUME = 7
    KICK = 8
    DROP = 9
    CANCEL = 10
    EXTEND = 11
    DRAIN = 12
    QUEUE = 13
    ITEMS = 14


class NamespaceRule:
    """SHAREDSPACE_NS_…"""

    OWNER = 1
    NO_OWNER = 2
    PERSISTENT = 3
    DELIVERIES = 4
    HISTORY = 5


class Look:
    """SHAREDSPACE_LOOK_…"""

    CLAIMED = 4
    BURIED = 5


class Edit:
    """SHAREDSPACE_APPEND and those after it."""

    APPEND = 1
    INSERT = 2
    WITHOUT = 3
    MOVE = 4
    EXCHANGE = 5
    SORT = 6
    INDEX = 7

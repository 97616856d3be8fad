"""Which receive takes which message: MPI's rules of matching, the same on every carrier.

A message goes to the first receive that was posted for it, and a receive takes the earliest message that it can take;
messages of one rank do not overtake one another (MPI standard 4.1, section 3.5). Moves nothing and reads no clock.
"""

from collections import deque
from dataclasses import dataclass
from itertools import chain, count

from course.comm.transfer import ANY_SOURCE, takes_any


@dataclass(eq=False, slots=True)
class Message:
    """A message that no receive has taken yet.

    order: messages of different ranks are taken in this order. count: of elements. content: whatever the carrier needs
    to deliver it.
    """

    order: object
    source: int
    tag: int
    count: int
    content: object


class Mailbox:
    """The receives of one rank that have no message, and the messages to it that have no receive.

    open: the number of receives and probes here that leave their source open, or only probe. probe: the Transfer of the
    probe in which the rank waits, None outside one.
    """

    def __init__(self):
        self.receives = {}  # source or ANY_SOURCE -> receives in the order of posting
        self.messages = {}  # source -> messages in the order of sending
        self.numbers = count()
        self.open, self.probe = 0, None

    def post(self, receive):
        """Keep a receive until its message comes."""
        receive.number = next(self.numbers)
        source = receive.peer
        if source == ANY_SOURCE:
            self.open += 1
        queue = self.receives.get(source)
        if queue is None:
            queue = self.receives[source] = deque()
        queue.append(receive)

    def keep(self, message):
        """Keep a message until a receive takes it."""
        queue = self.messages.get(message.source)
        if queue is None:
            queue = self.messages[message.source] = deque()
        queue.append(message)

    def take_receive(self, source, tag):
        """Remove and return the first receive that takes a message of rank `source` with this tag; None without one."""
        queue = self.receives.get(source)
        if not self.open:  # the usual case, kept short
            if not queue:
                return None
            if queue[0].tag == tag or takes_any(queue[0].tag, tag):
                return queue.popleft()
        first = self._find_receive(source, tag)
        if self.open:
            other = self._find_receive(ANY_SOURCE, tag)
            if other is not None and (first is None or other.number < first.number):
                first = other
                self.open -= 1
        if first is not None:
            self.receives[first.peer].remove(first)
        return first

    def _find_receive(self, source, tag):
        for receive in self.receives.get(source, ()):
            if receive.tag == tag or takes_any(receive.tag, tag):
                return receive
        return None

    def find_message(self, source, tag, until=None):
        """The earliest message that a receive for `source` and `tag` takes; None without one.

        until: only messages up to this order count.
        """
        if source != ANY_SOURCE:
            found = self._find_message_of(source, tag)
            return None if found is None or (until is not None and found.order > until) else found
        earliest = None
        for each in self.messages:
            found = self._find_message_of(each, tag)
            if found is None or (until is not None and found.order > until):
                continue
            if earliest is None or found.order < earliest.order:
                earliest = found
        return earliest

    def _find_message_of(self, source, tag):
        for message in self.messages.get(source, ()):
            if message.tag == tag or takes_any(tag, message.tag):
                return message
        return None

    def take_message(self, source, tag, until=None):
        """Remove and return the message that `find_message` finds."""
        if source != ANY_SOURCE and not self.messages.get(source):  # the usual case, kept short
            return None
        message = self.find_message(source, tag, until)
        if message is not None:
            self.messages[message.source].remove(message)
        return message

    def match(self, until=None):
        """Remove and yield all pairs of a receive and its message, in the order of posting.

        until: as in `find_message`.
        """
        for receive in sorted(chain(*self.receives.values()), key=lambda each: each.number):
            message = self.take_message(receive.peer, receive.tag, until)
            if message is not None:
                self.receives[receive.peer].remove(receive)
                if receive.peer == ANY_SOURCE:
                    self.open -= 1
                yield receive, message

    def find_next(self, after):
        """The earliest order above `after` of a message here; None without one."""
        orders = (message.order for queue in self.messages.values() for message in queue)
        return min((order for order in orders if order > after), default=None)

    def begin_probe(self, probe):
        """Keep a probe until there is a message for it."""
        self.probe = probe
        self.open += 1

    def end_probe(self):
        """Forget the probe: its message is there, or it is not waited for."""
        self.probe = None
        self.open -= 1

    def wants(self, source):
        """Whether a receive or a probe would take a message of rank `source`, with some tag."""
        if self.receives.get(source) or self.receives.get(ANY_SOURCE):
            return True
        return self.probe is not None and self.probe.peer in (source, ANY_SOURCE)

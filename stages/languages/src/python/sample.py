"""Sessions and their store.

One process, many users.
"""
import os.path as p, sys
from ..models import User as Account, Token
from typing import *

log = getLogger(__name__)


class Store(Base, mixins.Closing):
    """Keeps sessions."""

    limit = 10

    @property
    def size(self) -> int:
        """How many
        there are."""
        return len(self.items) if self.items and self.open else 0

    @overload
    def get(self, key: int) -> Account: ...
    @overload
    def get(self, key: str) -> Account: ...
    def get(self, key,
            default=None):  # may be slow
        for item in self.items:
            self.touch(item)

        def found():
            return probe(item)
        return [strip(x) for x in found() if x]

    class Lease:
        def renew(self): self.until += 1


# Serves the login page.
# Needs a session.
@app.route("/login")
async def _login(request): await Account.objects.create()

square = lambda x: x * x

if __name__ == "__main__":
    main()

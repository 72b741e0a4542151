//! Tests for the outline of `sample.py`.

use super::PYTHON;
use crate::snapshot::{constants_of, outline};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&PYTHON, include_str!("sample.py")), @r#"
    import os.path p
    import sys sys
    import ..models.User Account
    import ..models.Token Token
    import typing *
    class Store 12-37 class Store(Base, mixins.Closing) | Keeps sessions. |  | is Base Closing | exported
    method Store.size 17-21 def size(self) -> int | How many⏎there are. | property len | 2 branches | exported
    method Store.get 23-34 def get(self, key: int) -> Account |  | touch strip found | 1 branches | 2 loops | exported
    function Store.get.found 32-33 def found() |  | probe
    class Store.Lease 36-37 class Lease |  |  | exported
    method Store.Lease.renew 37-37 def renew(self) |  |  | exported
    function _login 42-43 async def _login(request) | Serves the login page.⏎Needs a session. | route create
    function square 45-45 square = lambda x |  |  | exported
    constants: log
    calls outside symbols: getLogger main
    doc: Sessions and their store.⏎⏎One process, many users.
    "#);
}

#[test]
fn constants_and_variables_outside_functions_are_listed() {
    let source = r##"
import os as system
TIMEOUT: int = 30
first, (second, _) = 1, (2, 3)
a = b = None
square = lambda x: x * x
try:
    import ssl
    HAS_SSL = True
except ImportError:
    HAS_SSL = False
config["key"] = client.retries = 1

class Color(Enum):
    RED = 1
    objects = Manager()
    def paint(self):
        BRUSH = 2
        self.WIDTH = 3

def run():
    LOCAL = 1
    class Inner:
        HIDDEN = 2
"##;
    assert_eq!(constants_of(&PYTHON, source), "TIMEOUT first a b HAS_SSL HAS_SSL RED");
}

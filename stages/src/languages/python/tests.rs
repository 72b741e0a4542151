//! What is found in `sample.py`.

use crate::languages::outline::outline;

#[test]
fn sample() {
    insta::assert_snapshot!(outline("python", include_str!("sample.py")), @r#"
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
    outside: getLogger main
    doc: Sessions and their store.⏎⏎One process, many users.
    "#);
}

//! The outline of `Makefile`.

use super::MAKE;
use crate::snapshot::outline;

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&MAKE, include_str!("Makefile")), @r#"
    import config.mk *
    import $(DEPS) *
    import local.mk *
    block library 16-19 library: $(OBJECTS) | Links the objects. |  | exported
    block check 20-21 check: library |  |  | exported
    block %.o 24-25 %.o: %.c |  |  | exported
    block docs 27-28 docs clean |  |  | exported
    block print 31-33 define print | Prints a line. |  | exported
    values: CC SOURCES OBJECTS VERSION all library check %.o docs clean PATH
    doc: Builds the library.
    "#);
}

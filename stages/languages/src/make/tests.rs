//! Tests for the outline of `Makefile`.

use super::MAKE;
use crate::snapshot::outline;

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&MAKE, include_str!("Makefile")), @r#"
    import config.mk *
    import $(DEPS) *
    import local.mk *
    block library 18-21 library: $(OBJECTS) | Links the objects. |  | exported
    block check 22-23 check: library |  |  | exported
    block %.o 26-27 %.o: %.c |  |  | exported
    block docs 29-30 docs clean |  |  | exported
    block print 33-35 define print | Prints a line. |  | exported
    constants: CC SOURCES OBJECTS VERSION objects-$(CONFIG_DEBUG) $(NAME)-flags all clean PATH
    doc: Builds the library.
    "#);
}

//! Tests for the outline of `sample.java`.

use super::JAVA;
use crate::snapshot::{constants_of, outline};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&JAVA, include_str!("sample.java")), @r#"
    import java.util.List List
    import org.junit.Assert *
    class Things 7-27 public abstract class Things<A extends B> extends Base<A> implements Closeable, x.Sized | A repository of things. |  | is Base Closeable Sized | exported
    method Things.Things 12-13 public Things(int limit) | Makes one. |  | exported
    method Things.get 15-20 public <X> List<X> get(String key) throws Exception |  | touch ArrayList wrap copy | 2 branches | 1 loops | exported
    method Things.none 22-22 abstract void none() |  |
    interface Things.Visitor 24-24 interface Visitor |  |
    method Things.Visitor.visit 24-24 void visit() |  |
    method Things.Visitor.leave 24-24 default void leave() |  |
    enum Things.State 25-25 enum State |  |
    method Things.State.enter 25-25 void enter() |  |
    method Things.State.exit 25-25 void exit() |  |
    struct Things.Pair 26-26 record Pair(int x, int y) |  |
    method Things.Pair.Pair 26-26 Pair |  | check
    constants: OPEN
    "#);
}

#[test]
fn constants_and_variables_outside_functions_are_listed() {
    let source = r##"
class Limits {
  public static final int MOST = 3, LEAST = 1;
  @Deprecated final static String NAME = "x";
  static int counter;
  final int size = 2;
  void run() { final int local = 1; new Object() { static final int HIDDEN = 1; }; }
  interface Keys { String KEY = "key"; }
  enum State { OPEN { void enter() {} }, CLOSED; static final State FIRST = OPEN; }
}
"##;
    assert_eq!(constants_of(&JAVA, source), "MOST LEAST NAME KEY OPEN CLOSED FIRST");
}

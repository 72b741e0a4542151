//! The outline of `sample.groovy`.

use super::GROOVY;
use crate::snapshot::{constants_of, outline};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&GROOVY, include_str!("sample.groovy")), @r#"
    import java.util.concurrent.TimeUnit TimeUnit
    import org.junit.Assert *
    import com.example.Base Model
    function twice 11-11 def twice |  |  | exported
    class User 16-71 abstract class User<T> extends Model<T> implements Named, Comparable<User> | A customer. |  | is Model Named Comparable | exported
    method User.handler 21-23 def handler |  | consume | exported
    method User.User 26-28 User(int id) | Makes one. |  | exported
    method User.toString 30-46 String toString() |  | refresh busy step Label warn | 6 branches | 2 loops | exported
    method User.count 48-48 protected abstract int count() |  |  | exported
    method User.secret 50-59 private static <X> X secret(X value, int times = 1) |  | run each close | 2 branches
    method User.names may have spaces 61-64 def "names may have spaces"() |  | count | exported
    class User.Inner 66-70 class Inner |  |  | exported
    method User.Inner.open 67-69 void open() |  | connect | exported
    interface Shape 73-75 interface Shape extends Named |  |  | is Named | exported
    method Shape.area 74-74 double area() |  |  | exported
    interface Flying 77-81 trait Flying |  |  | exported
    method Flying.fly 78-80 void fly() |  | up | exported
    enum Color 83-89 enum Color implements Named |  |  | is Named | exported
    method Color.tone 86-88 int tone() |  | ordinal | exported
    interface Marker 91-93 @interface Marker |  |  | exported
    method Marker.value 92-92 String value() |  |  | exported
    function add 96-98 int add(int a, int b) | Adds. |  | exported
    function greet 100-102 def greet(String who) |  |  | exported
    block plugins 104-106 plugins |  | id | exported
    block dependencies 110-112 dependencies |  | implementation | exported
    block hello 114-118 task hello |  | println | exported
    block copyDocs 120-122 task copyDocs(type: Copy) |  | from | exported
    block zip 124-126 tasks.register('zip', Zip) |  | register from | exported
    block pipeline 128-136 pipeline |  |  | exported
    block pipeline.Build 130-134 stage('Build') |  | stage sh | exported
    values: MAX counter LIMIT name other RED GREEN level
    "#);
}

#[test]
fn constants_and_variables_outside_functions_are_named() {
    let source = r#"
final A = 1
def b = 2
ext.c = 3
version = "1"
class D {
    static final int E = 1
    private String f
    def g = 2
    void run() {
        def hidden = 1
    }
}
enum H { I, J }
tasks.all {
    def hidden = 1
}
"#;
    assert_eq!(constants_of(&GROOVY, source), "A b c version E f g I J");
}

#[test]
fn what_the_grammar_does_not_know_is_replaced() {
    let masked = |text| super::masked(text).unwrap_or_default();
    assert_eq!(masked("def 'ä b'() {\n"), "def ______() {\n");
    assert_eq!(masked("  static trait A {"), "  static class A {");
    assert_eq!(masked("task  a(type: Copy) {"), "task_______________ {");
    assert_eq!(masked("task a{}"), "task__{}");
    assert_eq!(masked("a?.b(c ?: d) <=> e"), "a .b(c || d) ==  e");
    for unknown in ["", "task", "task a", "task a b {", "def ", "def 'x", "def 'x'", "void f() {", "private ", "é"] {
        assert_eq!(super::masked(unknown), None, "{unknown}");
    }
}

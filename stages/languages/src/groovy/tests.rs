//! Tests for the symbols of `sample.groovy`, and for the conversion of Groovy sources to outlines in Java.

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
    function greet 100-102 def greet(String who) |  | println | exported
    block plugins 104-106 plugins |  | id | exported
    block dependencies 110-112 dependencies |  | implementation | exported
    block hello 114-118 task hello |  | println | exported
    block copyDocs 120-122 task copyDocs(type: Copy) |  | from | exported
    block zip 124-126 tasks.register('zip', Zip) |  | from | exported
    block pipeline 128-136 pipeline |  |  | exported
    block pipeline.Build 130-134 stage('Build') |  | sh | exported
    function quoted at file level 140-143 def 'quoted at file level'(Map options = [:]) |  | echo sh | exported
    class Reader 145-174 class Reader |  |  | exported
    method Reader.Reader 150-152 Reader(Map options = [:], String... names) |  |  | 1 branches | exported
    method Reader.getPath 154-154 String getPath() |  |  | exported
    method Reader.reads #count lines 156-167 def "reads #count lines"() |  | findAll collect trim count debug check | 1 branches | exported
    method Reader.listener 169-173 def listener() |  | Listener | exported
    method Reader.listener.heard 171-171 void heard(String what) |  | answer
    enum Level 176-183 enum Level |  |  | exported
    method Level.weight 179-179 int weight() |  | heavy | exported
    method Level.Level 182-182 Level(int value) |  | set | exported
    block deploy 185-187 workflow deploy |  | main | exported
    constants: MAX counter LIMIT name other RED GREEN level first SIZE pattern path LOW HIGH
    calls outside symbols: pair
    "#);
}

#[test]
fn constants_and_variables_outside_functions_are_listed() {
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
fn definitions_and_calls_are_written_at_their_offsets() {
    for (source, expected) in [
        ("def 'ä b'() {\n}", "x   xxxxxx() {\n}"),
        ("  static trait A {}", "  final  class x {}"),
        ("task  a(type: Copy) { }", "x:x:  x:            { }"),
        ("plugins{ id 'a' }", "xxxxxx:{ xx;    }"),
        ("class A { A(Map b = [:]) { c(b) } }", "class x { x              { x;   } }"),
        ("class A { def b = c(1) }", "class x { x   x; {x;  }}"),
        ("enum A { B(1), C\n D d }", "enum x { x( ), x\n;x x;}"),
        ("x = [1, 2].each { a() }", "x:;        xxxx;{ x;  }"),
        ("def f = { a() }", "x:  x:  { x;  }"),
        ("a b, c", "x;    "),
        ("if (a) b() else c()", "0;;    x;       x; "),
        ("for (a in b) c()\na ? b : c", "\"\";          x; \n0;;      "),
        ("x = \"${a(\"}\")}\" / 2 /b()", "x:;                  x; "),
        ("a(1)\n\u{2028}.b { }", "x;  \n    x;{ }"),
        ("@interface A {}", "@interface x {}"),
        ("def\nclass A {}", "   \nclass x {}"),
        ("<\nA> A b() {}", "x\n     x() {}"),
        ("import static a.b.C.*\n", "import        x;     \n"),
        ("", ""),
    ] {
        let outline = super::outline::outline(source).unwrap_or_default();
        assert_eq!(outline, expected, "{source}");
    }
}

proptest::proptest! {
    #[test]
    fn an_outline_has_the_length_and_line_feeds_of_its_source(
        tokens in proptest::collection::vec(0..TOKENS.len(), 0..60),
    ) {
        let source: String = tokens.iter().map(|token| TOKENS[*token]).collect();
        let outline = super::outline::outline(&source).unwrap_or_default();
        proptest::prop_assert_eq!(outline.len(), source.len());
        let feeds = |text: &str| text.match_indices('\n').map(|(at, _)| at).collect::<Vec<_>>();
        proptest::prop_assert_eq!(feeds(&outline), feeds(&source));
    }
}

/// Tokens of Groovy, including brackets and quotes that may stay unclosed.
const TOKENS: &[&str] = &[
    " ",
    "\n",
    ";",
    ",",
    ".",
    "?.",
    "?",
    ":",
    "=",
    "&&",
    "||",
    "?:",
    "->",
    "/",
    "$/",
    "/$",
    "'",
    "\"",
    "\"\"\"",
    "'''",
    "${",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    "@",
    "\\",
    "//",
    "/*",
    "*/",
    "é",
    "\u{2028}",
    "a",
    "B",
    "def ",
    "new ",
    "class ",
    "enum ",
    "record ",
    "@interface ",
    "interface ",
    "var",
    "extends ",
    "if",
    "for",
    "while",
    "case ",
    "default",
    "import ",
    "task ",
    "static ",
    "throws ",
    "1",
    "1_0.5d",
    "...",
    "case 1:",
    "for(",
    "for(;;)",
    "as ",
    "in ",
];

#[test]
fn long_texts_are_outlined_in_linear_time() {
    for token in TOKENS {
        for other in ["", "{", "\"${"] {
            let source = [*token, other].concat().repeat(4_000);
            assert!(super::outline::outline(&source).is_some_and(|outline| outline.len() == source.len()));
        }
    }
}

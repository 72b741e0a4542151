//! Tests for the outline of `sample.kt`.

use super::KOTLIN;
use crate::snapshot::{constants_of, outline};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&KOTLIN, include_str!("sample.kt")), @r#"
    import java.util.UUID UUID
    import kotlin.math *
    import com.example.base.Model Base
    function double 13-13 val double |  |  | exported
    function triple 14-14 val triple = fun(x: Int): Int |  |  | exported
    struct User 21-64 data class User<T>(val id: Int, private var name: String = "x", plain: Int) : Base<T>(id), Named by names | A customer.⏎⏎@property id unique | check | is Base Named | exported
    method User.roles 23-23 val roles: List<String> by lazy |  | lazy load | exported
    method User.size 27-28 val size: Int | Its length. |  | exported
    method User.label 29-31 var label: String = "" |  | ifEmpty | exported
    method User.constructor 36-36 internal constructor(name: String) : this(0, name, 1) | From a name. | register | exported
    class User.Companion 38-41 companion object |  |  | exported
    method User.Companion.create 40-40 fun create(): User<Int> |  | User | exported
    class User.Address 43-45 inner class Address |  |  | exported
    method User.Address.print 44-44 fun print() |  | println | exported
    method User.plus 47-52 override operator fun plus(other: User<T>): User<T> |  | add busy step more Missing | 4 branches | 3 loops | exported
    method User.load 54-57 protected open suspend fun load(): List<String> |  | fetch emptyList listOf map | 3 branches | exported
    method User.secret 59-63 private fun secret() |  | handler
    function User.secret.local 60-60 fun local() |  | run
    function User.secret.handler 61-61 val handler |  | local
    enum Color 66-71 enum class Color(val rgb: Int) : Named |  |  | is Named | exported
    method Color.tone 67-67 override fun tone() |  |  | exported
    method Color.tone 70-70 open fun tone() |  |  | exported
    interface Shape 73-76 sealed interface Shape |  |  | exported
    method Shape.scale 75-75 fun scale(by: Int): Shape |  |  | exported
    interface Callback 78-78 fun interface Callback |  |  | exported
    method Callback.call 78-78 fun call(x: Int) |  |  | exported
    interface Marker 80-80 annotation class Marker(val text: String) |  |  | exported
    struct Id 82-83 value class Id(val raw: Int) |  |  | exported
    class Registry 85-87 object Registry : Closeable |  |  | is Closeable | exported
    method Registry.close 86-86 override fun close() |  |  | exported
    class Node 89-93 class Node |  |  | exported
    class Node.Factory 90-92 companion object Factory |  |  | exported
    method Node.Factory.make 91-91 fun make() |  | Node | exported
    class Empty 95-95 class Empty |  |  | exported
    type Handler 97-97 typealias Handler<T> = (T) -> Unit |  |  | exported
    method String.orBlank 100-100 fun String?.orBlank() | Never null. |  | of String | 1 branches | exported
    method List.second 101-101 fun <T> List<T>.second(): T where T : Any |  |  | of List | exported
    method Map.Entry.pair 102-102 fun Map.Entry<String, Int>.pair() |  |  | of Map.Entry | exported
    method String.last 103-103 val String.last: Char |  |  | of String | exported
    method List.rest 104-105 val <T> List<T>.rest: List<T> |  | drop | of List | exported
    class listener 106-108 val listener = object : Listener() |  |  | is Listener | exported
    method listener.changed 107-107 override fun changed() |  | redraw | exported
    function adds two numbers 110-110 fun `adds two numbers`() |  |  | exported
    constants: MAX first second counter id name late PREFIX rgb RED GREEN area text raw
    "#);
}

#[test]
fn constants_and_variables_outside_functions_are_listed() {
    let source = r#"
const val A = 1
var b = 2
val (c, d) = pair
val lambda = { val hidden = 1 }
class E(val f: Int, var g: Int, plain: Int) {
    val h = 1
    val accessor: Int get() = 1
    init { val hidden = 1 }
    fun run() { val hidden = 1 }
    companion object {
        const val I = 1
    }
}
enum class J {
    K,
    L(1) {
        val m = 1
    }
}
"#;
    assert_eq!(constants_of(&KOTLIN, source), "A b c d f g h I K L m");
}

#[test]
fn receivers_are_owners_even_where_the_grammar_misreads_them() {
    // The grammar expects a line feed after `Node()`, and later reads `List<T>.second` as a type.
    let source = r#"class Node {
    companion object Factory { fun make() = Node() }
}

/** Never null. */
fun String?.orBlank() = this ?: ""
fun <T> List<T>.second(): T where T : Any = this[1]
fun Map.Entry<String, Int>.pair() = key to value
val String.last: Char get() = this[length - 1]
val <T> List<T>.rest: List<T>
    get() = drop(1)
val listener = object : Listener() {
    override fun changed() = redraw()
}
"#;
    let outline = outline(&KOTLIN, source);
    let names: Vec<_> =
        outline.lines().filter(|line| line.contains(" of ")).filter_map(|line| line.split(' ').nth(1)).collect();
    assert_eq!(names, ["String.orBlank", "List.second", "Map.Entry.pair", "String.last", "List.rest"]);
}

#[test]
fn unsupported_syntax_is_masked() {
    let source = r##"
@Target(AnnotationTarget.FIELD)
@Retention(AnnotationRetention.RUNTIME)
annotation class StartStop

@Substituted
internal class Platform

context(session: Session)
fun resolve(call: Call): Symbol? = session.resolve(call)

class Reader {
  fun read() {
    val in1 = open()
    in1.close()
    assertThat(text).isEqualTo($$"C$private fun memberFun: Int")
  }
}
"##;
    insta::assert_snapshot!(outline(&KOTLIN, source), @"
    interface StartStop 4-4 annotation class StartStop |  |  | exported
    class Platform 7-7 internal class Platform |  |  | exported
    function resolve 10-10 fun resolve(call: Call): Symbol? |  | resolve | exported
    class Reader 12-18 class Reader |  |  | exported
    method Reader.read 13-17 fun read() |  | open close assertThat isEqualTo | exported
    ");
}

/// The scanner of the grammar waits forever for white space after the annotation.
#[test]
fn an_annotation_at_the_end_of_the_text_is_not_parsed() {
    let failure = |text: &str| crate::Parser::new().parse(Some(&KOTLIN), text).failure;
    assert_eq!(failure("val a: B\n@Throws(C"), Some(crate::ParseFailure::TooComplex));
    assert_eq!(failure("val a: B\n@Throws(C\n"), None);
}

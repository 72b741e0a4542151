//! Tests for the outline of `sample.scala`.

use super::SCALA;
use crate::snapshot::{constants_of, outline};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&SCALA, include_str!("sample.scala")), @r"
    import java.util.UUID UUID
    import scala.collection.mutable.Map Map
    import scala.collection.mutable.Set MutableSet
    import scala.collection.mutable *
    import cats.data.Chain Chained
    import cats.data *
    import io.Source Source
    import io.Codec Codec
    import math maths
    class User 14-42 sealed abstract class User[T <: Any](val id: Int, name: String)(implicit clock: Clock) extends Base[T](id) with Named with model.Stored[T] | A customer.⏎⏎@param id unique | split | is Base Named Stored | exported
    type User.Elem 23-23 type Elem = T |  |  | exported
    type User.Key 24-24 type Key <: AnyRef |  |  | exported
    method User.this 26-26 def this(id: Int) |  | this | exported
    method User.+ 29-34 def +(other: User[T]): User[T] | Adds. | add busy step advance Joined | 3 branches | 3 loops | exported
    method User.load 36-36 protected def load(): Seq[T] |  |  | exported
    method User.secret 37-40 private[shop] def secret(x: Int): Int |  | run fail max | 3 branches
    method User.typed 41-41 def typed: Base[T] { type Hidden = Int } |  |  | exported
    struct Point 44-44 case class Point(x: Int, y: Int) |  |  | exported
    class User 46-50 object User |  |  | exported
    method User.apply 48-48 def apply(id: Int) |  | User | exported
    class User.Ops 49-49 implicit class Ops(val user: User[_]) extends AnyVal |  |  | is AnyVal | exported
    method User.Ops.show 49-49 def show |  | trim | exported
    class Nobody 52-52 case object Nobody extends Named |  |  | is Named | exported
    interface Shape 54-57 trait Shape[T] extends Named |  |  | is Named | exported
    method Shape.area 56-56 def area: Double |  |  | exported
    class utils 59-61 package object utils |  |  | exported
    method utils.helper 60-60 def helper |  |  | exported
    enum Color 63-69 enum Color(val rgb: Int) extends Named |  |  | is Named | exported
    method Color.tone 68-68 def tone |  |  | exported
    class ordering 71-72 given ordering: Ordering[Int] with |  |  | is Ordering | exported
    method ordering.compare 72-72 def compare(a: Int, b: Int): Int |  |  | exported
    implementation given Show[Point] with 74-75 given Show[Point] with |  |  | is Show | exported
    method Show.show 75-75 def show(point: Point) |  |  | of Show | exported
    function fallback 77-77 given fallback: Show[Int] |  | create | exported
    implementation extension (text: String) 79-82 extension (text: String) |  |  | exported
    method String.shout 81-81 def shout: String | Loud. |  | of String | exported
    method String.twice 82-82 def twice |  |  | of String | exported
    implementation extension [T](list: List[T]) 84-84 extension [T](list: List[T]) |  |  | exported
    method List.second 84-84 def second: T |  | list | of List | exported
    type Id 86-86 opaque type Id = Int |  |  | exported
    class Indented 88-98 class Indented(n: Int) extends Shape[Int] |  |  | is Shape | exported
    method Indented.one 90-92 def one(x: Int): Int | One. |  | exported
    method Indented.two 95-97 inline def two(using Clock): Int | Two. |  | exported
    function Indented.two.inner 96-96 def inner |  |
    function square 100-100 val square = (x: Int) |  |  | exported
    function partial 101-101 val partial: PartialFunction[Int, Int] |  |  | 1 branches | exported
    class runner 102-102 val runner = new Runnable |  | Runnable | exported
    method runner.run 102-102 def run() |  | go | exported
    function start 105-106 def start(args: String*): Unit | Starts. | println | exported
    constants: id size first last left right state Max user sides rgb Red Green Blue Mixed
    ");
}

#[test]
fn constants_and_variables_outside_functions_are_listed() {
    let source = r#"
val A = 1
var b, c = 2
val (d, e) = pair
class F(val g: Int, plain: Int) {
  lazy val h = 1
  var i: Int
  def run() = { val hidden = 1 }
  def block =
    val hidden = 1
    hidden
}
enum J { case K, L; case M(n: Int) }
val f = (x: Int) => { val hidden = 1 }
"#;
    assert_eq!(constants_of(&SCALA, source), "A b c d e g h i K L M");
}

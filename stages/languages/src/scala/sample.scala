package com.example
package shop

import java.util.UUID
import scala.collection.mutable.{Map, Set => MutableSet, _}
import cats.data.{Chain as Chained, *}
import io.Source, io.Codec
import math as maths

/** A customer.
  *
  * @param id unique
  */
@SerialVersionUID(1L)
sealed abstract class User[T <: Any](val id: Int, name: String)(implicit clock: Clock)
    extends Base[T](id)
    with Named
    with model.Stored[T] {
  val size: Int = 1
  private var first, last = 2
  val (left, right) = split(name)
  var state: State
  type Elem = T
  type Key <: AnyRef

  def this(id: Int) = this(id, "x")

  // Adds.
  def +(other: User[T]): User[T] = {
    for (item <- other.items) add(item)
    while (busy()) step()
    do { advance() } while (more)
    if (a && b || c) new Joined(this, other) else new model.Pair[T](this)
  }

  protected def load(): Seq[T]
  private[shop] def secret(x: Int): Int = x match {
    case 1 => try run[Int](x) catch { case e: Failure => fail(e) }
    case _ => x max 2
  }
  def typed: Base[T] { type Hidden = Int } = this
}

case class Point(x: Int, y: Int)

object User {
  val Max = 3
  def apply(id: Int) = new User(id)
  implicit class Ops(val user: User[_]) extends AnyVal { def show = user.name.trim() }
}

case object Nobody extends Named

trait Shape[T] extends Named {
  val sides: Int
  def area: Double
}

package object utils {
  def helper = 1
}

enum Color(val rgb: Int) extends Named {
  case Red extends Color(1)
  case Green, Blue
  case Mixed(a: Int) extends Color(a)

  def tone = rgb
}

given ordering: Ordering[Int] with
  def compare(a: Int, b: Int): Int = a - b

given Show[Point] with
  def show(point: Point) = "point"

given fallback: Show[Int] = create()

extension (text: String)
  /** Loud. */
  def shout: String = text.toUpperCase
  def twice = text + text

extension [T](list: List[T]) def second: T = list(1)

opaque type Id = Int

class Indented(n: Int) extends Shape[Int]:
  /** One. */
  def one(x: Int): Int =
    val local = n
    local + x

  /** Two. */
  inline def two(using Clock): Int =
    def inner = 3
    inner
end Indented

val square = (x: Int) => x * x
val partial: PartialFunction[Int, Int] = { case 1 => 2 }
val runner = new Runnable { def run() = go() }

/** Starts. */
@main def start(args: String*): Unit =
  println(args)

@file:JvmName("Shop")

package com.example.shop

import java.util.UUID
import kotlin.math.*
import com.example.base.Model as Base

/** The highest number of lines. */
const val MAX = 10
private val (first, second) = 1 to 2
var counter = 0
val double = { x: Int -> x * 2 }
val triple = fun(x: Int): Int { return x * 3 }

/**
 * A customer.
 *
 * @property id unique
 */
@Serializable
data class User<T>(val id: Int, private var name: String = "x", plain: Int) : Base<T>(id), Named by names {
    val roles: List<String> by lazy { load() }
    lateinit var late: String

    /** Its length. */
    val size: Int
        get() = name.length
    var label: String = ""
        get() = field.ifEmpty { name }
        private set(value) { field = value }

    init { check(id > 0) }

    // From a name.
    internal constructor(name: String) : this(0, name, 1) { register(this) }

    companion object {
        const val PREFIX = "u"
        fun create(): User<Int> = User(1)
    }

    inner class Address {
        fun print() = println(size)
    }

    override operator fun plus(other: User<T>): User<T> {
        for (item in other.roles) { add(item) }
        while (busy()) {}
        do { step() } while (more())
        return if (a && b || c) this else other ?: throw Missing()
    }

    protected open suspend fun load(): List<String> = when (id) {
        1 -> try { fetch() } catch (e: Failure) { emptyList() }
        else -> listOf("x").map(String::trim)
    }

    private fun secret() {
        fun local() = run { 1 }
        val handler = { local() }
        handler()
    }
}

enum class Color(val rgb: Int) : Named {
    RED(1) { override fun tone() = 2 },
    GREEN(2);

    open fun tone() = rgb
}

sealed interface Shape {
    val area: Double
    fun scale(by: Int): Shape
}

fun interface Callback { fun call(x: Int) }

annotation class Marker(val text: String)

@JvmInline
value class Id(val raw: Int)

object Registry : Closeable {
    override fun close() {}
}

class Node {
    companion object Factory {
        fun make() = Node()
    }
}

class Empty

typealias Handler<T> = (T) -> Unit

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

@Test fun `adds two numbers`() {}

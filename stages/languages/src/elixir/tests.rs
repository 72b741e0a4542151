//! Tests for the outline of `sample.ex`, and for the clauses of functions.

use super::{ELIXIR, arity};
use crate::snapshot::{constants_of, outline};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&ELIXIR, include_str!("sample.ex")), @r#"
    import GenServer
    import Enum map sum
    import Kernel *
    import Shop.Item Item
    import Shop.Price.Tax Tax
    import Shop.Store Backend
    import Shop.Account Account
    import Logger Logger
    import ExUnit.Case
    module Shop.Cart 1-87 defmodule Shop.Cart | A cart of items.⏎⏎    iex> Shop.Cart.new() |  | is Shop.Container | exported
    type Shop.Cart.t 24-24 @type t :: %__MODULE__{owner: String.t()} | A cart. |  | exported
    type Shop.Cart.entry 25-25 @typep entry(kind) :: {kind, integer()} |  |
    function Shop.Cart.count 28-28 @callback count(t) :: non_neg_integer | Counts. |  | exported
    function Shop.Cart.is_small 30-30 defguard is_small(cart) when length(cart.items) < 3 |  | length | exported
    function Shop.Cart.add 37-51 def add(cart, item) | Adds an item.⏎⏎Returns the cart. | length valid? available? recount notify warning add | 3 branches | exported
    function Shop.Cart.add 53-53 def add(cart, item, count) |  | reduce add | exported
    function Shop.Cart.init 55-57 def init(state) |  |  | exported
    function Shop.Cart.empty 59-59 def empty |  |  | exported
    function Shop.Cart.<> 61-61 def left <> right when is_list(left) |  | is_list merge | exported
    function Shop.Cart.recount 63-74 defp recount(cart) |  | try_charge | 4 branches | 1 loops
    function Shop.Cart.tax 76-80 defmacro tax(amount, do: block) |  |  | exported
    function Shop.Cart.size 82-82 defdelegate size(cart) |  |  | exported
    module Shop.Cart.Empty 84-86 defmodule Empty |  |  | exported
    interface Shop.Priced 89-92 defprotocol Shop.Priced |  |  | exported
    method Shop.Priced.price 91-91 def price(item) | The price. |  | exported
    implementation defimpl Shop.Priced, for: Shop.Item 94-96 defimpl Shop.Priced, for: Shop.Item |  |  | of Shop.Priced | is Shop.Priced | exported
    method Shop.Priced.Shop.Item.price 95-95 def price(item) |  |  | of Shop.Priced.Shop.Item | exported
    implementation defimpl Shop.Priced 98-100 defimpl Shop.Priced |  |  | is Shop.Priced | exported
    method Shop.Priced.price 99-99 def price(_) |  |  | of Shop.Priced | exported
    module Shop.CartTest 102-110 defmodule Shop.CartTest |  |  | exported
    function Shop.CartTest.add/2.adds an item 106-108 test "adds an item", %{cart: cart} |  | assert add build | exported
    constants: max_items rates owner items total message
    "#);
}

#[test]
fn attributes_and_fields_are_listed() {
    let source = r#"
defmodule A do
  @moduledoc false
  @limit 3
  @names ~w(a b)
  @spec f(integer) :: integer
  def f(x) do
    @limit
    @inside 1
  end
  defstruct name: nil, size: 0
  defmodule E do
    defexception [:message, code: 1]
  end
end
"#;
    assert_eq!(constants_of(&ELIXIR, source), "limit names name size message code");
}

#[test]
fn clauses_are_merged_if_they_are_consecutive_and_have_the_same_arity() {
    let source = r#"
defmodule A do
  # The first.
  def f(0), do: one()
  def f(x) when x > 0, do: two(one())
  def f(x, y), do: x + y
  def g(), do: 1
  def f(:last), do: 2
end
"#;
    insta::assert_snapshot!(outline(&ELIXIR, source), @r"
    module A 2-9 defmodule A |  |  | exported
    function A.f 4-5 def f(0) | The first. | one two | exported
    function A.f 6-6 def f(x, y) |  |  | exported
    function A.g 7-7 def g() |  |  | exported
    function A.f 8-8 def f(:last) |  |  | exported
    ");
}

#[test]
fn arity_counts_parameters() {
    for (signature, expected) in [
        ("def f", 0),
        ("def f()", 0),
        ("def f(x) when g(x, 1)", 1),
        ("def f({a, b}, [c, d], %{e: 1, f: 2})", 3),
        ("def f(<<a, b>>, \"x, )\", c \\\\ g(1, 2))", 3),
    ] {
        assert_eq!(arity(signature), expected, "{signature}");
    }
}

#[test]
fn attributes_inside_a_definition_do_not_belong_to_the_next_one() {
    insta::assert_snapshot!(outline(&ELIXIR, "def a,\n@impl b\ndef c"), @"
    function a 1-2 def a |  |  | exported
    function c 3-3 def c |  |  | exported
    ");
    insta::assert_snapshot!(outline(&ELIXIR, "@spec(def i())\ndef _"), @"function _ 1-2 def _ |  |  | exported");
}

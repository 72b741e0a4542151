defmodule Shop.Cart do
  @moduledoc """
  A cart of items.

      iex> Shop.Cart.new()
  """

  use GenServer
  import Enum, only: [map: 2, sum: 1]
  import Kernel
  alias Shop.{Item, Price.Tax}
  alias Shop.Store, as: Backend
  alias Shop.Account
  require Logger

  @behaviour Shop.Container
  @max_items 100
  @rates [low: 7, high: 19]

  @derive [Inspect]
  defstruct [:owner, items: [], total: 0]

  @typedoc "A cart."
  @type t :: %__MODULE__{owner: String.t()}
  @typep entry(kind) :: {kind, integer()}

  @doc "Counts."
  @callback count(t) :: non_neg_integer

  defguard is_small(cart) when length(cart.items) < 3

  @doc """
  Adds an item.

  Returns the cart.
  """
  @spec add(t, Item.t()) :: t
  def add(cart, item)

  def add(%{items: items} = cart, %Item{} = item) when length(items) < @max_items do
    if valid?(item) and Item.available?(item) do
      %{cart | items: [item | items]} |> recount() |> notify
    else
      unless cart.owner, do: Logger.warning("no owner")
      raise ArgumentError
    end
  end

  # Lists of items are added one by one.
  def add(cart, []), do: cart
  def add(cart, [item | rest]), do: cart |> add(item) |> add(rest)

  def add(cart, item, count), do: Enum.reduce(1..count, cart, fn _, acc -> add(acc, item) end)

  @impl true
  @doc false
  def init(state), do: {:ok, state}

  def empty, do: %__MODULE__{}

  def left <> right when is_list(left), do: merge(left, right)

  defp recount(cart) do
    for item <- cart.items, reduce: 0 do
      acc -> acc + item.price
    end

    case cart.total do
      0 -> cart
      _ -> try_charge(cart)
    end
  rescue
    error in RuntimeError -> error
  end

  defmacro tax(amount, do: block) do
    quote do
      unquote(block) * unquote(amount)
    end
  end

  defdelegate size(cart), to: Backend, as: :count

  defmodule Empty do
    defexception message: "empty"
  end
end

defprotocol Shop.Priced do
  @doc "The price."
  def price(item)
end

defimpl Shop.Priced, for: Shop.Item do
  def price(item), do: item.price
end

defimpl Shop.Priced do
  def price(_), do: 0
end

defmodule Shop.CartTest do
  use ExUnit.Case

  describe "add/2" do
    test "adds an item", %{cart: cart} do
      assert Cart.add(cart, build(:item))
    end
  end
end

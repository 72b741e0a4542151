//! Relations in languages without declared types.

use aurora_query::{Relation, RelationIndex};

use crate::{check, indexed, name, relations};

const PYTHON: &[(&str, &str)] = &[
    ("shop/__init__.py", "from .store import Store as Shop\n"),
    (
        "shop/store.py",
        "from shop import money\n\n\nclass Base:\n    def close(self):\n        pass\n\n    def open(self):\n        pass\n\n\n\
         class Store(Base):\n    def __init__(self, till: money.Till):\n        self.till = till\n\n    def sell(self, price):\n\
        \x20       self.till.add(price)\n        money.rounded(price)\n        self.close()\n        len(price)\n\n    def close(self):\n        super().close()\n",
    ),
    (
        "shop/money.py",
        "class Till:\n    def add(self, amount):\n        return rounded(amount)\n\n\ndef rounded(amount) -> int:\n    return amount\n",
    ),
    (
        "tests/test_store.py",
        "from shop import Shop\nfrom shop.money import Till as Drawer\n\n\ndef test_sell():\n    shop = Shop(Drawer())\n    shop.sell(1)\n    shop.open()\n",
    ),
];

#[test]
fn python_resolves_imports_receivers_and_base_types() {
    check(
        PYTHON,
        Relation::Callees,
        &[
            "store.py:Store.sell -> money.py:rounded import",
            "store.py:Store.sell -> money.py:Till.add receiver",
            "store.py:Store.sell -> store.py:Store.close scope",
            "store.py:Store.close -> store.py:Base.close receiver",
            "money.py:Till.add -> money.py:rounded scope",
            "test_store.py:test_sell -> money.py:Till import",
            "test_store.py:test_sell -> store.py:Store.__init__ import",
            "test_store.py:test_sell -> store.py:Store.sell receiver",
            "test_store.py:test_sell -> store.py:Base.open inherited",
        ],
    );
    check(
        PYTHON,
        Relation::Implementers,
        &["store.py:Base -> store.py:Store scope", "store.py:Base.close -> store.py:Store.close scope"],
    );
}

#[test]
fn python_resolves_packages_generic_bases_and_cls() {
    check(
        &[
            ("a/__init__.py", ""),
            (
                "a/b.py",
                "def f():\n    pass\n\n\nclass K:\n    @classmethod\n    def make(cls):\n        return cls()\n\n    def run(self):\n        pass\n",
            ),
            (
                "main.py",
                "import a.b\n\n\nclass G(a.b.K[int]):\n    def run(self):\n        super(G, self).run()\n\n\ndef one():\n    a.b.f()\n",
            ),
        ],
        Relation::Callees,
        &["b.py:K.make -> b.py:K scope", "main.py:G.run -> b.py:K.run receiver", "main.py:one -> b.py:f import"],
    );
}

#[test]
fn lua_follows_modules_and_their_tables() {
    check(
        &[
            (
                "a/b.lua",
                "local M = {}\n\nlocal function hidden()\nend\n\nfunction M.f()\n  hidden()\nend\n\nfunction M:method()\n  self:other()\nend\n\nfunction M:other()\n  M.f()\nend\n\nM.alias = hidden\n\nreturn M\n",
            ),
            ("a/c.lua", "local C = {}\nfunction C.f()\nend\nfunction C.new()\nend\nfunction C:step()\nend\nreturn C\n"),
            (
                "main.lua",
                "local m = require(\"a.b\")\nlocal C = require 'a.c'\nlocal g = require(\"a.b\").f\n\nlocal function one()\n  m.f()\n  m:method()\n  m.alias()\n  g()\nend\n\nlocal function two()\n  local o = C.new()\n  o:step()\n  C.f()\nend\n",
            ),
        ],
        Relation::Callees,
        &[
            "b.lua:M.f -> b.lua:hidden scope",
            "b.lua:M.method -> b.lua:M.other scope",
            "b.lua:M.other -> b.lua:M.f scope",
            "main.lua:one -> b.lua:M.f import",
            "main.lua:one -> b.lua:M.method import",
            "main.lua:one -> b.lua:hidden import",
            "main.lua:two -> c.lua:C.f import",
            "main.lua:two -> c.lua:C.new import",
            "main.lua:two -> c.lua:C.step import",
        ],
    );
}

const RUBY: &[(&str, &str)] = &[
    (
        "lib/a.rb",
        "module Mixin\n  def mixed\n  end\nend\n\nclass Base\n  include Mixin\n\n  def step\n  end\nend\n\nclass A < Base\n  def initialize(b)\n    @b = Mod::Klass.new\n  end\n\n  def run(step2)\n    mixed\n    self.step if ready?\n    step2\n    @b.work\n  end\n\n  def ready?\n  end\n\n  def step2\n  end\n\n  def step\n    super\n  end\n\n  def self.create\n    new(1)\n  end\nend\n",
    ),
    (
        "lib/mod.rb",
        "module Mod\n  class Klass\n    def work\n      a = A.new(1)\n      a.step\n      A.create\n      Mod.util\n    end\n  end\n\n  def self.util\n  end\nend\n",
    ),
];

#[test]
fn ruby_resolves_calls_without_parentheses_and_mixins() {
    check(
        RUBY,
        Relation::Callees,
        &[
            "a.rb:A.initialize -> mod.rb:Mod::Klass receiver",
            "a.rb:A.run -> a.rb:A.ready? scope",
            "a.rb:A.run -> a.rb:A.step scope",
            "a.rb:A.run -> mod.rb:Mod::Klass.work receiver",
            "a.rb:A.run -> a.rb:Mixin.mixed inherited",
            "a.rb:A.step -> a.rb:Base.step inherited",
            "a.rb:A.create -> a.rb:A.initialize scope",
            "mod.rb:Mod::Klass.work -> a.rb:A.create receiver",
            "mod.rb:Mod::Klass.work -> a.rb:A.step receiver",
            "mod.rb:Mod::Klass.work -> mod.rb:Mod.util receiver",
            "mod.rb:Mod::Klass.work -> a.rb:A.initialize global",
        ],
    );
    let found = relations(RUBY, Relation::Implementers);
    assert!(found.contains(&"a.rb:Mixin -> a.rb:Base scope".to_owned()), "{found:?}");
}

#[test]
fn elixir_counts_piped_arguments_and_follows_aliases() {
    check(
        &[
            (
                "lib/b.ex",
                "defmodule A.B do\n  def f(x), do: x\n\n  def f(x, y) do\n    x + y\n  end\n\n  def g(x), do: x\nend\n",
            ),
            ("lib/e.ex", "defmodule A.E do\n  def imported(x) do\n    x\n  end\n\n  def g(x), do: x\nend\n"),
            (
                "lib/c.ex",
                "defmodule A.C do\n  alias A.{B, E}\n  import A.E\n\n  def run(x) do\n    x |> B.f(2)\n    Enum.map(x, &B.g/1)\n    imported(x)\n    __MODULE__.go(x)\n  end\n\n  def go(x) do\n    x |> E.g\n  end\nend\n",
            ),
        ],
        Relation::Callees,
        &[
            "c.ex:A.C.run -> e.ex:A.E.imported import",
            "c.ex:A.C.run -> b.ex:A.B.f receiver",
            "c.ex:A.C.run -> b.ex:A.B.g receiver",
            "c.ex:A.C.run -> c.ex:A.C.go receiver",
            "c.ex:A.C.go -> e.ex:A.E.g receiver",
        ],
    );
}

#[test]
fn perl_and_r_follow_packages_and_objects() {
    check(
        &[
            (
                "lib/A/B.pm",
                "package A::B;\n\nsub new {\n  my ($class) = @_;\n  return bless {}, $class;\n}\n\nsub step {\n  my $self = shift;\n  $self->inner;\n}\n\nsub inner { return 1 }\n1;\n",
            ),
            (
                "lib/A/C.pm",
                "package A::C;\nuse parent 'A::B';\n\nsub step {\n  my $self = shift;\n  $self->SUPER::step();\n  my $b = A::B->new;\n  $b->inner;\n}\n1;\n",
            ),
        ],
        Relation::Callees,
        &[
            "B.pm:A::B::step -> B.pm:A::B::inner scope",
            "C.pm:A::C::step -> B.pm:A::B::inner receiver",
            "C.pm:A::C::step -> B.pm:A::B::new receiver",
            "C.pm:A::C::step -> B.pm:A::B::step receiver",
        ],
    );
    check(
        &[(
            "a.R",
            "my.f <- function(x) x\n\nStack <- R6::R6Class('Stack', public = list(\n  push = function(x) {\n    self$size()\n    my.f(x)\n  },\n  size = function() 1\n))\n\nrun <- function() {\n  s <- Stack$new()\n  s$push(1)\n}\n",
        )],
        Relation::Callees,
        &[
            "a.R:Stack.push -> a.R:Stack.size scope",
            "a.R:Stack.push -> a.R:my.f scope",
            "a.R:run -> a.R:Stack scope",
            "a.R:run -> a.R:Stack.push receiver",
        ],
    );
}

#[test]
fn python_stubs_are_not_definitions() {
    let files = [
        ("m/util.py", "def top(a):\n    return a\n"),
        ("m/util.pyi", "def top(a: int) -> int: ...\n"),
        ("m/use.py", "from m.util import top\n\n\ndef run():\n    return top(1)\n"),
    ];
    let (_fixture, snapshot) = indexed(&files);
    let index = RelationIndex::new(&snapshot);
    let [named] = &index.find("top").expect("the index can be read")[..] else { panic!("expected one definition") };
    assert_eq!(name(&snapshot, named.id), "util.py:top");
    let callers = index.related(named.id, Relation::Callers).expect("the index can be read").list;
    assert_eq!(callers.into_iter().map(|other| name(&snapshot, other.id)).collect::<Vec<_>>(), ["use.py:run"]);
}

#[test]
fn ruby_assigns_attributes_in_any_method() {
    check(
        &[
            (
                "lib/a.rb",
                "class A\n  attr_accessor :size\n\n  def name=(value)\n    @name = value\n  end\n\n  def go\n  end\nend\n\nTool = A.new\n",
            ),
            (
                "test/b.rb",
                "class B\n  def initialize\n    @a = nil\n  end\n\n  def setup\n    @a = A.new [1]\n  end\n\n  def run\n    @a.go\n    @a.name = 1\n    @a.size = 1\n  end\nend\n",
            ),
            ("lib/c.rb", "create do\n  def go\n  end\nend\n\nclass C\n  def run(&go)\n    go\n  end\nend\n"),
        ],
        Relation::Callees,
        &[
            "a.rb -> a.rb:A scope",
            "b.rb:B.setup -> a.rb:A global",
            "b.rb:B.run -> a.rb:A receiver",
            "b.rb:B.run -> a.rb:A.go receiver",
            "b.rb:B.run -> a.rb:A.name= receiver",
        ],
    );
}

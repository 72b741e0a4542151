//! Tests for the outline of `sample.rb`.

use super::RUBY;
use crate::snapshot::{constants_of, outline};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&RUBY, include_str!("sample.rb")), @r#"
    import set
    import shop/version
    import shop/parser Parser
    module Shop 11-98 module Shop | Everything about orders. |  | exported
    class Shop::Unpaid 14-14 Unpaid = Class.new(StandardError) | Raised for orders that are not paid. | Class new | is StandardError | exported
    struct Shop::Point 15-18 Point = Struct.new(:x, :y) |  | Struct new | exported
    method Shop::Point.length 17-17 def length | Length from the origin. | sqrt x y | exported
    struct Shop::Pair 19-19 Pair = Data.define(:first, :second) |  | define | exported
    module Shop::Mixin 20-20 Mixin = Module.new |  | Module new | exported
    method Shop::Mixin.mixed 20-20 def mixed |  |  | exported
    function Shop::Square 21-21 Square = ->(x) |  |  | exported
    function Shop::Twice 22-22 Twice = proc |  | proc | exported
    class Shop::Error 24-24 class Error < StandardError |  |  | is StandardError | exported
    module Shop::Empty 25-25 module Empty |  |  | exported
    class Shop::Order 30-97 class Order < Models::Base | A single order.⏎⏎@see Shop::Cart | include extend attr_reader | is Base Comparable Concern | exported
    method Shop::Order.open 36-36 scope :open, -> |  | scope where | exported
    method Shop::Order.find 40-42 def find(id) | Finds one. | records fetch raise Unpaid new | exported
    method Shop::Order.records 46-46 def records |  | Store new
    method Shop::Order.create 49-55 def self.create(name, *rest, size: 1, **options, &block) |  | nil? empty? new fatal? | 4 branches | exported
    method Shop::Order.<=> 57-59 def <=>(other) |  | total | exported
    method Shop::Order.[]= 61-61 def []=(key, value) |  |  | exported
    method Shop::Order.name= 63-65 def name=(value) |  |  | exported
    method Shop::Order.each 67-73 def each |  | done? advance ready kind valid? | 2 branches | 2 loops | exported
    method Shop::Order.size 75-75 alias size total |  |  | exported
    method Shop::Order.count 76-76 alias_method :count, :total |  | alias_method | exported
    method Shop::Order.reset 77-79 define_method(:reset) do |to = 0| |  | define_method | exported
    method Shop::Order.clear 80-80 define_singleton_method "clear", &:reset |  | define_singleton_method | exported
    method Shop::Order.digest 81-81 memoize def digest |  | memoize compute | exported
    method Shop::Order.secret 86-87 def secret | Not for others. |
    method Shop::Order.shared 89-89 def self.shared |  |  | exported
    method Shop::Order.visible 93-93 def visible |  |  | exported
    method Shop::Order.compare 95-95 protected def compare(other) |  | protected
    method Shop::Order.build 96-96 private_class_method def self.build |  | private_class_method
    class Shop::Cart 100-102 class Shop::Cart |  |  | of Shop | exported
    method Shop::Cart.add 101-101 def add(item) |  | items | exported
    module Shop::Helpers 104-105 module Shop::Helpers |  |  | of Shop | exported
    function hello 108-110 def hello(name) | Says hello. | puts | 1 branches | exported
    method Shop.rate 112-112 def Shop.rate |  |  | of Shop | exported
    function format 114-114 format = lambda |  | lambda to_s | exported
    function parse 115-115 parse = ->(text) |  | strip | exported
    block db 117-125 namespace :db |  | namespace desc | exported
    block db::migrate 119-121 task :migrate, [:version] => :environment |  | task migrate | exported
    block db::seed 122-124 task "seed" |  | task seed | exported
    block Shop::Order 127-135 RSpec.describe Shop::Order |  | describe | exported
    block Shop::Order::when paid 128-134 context "when paid" |  | context let build | exported
    block Shop::Order::when paid::is closed 131-133 it "is closed" |  | it expect order to be_closed | exported
    constants: DEFAULT_RATE MINIMUM $registry VERSION total lines @@count LIMIT
    calls outside symbols: require require_relative autoload
    "#);
}

#[test]
fn constants_and_variables_outside_functions_are_listed() {
    let source = r#"
A, B = 1, 2
Outer::C = 3
limit = 10
$verbose ||= true
class Stack
  SIZE = 8
  @@all = []
  attr_accessor :top, "rest"
  cattr_reader :shared
  validates :top, presence: true
  def push(x)
    size = 1
    @@all = []
  end
  BUILD = lambda { |x| inner = x }
end
"#;
    assert_eq!(constants_of(&RUBY, source), "A B C limit SIZE @@all top rest shared");
}

#[test]
fn a_private_section_ends_with_its_class_and_leaves_singleton_methods_public() {
    let source = "
class A
  private
  def a; end
  def self.b; end
  class B
    def c; end
  end
  def d; end
  public
  def e; end
end
def f; end
";
    let outline = outline(&RUBY, source);
    let exported: Vec<_> = outline.lines().filter(|line| line.ends_with("exported")).collect();
    let names: Vec<_> = exported.iter().filter_map(|line| line.split(' ').nth(1)).collect();
    assert_eq!(names, ["A", "A.b", "A::B", "A::B.c", "A.e", "f"]);
}

/// For each here-document, the scanner writes 4 bytes in addition to the word, but it only counts 2 bytes when it
/// checks for the end of its buffer.
#[test]
fn heredocs_that_overflow_the_scanner_state_are_not_parsed() {
    let failure = |last: usize| {
        let words = [("a", 255), ("b", 255), ("c", 255), ("d", last)].map(|(letter, length)| letter.repeat(length));
        let openers: Vec<String> = words.iter().map(|word| format!("<<{}", word.to_uppercase())).collect();
        let bodies: String = words.iter().map(|word| format!("text\n{}\n", word.to_uppercase())).collect();
        crate::Parser::new().parse(Some(&RUBY), &format!("f({})\n{bodies}", openers.join(", "))).failure
    };
    assert_eq!(failure(242), Some(crate::ParseFailure::TooComplex));
    assert_eq!((failure(241), failure(243)), (None, None));
}

#[test]
fn a_heredoc_with_a_long_terminator_is_not_parsed() {
    let failure = |text: &str| crate::Parser::new().parse(Some(&RUBY), text).failure;
    let word = "a".repeat(256);
    for text in
        [format!("<<~\"{word}\"\n"), format!("<<{word}\n{word}\n"), format!("x = <<-'{word}"), format!("?'<<'{word}")]
    {
        assert_eq!(failure(&text), Some(crate::ParseFailure::TooComplex));
    }
    for text in
        [format!("<<{}\n", &word[1..]), format!("list << \"{word} {word}\"\n"), format!("# Not `<<` {word} {word}\n")]
    {
        assert_eq!(failure(&text), None);
    }
}

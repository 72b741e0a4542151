# frozen_string_literal: true

require "set"
require_relative "shop/version"
autoload :Parser, "shop/parser"

DEFAULT_RATE, MINIMUM = 0.2, 1
$registry = {}

# Everything about orders.
module Shop
  VERSION = "1.2"
  # Raised for orders that are not paid.
  Unpaid = Class.new(StandardError)
  Point = Struct.new(:x, :y) do
    # Length from the origin.
    def length = Math.sqrt(x**2 + y**2)
  end
  Pair = Data.define(:first, :second)
  Mixin = Module.new { def mixed; end }
  Square = ->(x) { x * x }
  Twice = proc { |x| x + x }

  class Error < StandardError; end
  module Empty; end

  # A single order.
  #
  # @see Shop::Cart
  class Order < Models::Base
    include Comparable
    extend Support::Concern
    attr_reader :total, :lines
    @@count = 0
    LIMIT ||= 10
    scope :open, -> { where(open: true) }

    class << self
      # Finds one.
      def find(id)
        records.fetch(id) { raise Unpaid.new("none") }
      end

      private

      def records = Repository::Store.new
    end

    def self.create(name, *rest, size: 1, **options, &block)
      return if name.nil? && rest.empty?

      new(name)
    rescue ArgumentError => e
      retry unless e.fatal?
    end

    def <=>(other)
      total <=> other.total
    end

    def []=(key, value); end

    def name=(value)
      @name = value
    end

    def each
      until done? do yield advance while ready end
      case kind
      when :a then 1
      else valid? ? 2 : 3
      end
    end

    alias size total
    alias_method :count, :total
    define_method(:reset) do |to = 0|
      @total = to
    end
    define_singleton_method "clear", &:reset
    memoize def digest; compute; end

    private

    # Not for others.
    def secret
    end

    def self.shared; end

    public

    def visible; end

    protected def compare(other); end
    private_class_method def self.build; end
  end
end

class Shop::Cart
  def add(item) = items << item
end

module Shop::Helpers
end

# Says hello.
def hello(name)
  puts "hello #{name}" if name
end

def Shop.rate = DEFAULT_RATE

format = lambda { |x| x.to_s }
parse = ->(text) { text.strip }

namespace :db do
  desc "Migrate"
  task :migrate, [:version] => :environment do |_, args|
    migrate args
  end
  task "seed" do
    seed
  end
end

RSpec.describe Shop::Order do
  context "when paid" do
    let(:order) { build :order }

    it "is closed" do
      expect(order).to be_closed
    end
  end
end

; class Name, class Outer::Name; without a body, the signature ends at `end`
(class name: (constant) @name body: (_) @body) @definition.class
(class name: (constant) @name !body "end" @body) @definition.class
(class name: (scope_resolution scope: (_) @owner name: (constant) @name) body: (_) @body) @definition.class
(class name: (scope_resolution scope: (_) @owner name: (constant) @name) !body "end" @body) @definition.class
(class name: (scope_resolution !scope name: (constant) @name) body: (_) @body) @definition.class
(class name: (scope_resolution !scope name: (constant) @name) !body "end" @body) @definition.class
(module name: (constant) @name body: (_) @body) @definition.module
(module name: (constant) @name !body "end" @body) @definition.module
(module name: (scope_resolution scope: (_) @owner name: (constant) @name) body: (_) @body) @definition.module
(module name: (scope_resolution scope: (_) @owner name: (constant) @name) !body "end" @body) @definition.module
(singleton_class value: (self) @name) @namespace

; def; at file level a function
(program (method name: (_) @name body: (_) @body) @definition.function)
(program (method name: (_) @name !body "end" @body) @definition.function)
(program (singleton_method object: (_) @owner name: (_) @name body: (_) @body) @definition.method)
(method name: (_) @name body: (_) @body) @definition.method
(method name: (_) @name !body "end" @body) @definition.method
(singleton_method name: (_) @name body: (_) @body) @definition.method
(singleton_method name: (_) @name !body "end" @body) @definition.method

; private def, memoize def
(call method: (identifier) arguments: (argument_list . [(method) (singleton_method)] @wrapped .)) @wrapper

; define_method(:name) { }, alias_method :name, :old, scope :name, -> { }
(call method: (identifier) @_define
  arguments: (argument_list . [(simple_symbol) (string)] @name)
  block: (_ body: (_) @body)
  (#any-of? @_define "define_method" "define_singleton_method")) @definition.method
(call method: (identifier) @_define
  arguments: (argument_list . [(simple_symbol) (string)] @name)
  !block
  (#any-of? @_define "define_method" "define_singleton_method" "alias_method")) @definition.method
(call method: (identifier) @_scope
  arguments: (argument_list . (simple_symbol) @name (lambda body: (_) @body))
  (#eq? @_scope "scope")) @definition.method
(alias name: (_) @name) @definition.method

; Name = Struct.new(:a) { }, Name = Class.new(Base) { }
(assignment left: [(constant) @name (scope_resolution name: (constant) @name)]
  right: (call receiver: (constant) @_type method: (identifier) @_new block: (_)? @body)
  (#any-of? @_type "Struct" "Data")
  (#any-of? @_new "new" "define")) @definition.struct
(assignment left: [(constant) @name (scope_resolution name: (constant) @name)]
  right: (call receiver: (constant) @_type method: (identifier) @_new block: (_)? @body)
  (#eq? @_type "Class") (#eq? @_new "new")) @definition.class
(assignment left: [(constant) @name (scope_resolution name: (constant) @name)]
  right: (call receiver: (constant) @_type method: (identifier) @_new block: (_)? @body)
  (#eq? @_type "Module") (#eq? @_new "new")) @definition.module

; name = ->(x) { }, name = lambda { |x| }
(assignment left: [(constant) (identifier)] @name right: (lambda body: (_) @body)) @definition.function
(assignment left: [(constant) (identifier)] @name
  right: (call !receiver method: (identifier) @_lambda block: (_) @body)
  (#any-of? @_lambda "lambda" "proc")) @definition.function

; NAME = wrap(->(x) { }), NAME = memoize { }, outside functions, except looping methods, which call their block
; immediately
[(lambda body: (_) @body) (block body: (_) @body) (do_block body: (_) @body)] @value.function
(call method: (identifier) @_called arguments: (argument_list [(lambda) (call)] @value.wrapped)) @value.wrapper
(call method: (identifier) @_called block: (_) @value.wrapped
  (#not-any-of? @_called "all?" "any?" "collect" "detect" "each" "each_with_index" "each_with_object" "filter" "filter_map" "find"
    "flat_map" "group_by" "index_by" "inject" "map" "max_by" "min_by" "partition" "reduce" "reject" "select" "sort_by" "sum" "tap"
    "then" "times" "to_h" "yield_self" "zip")) @value.wrapper
(assignment left: (constant) @name right: (call) @value) @declaration.function

; task :name do, namespace :name do, describe "name" do
(call method: (identifier) @_block
  arguments: (argument_list . [
    (simple_symbol) @name
    (string) @name
    (constant) @name
    (scope_resolution) @name
    (pair key: [(simple_symbol) (hash_key_symbol) (string)] @name)])
  block: (_) @body
  (#any-of? @_block "namespace" "task" "multitask" "file" "directory" "describe" "context" "feature" "it" "specify" "scenario"
    "example" "test" "should" "shared_examples" "shared_examples_for" "shared_context" "concern" "lane" "platform" "target")) @definition.block

; private, protected, public
(body_statement (identifier) @section (#any-of? @section "private" "protected" "public" "module_function"))

(superclass [(constant) @reference.base (scope_resolution name: (constant) @reference.base)])
(assignment right: (call receiver: (constant) @_type arguments: (argument_list . [(constant) @reference.base (scope_resolution name: (constant) @reference.base)])
  (#eq? @_type "Class")))
(call method: (identifier) @_include
  arguments: (argument_list [(constant) @reference.base (scope_resolution name: (constant) @reference.base)])
  (#any-of? @_include "include" "extend" "prepend"))

(comment) @comment
(ERROR) @error
(MISSING) @error

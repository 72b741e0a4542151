(call target: (identifier) @_define (arguments . [(alias) (dot)] @name @reference.none) (do_block) @body
  (#eq? @_define "defmodule")) @definition.module
(call target: (identifier) @_define (arguments . (alias) @name) (do_block) @body
  (#eq? @_define "defprotocol")) @definition.interface
(call target: (identifier) @_define
  (arguments . (alias) @owner @reference.base (keywords (pair key: (keyword) @_for value: (_) @name)))
  (do_block) @body
  (#eq? @_define "defimpl")
  (#any-of? @_for "for:" "for: ")) @definition.implementation
(call target: (identifier) @_define (arguments . (alias) @name @reference.base) (do_block) @body
  (#eq? @_define "defimpl")) @definition.implementation

; def name(…), def name, with and without a guard
(call target: (identifier) @_define
  (arguments . [
    (call target: (identifier) @name @reference.none)
    (identifier) @name
    (binary_operator left: (call target: (identifier) @name @reference.none) operator: "when")
    (binary_operator left: (identifier) @name operator: "when")]
    (keywords)? @body)
  (do_block)? @body
  (#any-of? @_define
    "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp" "defdelegate" "defn" "defnp")) @definition.function
; def left + right
(call target: (identifier) @_define
  (arguments . [
    (binary_operator operator: [
      "!=" "!==" "&&" "&&&" "*" "**" "+" "++" "+++" "-" "--" "---" ".." "/" "<" "<<<" "<<~" "<=" "<>" "<|>" "<~" "<~>" "=="
      "===" "=~" ">" ">=" ">>>" "^^^" "in" "|>" "||" "|||" "~>" "~>>"] @name)
    (binary_operator left: (binary_operator operator: [
      "!=" "!==" "&&" "&&&" "*" "**" "+" "++" "+++" "-" "--" "---" ".." "/" "<" "<<<" "<<~" "<=" "<>" "<|>" "<~" "<~>" "=="
      "===" "=~" ">" ">=" ">>>" "^^^" "in" "|>" "||" "|||" "~>" "~>>"] @name) operator: "when")]
    (keywords)? @body)
  (do_block)? @body
  (#any-of? @_define "def" "defp" "defmacro" "defmacrop")) @definition.function

(unary_operator operator: "@" operand: (call target: (identifier) @_define
  (arguments . (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "::"))
  (#any-of? @_define "type" "typep" "opaque"))) @definition.type
(unary_operator operator: "@" operand: (call target: (identifier) @_define
  (arguments . (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "::"))
  (#any-of? @_define "callback" "macrocallback"))) @definition.function

; tests
(call target: (identifier) @_define (arguments . (string) @name) (do_block) @body
  (#any-of? @_define "test" "property")) @definition.function
(call target: (identifier) @_define (arguments . (string) @name) (do_block) (#eq? @_define "describe")) @namespace

(unary_operator operator: "@" operand: (call target: (identifier) @_behaviour (arguments . (alias) @reference.base)
  (#eq? @_behaviour "behaviour")))

; documentation and attributes
(unary_operator operator: "@" operand: (call target: (identifier) @_doc (arguments . [(string) (sigil)])
  (#any-of? @_doc "doc" "shortdoc" "typedoc"))) @comment
(unary_operator operator: "@" operand: (call target: (identifier) @_doc (arguments . [(boolean) (keywords)])
  (#eq? @_doc "doc"))) @attribute
(unary_operator operator: "@" operand: (call target: (identifier) @_attribute
  (#any-of? @_attribute "spec" "impl" "deprecated" "dialyzer" "since" "tag"))) @attribute

(comment) @comment
(ERROR) @error
(MISSING) @error

(call target: (identifier) @reference.call
  (#not-any-of? @reference.call
    "alias" "case" "cond" "def" "defdelegate" "defexception" "defguard" "defguardp" "defimpl" "defmacro" "defmacrop"
    "defmodule" "defn" "defnp" "defoverridable" "defp" "defprotocol" "defstruct" "describe" "for" "if" "import" "quote"
    "raise" "receive" "require" "reraise" "super" "test" "try" "unless" "unquote" "unquote_splicing" "use" "with"))
(call target: (dot right: (identifier) @reference.call) (arguments))
; value |> name
(binary_operator operator: "|>" right: [(identifier) @reference.call (call target: (dot right: (identifier) @reference.call))])
; &name/1
(unary_operator operator: "&" operand: (binary_operator
  left: [(identifier) @reference.call (call target: (dot right: (identifier) @reference.call))] operator: "/"))

; attributes and types
(unary_operator operator: "@" operand: (call target: (identifier) @reference.none))
(unary_operator operator: "@" operand: (call target: (identifier) @_type (arguments) @reference.none
  (#any-of? @_type "callback" "macrocallback" "opaque" "spec" "type" "typep")))

(call target: (identifier) @_branch (#any-of? @_branch "if" "unless")) @branch
(do_block (stab_clause) @branch)
(rescue_block (stab_clause) @branch)
(binary_operator operator: ["&&" "||" "and" "or"]) @branch
(call target: (identifier) @_loop (#eq? @_loop "for")) @loop

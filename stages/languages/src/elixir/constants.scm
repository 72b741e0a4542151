(unary_operator operator: "@" operand: (call target: (identifier) @definition.constant (arguments)
  (#not-any-of? @definition.constant
    "after_compile" "before_compile" "behaviour" "callback" "compile" "deprecated" "derive" "describetag" "dialyzer"
    "doc" "enforce_keys" "external_resource" "fallback_to_any" "impl" "macrocallback" "moduledoc" "moduletag"
    "on_definition" "on_load" "opaque" "optional_callbacks" "shortdoc" "since" "spec" "tag" "type" "typedoc" "typep"
    "vsn")))

; the fields of structs
(call target: (identifier) @_struct
  (arguments [
    (list [(atom) @definition.constant (keywords (pair key: (keyword) @definition.constant))])
    (keywords (pair key: (keyword) @definition.constant))])
  (#any-of? @_struct "defstruct" "defexception"))

(call target: (identifier) @_define (do_block) @local.scope
  (#any-of? @_define "def" "defp" "defmacro" "defmacrop" "test"))

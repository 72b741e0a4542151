(program (binary_operator lhs: (identifier) @definition.variable operator: ["<-" "<<-" "="]))
(program (binary_operator operator: ["->" "->>"] rhs: (identifier) @definition.variable))

; the fields of classes
(call
  function: [(identifier) @_class (namespace_operator rhs: (identifier) @_class)]
  arguments: (arguments (argument
    name: (identifier) @_members
    value: (call arguments: (arguments (argument name: (identifier) @definition.constant)))))
  (#any-of? @_class "R6Class" "setClass" "setRefClass")
  (#any-of? @_members "fields" "private" "public" "representation" "slots"))
(call
  function: (identifier) @_class
  arguments: (arguments (argument !name value: (call
    function: (identifier) @_members
    arguments: (arguments (argument name: (identifier) @definition.constant)))))
  (#eq? @_class "setClass")
  (#eq? @_members "representation"))

(function_definition) @local.scope

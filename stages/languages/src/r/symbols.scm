; name <- function(…) …
(binary_operator
  lhs: [(identifier) (string)] @name
  operator: ["<-" "<<-" "="]
  rhs: (function_definition body: (_) @body)) @definition.function
; generator$name <- function(…) …
(binary_operator
  lhs: (extract_operator lhs: (identifier) @owner rhs: (identifier) @name)
  operator: ["<-" "<<-" "="]
  rhs: (function_definition body: (_) @body)) @definition.method
(binary_operator lhs: (function_definition) operator: ["->" "->>"] rhs: (identifier) @name) @definition.function
; name <- wrapper(function(…) …)
(binary_operator
  lhs: (identifier) @name
  operator: ["<-" "<<-" "="]
  rhs: (call arguments: (arguments . (argument value: (function_definition body: (_) @body)) .))) @definition.function

; classes
(call
  function: [(identifier) @_class (namespace_operator rhs: (identifier) @_class)]
  arguments: (arguments . (argument value: (string) @name) (comma) @body)
  (#any-of? @_class "R6Class" "ggproto" "setClass" "setRefClass")) @definition.class
(call
  function: [(identifier) @_class (namespace_operator rhs: (identifier) @_class)]
  arguments: (arguments . (argument value: (string) @name))
  (#any-of? @_class "R6Class" "ggproto" "setClass" "setRefClass")) @definition.class
(call
  function: [(identifier) @_class (namespace_operator rhs: (identifier) @_class)]
  arguments: (arguments (argument
    name: (identifier) @_members
    value: (call arguments: (arguments
      (argument name: (identifier) @name value: (function_definition body: (_) @body)) @definition.method))))
  (#any-of? @_class "R6Class" "setRefClass")
  (#any-of? @_members "active" "methods" "private" "public"))
(call
  function: [(identifier) @_class (namespace_operator rhs: (identifier) @_class)]
  arguments: (arguments
    (argument name: (identifier) @name value: (function_definition body: (_) @body)) @definition.method)
  (#eq? @_class "ggproto"))
; generator$methods(name = function(…) …)
(call
  function: (extract_operator lhs: (identifier) @owner rhs: (identifier) @_methods)
  arguments: (arguments
    (argument name: (identifier) @name value: (function_definition body: (_) @body)) @definition.method)
  (#eq? @_methods "methods"))
(argument name: (identifier) @_base value: [(identifier) @reference.base (string (string_content) @reference.base)]
  (#any-of? @_base "contains" "inherit"))
(call function: (identifier) @_class
  arguments: (arguments . (argument) (argument !name value: (identifier) @reference.base))
  (#eq? @_class "ggproto"))

; generic functions and their methods
(call
  function: [(identifier) @_method (namespace_operator rhs: (identifier) @_method)]
  arguments: (arguments . (argument value: (string) @name) (argument value: (function_definition body: (_) @body)))
  (#any-of? @_method "setMethod" "setReplaceMethod" "setValidity")) @definition.method
(call
  function: [(identifier) @_generic (namespace_operator rhs: (identifier) @_generic)]
  arguments: (arguments . (argument value: (string) @name) (argument value: (function_definition body: (_) @body)))
  (#eq? @_generic "setGeneric")) @definition.function
(call
  function: [(identifier) @_generic (namespace_operator rhs: (identifier) @_generic)]
  arguments: (arguments . (argument value: (string) @name))
  (#eq? @_generic "setGeneric")) @definition.function

(call
  function: [(identifier) @_test (namespace_operator rhs: (identifier) @_test)]
  arguments: (arguments . (argument value: (string) @name) (argument value: (braced_expression) @body))
  (#eq? @_test "test_that")) @definition.function

; Name <- setClass(…)
(binary_operator
  rhs: (call function: [(identifier) @_class (namespace_operator rhs: (identifier) @_class)]) @wrapped
  (#any-of? @_class "R6Class" "ggproto" "setClass" "setGeneric" "setRefClass")) @wrapper

(comment) @comment
(ERROR) @error
(MISSING) @error

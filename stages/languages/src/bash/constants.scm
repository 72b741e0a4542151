(variable_assignment name: (variable_name) @definition.variable (#match? @definition.variable "^[A-Z]"))
(declaration_command
  ["declare" "readonly" "typeset"]
  [(variable_name) @definition.constant (variable_assignment name: (variable_name) @definition.constant)])

; alias name=…
(command
  name: (command_name (word) @_alias)
  [(word) @definition.constant (concatenation . (word) @definition.constant)]
  (#eq? @_alias "alias"))

(function_definition) @local.scope
; NAME=value command …
(command (variable_assignment) @local.scope)

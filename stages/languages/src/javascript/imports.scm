(import_statement) @import
(export_statement source: (_)) @import
(variable_declarator value: (call_expression function: [(identifier) @_require (import)]) (#eq? @_require "require")) @import
(variable_declarator value: (member_expression object: (call_expression function: (identifier) @_require)) (#eq? @_require "require")) @import
(variable_declarator value: (await_expression (call_expression function: (import)))) @import
(expression_statement (call_expression function: (identifier) @_require) @import (#eq? @_require "require"))

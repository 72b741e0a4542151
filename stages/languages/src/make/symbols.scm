(rule (targets) @name (recipe (recipe_line)) @body) @definition.block
(define_directive name: (word) @name value: (raw_text) @body) @definition.block
(define_directive name: (word) @name) @definition.block

; Targets without a recipe.
(rule (targets (word) @definition.constant))
(variable_assignment name: (word) @definition.constant)
(shell_assignment name: (word) @definition.constant)

(include_directive) @import
(comment) @comment
(ERROR) @error
(MISSING) @error

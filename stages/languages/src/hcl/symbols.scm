(config_file (body (block (block_start) @body) @definition.block @name))

(block . (identifier) @_type (body (attribute (identifier) @definition.constant)) (#eq? @_type "locals"))
(config_file (body (attribute (identifier) @definition.constant)))

(comment) @comment
(ERROR) @error
(MISSING) @error

; const a, b = 1, 2
(const_spec (identifier) @definition.constant)
(var_spec (identifier) @definition.constant)
(block) @local.scope

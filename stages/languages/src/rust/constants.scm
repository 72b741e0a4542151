(const_item name: (identifier) @definition.constant)
(static_item name: (identifier) @definition.constant)
(enum_variant name: (identifier) @definition.constant)
(block) @local.scope

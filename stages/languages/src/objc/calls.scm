(message_expression method: (identifier) @reference.call)
(catch_clause) @branch
(block_literal) @local.scope

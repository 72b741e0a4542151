(document) @definition.block @name
(block_sequence_item (block_node (block_mapping))) @definition.block @name
(block_mapping_pair key: (flow_node) @name value: (block_node) @body) @definition.block
(block_mapping_pair key: (flow_node) @name value: (flow_node [(flow_mapping) (flow_sequence)]) @body) @definition.block

; Operation identifiers of OpenAPI.
(block_mapping_pair key: (flow_node) @_key value: (flow_node) @definition.constant (#eq? @_key "operationId"))

(comment) @comment
(ERROR) @error
(MISSING) @error

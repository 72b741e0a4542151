; The root is named by its tag. `declared_name` reads the names of other elements.
(document root: (element (STag (Name) @name) (content) @body) @definition.block)
(content (element (content) @body) @definition.block @name)

(Comment) @comment
(ERROR) @error
(MISSING) @error

-- The tables of aurora-actr 0.13.2, version 5 of its schema.
CREATE TABLE chunks (
    id TEXT PRIMARY KEY,
    type TEXT NOT NULL,
    content JSON NOT NULL,
    metadata JSON,
    embeddings BLOB,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    first_access TIMESTAMP,
    last_access TIMESTAMP
);
CREATE INDEX idx_chunks_type ON chunks (type);
CREATE TABLE activations (
    chunk_id TEXT PRIMARY KEY,
    base_level REAL NOT NULL,
    last_access TIMESTAMP NOT NULL,
    access_count INTEGER DEFAULT 1,
    access_history JSON,
    FOREIGN KEY (chunk_id) REFERENCES chunks (id) ON DELETE CASCADE
);
CREATE TABLE relationships (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    from_chunk TEXT NOT NULL,
    to_chunk TEXT NOT NULL,
    relationship_type TEXT NOT NULL,
    weight REAL DEFAULT 1.0,
    FOREIGN KEY (from_chunk) REFERENCES chunks (id) ON DELETE CASCADE,
    FOREIGN KEY (to_chunk) REFERENCES chunks (id) ON DELETE CASCADE
);
CREATE TABLE doc_hierarchy (
    chunk_id TEXT PRIMARY KEY,
    parent_chunk_id TEXT,
    section_path JSON,
    section_level INTEGER DEFAULT 0,
    document_type TEXT NOT NULL
);
CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
INSERT INTO schema_version (version) VALUES (5);

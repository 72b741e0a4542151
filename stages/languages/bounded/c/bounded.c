// Parses with tree-sitter within limits for stacks, error recovery and scanners, and walks over the tree.
//
// tree-sitter releases a stack by recursion, so a deep stack overflows the stack of the thread. At the end of a text,
// tree-sitter copies every path through its graph of stacks before it chooses one. With an error at each of n nested
// places, the paths take n * n * 8 bytes or more: gigabytes for a text of ten kilobytes. tree-sitter calls no callback
// meanwhile, and a failed allocation ends the process. The allocator of this file therefore counts the nodes of stacks
// and the bytes of copies, and leaves the parse with `longjmp` at the limit. Between `setjmp` and `longjmp`, there are
// only frames of tree-sitter, of the scanners of grammars and of this file. None of them owns anything but memory.
//
// All blocks of a parse, including the tree, are in an arena, which is cleared as a whole. This saves time, because
// tree-sitter allocates several blocks for every token.
//
// The scanner of a grammar writes its state to a buffer of tree-sitter. Some scanners write a little beyond the end,
// and an assertion then ends the process. Others read to the end of the line or of the text for every token, or wait
// forever for a character after the end, and no callback is called meanwhile. `aurora_bounded_language` gives a scanner
// a larger buffer and counts the characters that it reads. The parse of such a text stops, too.
//
// Outside of `aurora_parse_bounded`, the allocator is the allocator of libc.

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tree_sitter/api.h>

#include "language.h"
#include "parser.h"
#include "tree.h"

#ifdef _MSC_VER
#define THREAD_LOCAL __declspec(thread)
#else
#define THREAD_LOCAL _Thread_local
#endif

static void *checked(void *address) {
  if (!address) {
    fputs("out of memory in a parser\n", stderr);
    abort();
  }
  return address;
}

// Only copies of subtrees are allocated with `calloc`. Stack nodes are allocated with `malloc` and recognized by their
// size.
typedef enum { OTHER, COPY, STACK_NODE } Kind;

// The header before every block.
typedef struct {
  uint64_t size : 62;
  uint64_t kind : 2;
} Header;

// The start of a large block, up to and including its header. libc allocates blocks larger than `MAX_SMALL`.
typedef struct Large {
  struct Large *previous;
  struct Large *next;
  // Aligns the address of the block to 16 bytes.
  uint64_t padding;
  Header header;
} Large;

// Memory from which small blocks are cut.
typedef struct Chunk {
  struct Chunk *next;
  // Aligns the address of the first block of the chunk to 16 bytes.
  uint64_t padding[2];
  char bytes[];
} Chunk;

// The sizes of small blocks, including the header, are multiples of `STEP` bytes.
enum { STEP = 16, MAX_SMALL = 2048, CHUNK_BYTES = (256 << 10) - 64, MAX_KEPT_CHUNKS = 4 };

// The memory of a parse. `free` has a list of freed blocks for each size.
typedef struct {
  Chunk *chunks;
  char *next;
  char *end;
  Large *large;
  Chunk *kept;
  void *free[MAX_SMALL / STEP + 1];
} Arena;

// The state of the parse of this thread.
static THREAD_LOCAL struct {
  bool has_begun;
  bool is_active;
  Arena *arena;
  size_t copied;
  size_t max_copied;
  size_t nodes;
  size_t max_nodes;
  size_t node_size;
  size_t last_malloc;
  const TSLanguage *original;
  void *scanner;
  void (*advance)(TSLexer *lexer, bool skip);
  size_t reads;
  size_t max_reads;
  jmp_buf start;
} parse;

static Header *header_of(void *address) {
  return (Header *)address - 1;
}

static Large *large_of(Header *header) {
  return (Large *)((char *)header - offsetof(Large, header));
}

// Size of a small block in bytes, including the header.
static size_t rounded(size_t size) {
  return (size + sizeof(Header) + STEP - 1) & ~(size_t)(STEP - 1);
}

static bool is_small(size_t size) {
  return size <= MAX_SMALL - sizeof(Header);
}

static void link_large(Arena *arena, Large *large) {
  large->previous = NULL;
  large->next = arena->large;
  if (large->next) large->next->previous = large;
  arena->large = large;
}

static void unlink_large(Arena *arena, Large *large) {
  if (large->next) large->next->previous = large->previous;
  if (large->previous) {
    large->previous->next = large->next;
  } else {
    arena->large = large->next;
  }
}

// Cuts a small block from the current chunk, or from another chunk if the current one is full.
static Header *cut(Arena *arena, size_t bytes) {
  if ((size_t)(arena->end - arena->next) < bytes) {
    Chunk *chunk = arena->kept;
    if (chunk) {
      arena->kept = chunk->next;
    } else {
      chunk = checked(malloc(sizeof(Chunk) + CHUNK_BYTES));
    }
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    arena->next = chunk->bytes;
    arena->end = chunk->bytes + CHUNK_BYTES;
  }
  Header *header = (Header *)arena->next;
  arena->next += bytes;
  return header;
}

static void *allocate(Arena *arena, size_t size, Kind kind) {
  Header *header;
  if (is_small(size)) {
    size_t bytes = rounded(size);
    void **list = &arena->free[bytes / STEP];
    if (*list) {
      header = header_of(*list);
      *list = *(void **)*list;
    } else {
      header = cut(arena, bytes);
    }
  } else {
    Large *large = checked(malloc(sizeof(Large) + size));
    link_large(arena, large);
    header = &large->header;
  }
  header->size = size;
  header->kind = kind;
  return header + 1;
}

static void release(Arena *arena, void *address) {
  Header *header = header_of(address);
  if (is_small(header->size)) {
    void **list = &arena->free[rounded(header->size) / STEP];
    *(void **)address = *list;
    *list = address;
  } else {
    Large *large = large_of(header);
    unlink_large(arena, large);
    free(large);
  }
}

static void count_copy(size_t size) {
  parse.copied += size;
  if (parse.copied > parse.max_copied) longjmp(parse.start, 1);
}

static void *bounded_malloc(size_t size) {
  if (!parse.is_active) return checked(malloc(size ? size : 1));
  parse.last_malloc = size;
  bool is_node = size == parse.node_size;
  void *address = allocate(parse.arena, size, is_node ? STACK_NODE : OTHER);
  if (is_node && ++parse.nodes > parse.max_nodes) longjmp(parse.start, 1);
  return address;
}

static void *bounded_calloc(size_t count, size_t size) {
  if (!parse.is_active) return checked(calloc(count ? count : 1, size ? size : 1));
  void *address = allocate(parse.arena, count * size, COPY);
  count_copy(count * size);
  return memset(address, 0, count * size);
}

static void bounded_free(void *address) {
  if (!parse.is_active) {
    free(address);
  } else if (address) {
    Header *header = header_of(address);
    if (header->kind == COPY) parse.copied -= header->size;
    if (header->kind == STACK_NODE) parse.nodes--;
    release(parse.arena, address);
  }
}

static void *bounded_realloc(void *old, size_t size) {
  if (!old) return bounded_malloc(size);
  if (!parse.is_active) return checked(realloc(old, size ? size : 1));
  Header *header = header_of(old);
  Kind kind = header->kind;
  size_t old_size = header->size;
  void *address = old;
  if (is_small(old_size) && is_small(size) && rounded(old_size) == rounded(size)) {
    header->size = size;
  } else if (!is_small(old_size) && !is_small(size)) {
    unlink_large(parse.arena, large_of(header));
    Large *large = checked(realloc(large_of(header), sizeof(Large) + size));
    link_large(parse.arena, large);
    large->header.size = size;
    address = &large->header + 1;
  } else {
    address = allocate(parse.arena, size, kind);
    memcpy(address, old, old_size < size ? old_size : size);
    release(parse.arena, old);
  }
  if (kind == COPY) {
    parse.copied -= old_size;
    count_copy(size);
  }
  return address;
}

static void free_chunks(Chunk *chunk) {
  while (chunk) {
    Chunk *next = chunk->next;
    free(chunk);
    chunk = next;
  }
}

// Creates an arena without blocks.
Arena *aurora_arena_new(void) {
  return checked(calloc(1, sizeof(Arena)));
}

// Frees all blocks, and keeps some chunks for later blocks.
void aurora_arena_clear(Arena *arena) {
  while (arena->large) {
    Large *large = arena->large;
    arena->large = large->next;
    free(large);
  }
  size_t kept = 0;
  for (Chunk *chunk = arena->kept; chunk; chunk = chunk->next) kept++;
  while (arena->chunks && kept < MAX_KEPT_CHUNKS) {
    Chunk *chunk = arena->chunks;
    arena->chunks = chunk->next;
    chunk->next = arena->kept;
    arena->kept = chunk;
    kept++;
  }
  free_chunks(arena->chunks);
  *arena = (Arena){.kept = arena->kept};
}

void aurora_arena_free(Arena *arena) {
  aurora_arena_clear(arena);
  free_chunks(arena->kept);
  free(arena);
}

// Makes tree-sitter use the functions above. Outside of a parse, they are interchangeable with tree-sitter's default
// functions.
void aurora_bound_allocations(void) {
  ts_set_allocator(bounded_malloc, bounded_calloc, bounded_realloc, bounded_free);
}

// A modified language for tree-sitter, and the original language.
typedef struct {
  TSLanguage language;
  const TSLanguage *original;
} BoundedLanguage;

// Size of the buffer for the state of a scanner. The buffer is larger than the buffer of tree-sitter, because some
// scanners exceed the size of that buffer by a stack entry or a word.
enum { MAX_STATE_BYTES = 4 * TREE_SITTER_SERIALIZATION_BUFFER_SIZE };
// After the read limit, the scanner sees the end of the text. This constant is the maximum number of its further reads.
enum { MAX_READS_AT_END = 1 << 16 };

// Outside of a parse, a scanner does nothing. This happens if the caller passes the language of a tree to its own
// parser.
static void *bounded_create(void) {
  if (!parse.is_active) return NULL;
  parse.scanner = parse.original->external_scanner.create();
  return parse.scanner;
}

static void bounded_destroy(void *scanner) {
  if (!parse.is_active) return;
  parse.scanner = NULL;
  parse.original->external_scanner.destroy(scanner);
}

static bool is_at_end(const TSLexer *lexer) {
  (void)lexer;
  return true;
}

// At the limit, the scanner sees the end of the text, so that it frees its memory and returns. If the scanner still
// waits for more text, `longjmp` leaves it.
static void bounded_advance(TSLexer *lexer, bool skip) {
  if (++parse.reads <= parse.max_reads) {
    parse.advance(lexer, skip);
    return;
  }
  if (parse.reads - parse.max_reads > MAX_READS_AT_END) longjmp(parse.start, 1);
  lexer->lookahead = 0;
  lexer->eof = is_at_end;
}

static bool bounded_scan(void *scanner, TSLexer *lexer, const bool *valid_symbols) {
  if (!parse.is_active) return false;
  parse.advance = lexer->advance;
  lexer->advance = bounded_advance;
  bool is_found = parse.original->external_scanner.scan(scanner, lexer, valid_symbols);
  if (parse.reads > parse.max_reads) longjmp(parse.start, 1);
  lexer->advance = parse.advance;
  return is_found;
}

static void bounded_deserialize(void *scanner, const char *state, unsigned length) {
  if (parse.is_active) parse.original->external_scanner.deserialize(scanner, state, length);
}

static unsigned bounded_serialize(void *scanner, char *buffer) {
  if (!parse.is_active) return 0;
  char state[MAX_STATE_BYTES];
  unsigned length = parse.original->external_scanner.serialize(scanner, state);
  if (length > TREE_SITTER_SERIALIZATION_BUFFER_SIZE) longjmp(parse.start, 1);
  memcpy(buffer, state, length);
  return length;
}

// Gives each state a table row with all symbols, which takes up to 13 MB for a language. Most states of a language have
// a list of symbols instead, and tree-sitter searches the list for every token and for every symbol that might repair
// an error.
static void expand_states(TSLanguage *language) {
  size_t row = language->symbol_count;
  uint16_t *table = checked(calloc(language->state_count * row, sizeof(uint16_t)));
  memcpy(table, language->parse_table, language->large_state_count * row * sizeof(uint16_t));
  for (size_t state = language->large_state_count; state < language->state_count; state++) {
    const uint16_t *data = &language->small_parse_table[language->small_parse_table_map[state - language->large_state_count]];
    for (uint16_t groups = *data++; groups > 0; groups--) {
      uint16_t value = *data++;
      for (uint16_t symbols = *data++; symbols > 0; symbols--) table[state * row + *data++] = value;
    }
  }
  language->parse_table = table;
  language->large_state_count = language->state_count;
}

// Creates a language for `aurora_parse_bounded`. It is never freed, because trees point to it. Returns null if the
// layout of the language's version is unknown. Parses with an expanded language take up to a sixth less time, but the
// expansion takes a few milliseconds.
const BoundedLanguage *aurora_bounded_language(const TSLanguage *language, bool is_expanded) {
  size_t size = 0;
  if (language->abi_version == 14) size = offsetof(TSLanguage, name);
  if (language->abi_version == 15) size = sizeof(TSLanguage);
  if (size == 0) return NULL;
  BoundedLanguage *bounded = checked(calloc(1, sizeof(BoundedLanguage)));
  memcpy(&bounded->language, language, size);
  bounded->original = language;
  if (is_expanded) expand_states(&bounded->language);
  if (language->external_scanner.scan) {
    bounded->language.external_scanner.create = bounded_create;
    bounded->language.external_scanner.destroy = bounded_destroy;
    bounded->language.external_scanner.scan = bounded_scan;
    bounded->language.external_scanner.serialize = bounded_serialize;
    bounded->language.external_scanner.deserialize = bounded_deserialize;
  }
  return bounded;
}

// Calls the progress callback of the caller. The limits are off meanwhile, because the callback may use other parsers.
static bool unbounded_progress(TSParseState *state) {
  const TSParseOptions *options = state->payload;
  TSParseState inner = *state;
  inner.payload = options->payload;
  parse.is_active = false;
  bool stops = options->progress_callback(&inner);
  parse.is_active = true;
  return stops;
}

static TSTree *parse_whole(const BoundedLanguage *language, TSInput input, TSParseOptions options) {
  TSParser *parser = ts_parser_new();
  // The last allocation of a new parser is the first node of its stack.
  parse.node_size = parse.last_malloc;
  TSTree *tree = NULL;
  parse.original = language->original;
  if (ts_parser_set_language(parser, &language->language)) {
    TSParseOptions inner = {&options, unbounded_progress};
    tree = ts_parser_parse_with_options(parser, NULL, input, inner);
  }
  ts_parser_delete(parser);
  return tree;
}

// Parses a text into a tree in `arena`, which must be cleared. Returns null if the progress callback stops the parse,
// or if the parse exceeds a limit. In the latter case, `*is_exceeded` is true. The limits are `max_copied` bytes in
// copies of subtrees, `max_nodes` stack nodes, `max_reads` characters read by the scanner, and the size of the
// scanner's state. Called from its own progress callback, the function does nothing and returns null.
TSTree *aurora_parse_bounded(
  const BoundedLanguage *language,
  TSInput input,
  TSParseOptions options,
  Arena *arena,
  size_t max_copied,
  size_t max_nodes,
  size_t max_reads,
  bool *is_exceeded
) {
  *is_exceeded = false;
  if (parse.has_begun) return NULL;
  parse.has_begun = true;
  parse.arena = arena;
  parse.copied = 0;
  parse.max_copied = max_copied;
  parse.nodes = 0;
  parse.max_nodes = max_nodes;
  parse.scanner = NULL;
  parse.reads = 0;
  parse.max_reads = max_reads;
  parse.node_size = SIZE_MAX;
  TSTree *volatile tree = NULL;
  if (setjmp(parse.start) == 0) {
    parse.is_active = true;
    tree = parse_whole(language, input, options);
    parse.is_active = false;
  } else {
    // The blocks of most scanners are not in the arena, because the scanners use the allocator of libc.
    if (parse.scanner) bounded_destroy(parse.scanner);
    parse.is_active = false;
    *is_exceeded = true;
  }
  parse.has_begun = false;
  return tree;
}

// The remaining children of a node during a walk.
typedef struct {
  const Subtree *next;
  const Subtree *end;
  // The aliases of the remaining children that are not extras, or null.
  const TSSymbol *aliases;
  // The end of the previous child, or the start of the node before the first child.
  Length position;
  bool is_first;
} Level;

// A walk over the nodes of a tree, ordered by start, outer nodes first. Unlike the cursor of tree-sitter, it creates no
// nodes for the subtrees that it skips.
typedef struct {
  const TSTree *tree;
  // For each symbol of the language, whether the walk visits its nodes. It always visits errors and missing nodes.
  const bool *is_visited;
  Level *levels;
  size_t depth;
  size_t capacity;
} Walk;

static void descend(Walk *walk, Subtree subtree, Length start) {
  if (walk->depth == walk->capacity) {
    walk->capacity = walk->capacity ? 2 * walk->capacity : 64;
    walk->levels = checked(realloc(walk->levels, walk->capacity * sizeof(Level)));
  }
  const Subtree *children = ts_subtree_children(subtree);
  walk->levels[walk->depth++] = (Level){
    .next = children,
    .end = children + subtree.ptr->child_count,
    .aliases = ts_language_alias_sequence(walk->tree->language, subtree.ptr->production_id),
    .position = start,
    .is_first = true,
  };
}

// Begins a walk over the descendants of the root.
Walk *aurora_walk_new(const TSTree *tree, const bool *is_visited) {
  Walk *walk = checked(malloc(sizeof(Walk)));
  *walk = (Walk){.tree = tree, .is_visited = is_visited};
  if (ts_subtree_child_count(tree->root) > 0) descend(walk, tree->root, ts_subtree_padding(tree->root));
  return walk;
}

// Sets `node` to the next node. Returns false at the end of the walk.
bool aurora_walk_next(Walk *walk, TSNode *node) {
  const TSLanguage *language = walk->tree->language;
  while (walk->depth > 0) {
    Level *level = &walk->levels[walk->depth - 1];
    if (level->next == level->end) {
      walk->depth--;
      continue;
    }
    const Subtree *child = level->next++;
    TSSymbol symbol = 0;
    if (level->aliases && !ts_subtree_extra(*child)) symbol = *level->aliases++;
    TSSymbol alias = symbol;
    if (!level->is_first) level->position = length_add(level->position, ts_subtree_padding(*child));
    level->is_first = false;
    Length start = level->position;
    level->position = length_add(start, ts_subtree_size(*child));
    if (ts_subtree_child_count(*child) > 0) descend(walk, *child, start);
    if (!symbol && ts_subtree_visible(*child)) symbol = ts_subtree_symbol(*child);
    if (!symbol) continue;
    bool is_error = symbol == ts_builtin_sym_error || ts_subtree_missing(*child);
    if (is_error || walk->is_visited[language->public_symbol_map[symbol]]) {
      *node = (TSNode){{start.bytes, start.extent.row, start.extent.column, alias}, child, walk->tree};
      return true;
    }
  }
  return false;
}

void aurora_walk_free(Walk *walk) {
  free(walk->levels);
  free(walk);
}

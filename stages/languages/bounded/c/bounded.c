// A parse by tree-sitter that ends when its stacks are too deep, or when its error recovery copies too much.
//
// tree-sitter releases a stack by recursion, so that a deep one overflows the stack of the thread. At the end of a text, it
// copies every path through its graph of stacks before it chooses one. With an error at each of n nested places, the paths
// take n * n * 8 bytes and more: gigabytes for a text of ten kilobytes. No callback is asked meanwhile, and a failed
// allocation ends the process. So the allocator counts the nodes of stacks and what copies hold, and leaves the parse with
// `longjmp`. Between `setjmp` and `longjmp` there are only frames of tree-sitter, of the scanners of grammars and of this
// file, none of which has anything to clean up but memory. All blocks of the parse are freed, its parser and its scanner
// included.
//
// A scanner of a grammar writes its state to a buffer of tree-sitter, and some write a little beyond its end, which ends the
// process by an assertion. Others read to the end of a line or of the text for every token, or wait for a character after the
// end for ever, which no callback is asked about. `aurora_bounded_language` gives a scanner a larger buffer and counts what it
// reads, and such a text is given up, too.
//
// Outside of `aurora_parse_bounded`, the allocator is that of libc: blocks can be allocated before and freed after it.

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tree_sitter/api.h>

#include "parser.h"

#ifdef _MSC_VER
#define THREAD_LOCAL __declspec(thread)
#else
#define THREAD_LOCAL _Thread_local
#endif

// A hash table of blocks with linear probing, at most half full.
typedef struct {
  void *address;
  size_t size;
} Block;

typedef struct {
  Block *blocks;
  size_t capacity;
  size_t count;
} Table;

// The parse of this thread. `calloc` makes the copies of subtrees, `malloc` the nodes of stacks, which are known by their
// size; `copies` and `nodes` have those that are not freed. Other blocks are many, so what happens to them is only written
// down: the address of a block that was allocated, and for one that was freed, the address plus one. `blocks_of_log` finds
// those that are left.
static THREAD_LOCAL struct {
  bool has_begun;
  bool is_active;
  Table copies;
  size_t copied;
  size_t most_copied;
  Table nodes;
  size_t most_nodes;
  size_t node_size;
  size_t last_malloc;
  uintptr_t *log;
  size_t log_length;
  size_t log_capacity;
  const TSLanguage *original;
  void *scanner;
  void (*advance)(TSLexer *lexer, bool skip);
  size_t reads;
  size_t most_reads;
  jmp_buf start;
} parse;

enum { FIRST_CAPACITY = 64, FIRST_LOG = 1 << 12, LONG_LOG = 1 << 17 };

static void *checked(void *address) {
  if (!address) {
    fputs("out of memory in a parser\n", stderr);
    abort();
  }
  return address;
}

static Table new_table(size_t capacity) {
  return (Table){checked(calloc(capacity, sizeof(Block))), capacity, 0};
}

static size_t place_of(const Table *table, const void *address) {
  uint64_t hash = ((uint64_t)(uintptr_t)address >> 4) * UINT64_C(0x9E3779B97F4A7C15);
  return (size_t)(hash >> 32) & (table->capacity - 1);
}

static Block *find(const Table *table, const void *address) {
  size_t place = place_of(table, address);
  while (table->blocks[place].address && table->blocks[place].address != address) {
    place = (place + 1) & (table->capacity - 1);
  }
  return &table->blocks[place];
}

static void insert(Table *table, void *address, size_t size) {
  if (2 * (table->count + 1) > table->capacity) {
    Table larger = new_table(2 * table->capacity);
    for (size_t i = 0; i < table->capacity; i++) {
      if (table->blocks[i].address) *find(&larger, table->blocks[i].address) = table->blocks[i];
    }
    larger.count = table->count;
    free(table->blocks);
    *table = larger;
  }
  *find(table, address) = (Block){address, size};
  table->count++;
}

// Removes a block, and moves those after it that were pushed away from their places. The result is its size, 0 without one.
static size_t remove_block(Table *table, const void *address) {
  Block *found = find(table, address);
  if (!found->address) return 0;
  size_t size = found->size;
  size_t mask = table->capacity - 1;
  size_t hole = (size_t)(found - table->blocks);
  for (size_t i = (hole + 1) & mask; table->blocks[i].address; i = (i + 1) & mask) {
    size_t distance = (i - place_of(table, table->blocks[i].address)) & mask;
    if (distance >= ((i - hole) & mask)) {
      table->blocks[hole] = table->blocks[i];
      hole = i;
    }
  }
  table->blocks[hole].address = NULL;
  table->count--;
  return size;
}

// The blocks that were allocated and not freed.
static Table blocks_of_log(void) {
  Table left = new_table(FIRST_CAPACITY);
  for (size_t i = 0; i < parse.log_length; i++) {
    void *address = (void *)(parse.log[i] & ~(uintptr_t)1);
    if (parse.log[i] & 1) {
      remove_block(&left, address);
    } else {
      insert(&left, address, 1);
    }
  }
  return left;
}

// Makes room in a full log. A long one is shortened to the blocks that are left, and grows if they are more than half of it.
static void make_room(void) {
  size_t left_count = parse.log_length;
  if (parse.log_capacity >= LONG_LOG) {
    Table left = blocks_of_log();
    left_count = left.count;
    parse.log_length = 0;
    for (size_t i = 0; i < left.capacity; i++) {
      if (left.blocks[i].address) parse.log[parse.log_length++] = (uintptr_t)left.blocks[i].address;
    }
    free(left.blocks);
  }
  if (2 * left_count > parse.log_capacity) {
    parse.log_capacity *= 2;
    parse.log = checked(realloc(parse.log, parse.log_capacity * sizeof(uintptr_t)));
  }
}

static void note(uintptr_t event) {
  if (parse.log_length == parse.log_capacity) make_room();
  parse.log[parse.log_length++] = event;
}

static void note_copy(void *address, size_t size) {
  insert(&parse.copies, address, size);
  parse.copied += size;
  if (parse.copied > parse.most_copied) longjmp(parse.start, 1);
}

static void note_node(void *address) {
  insert(&parse.nodes, address, 1);
  if (parse.nodes.count > parse.most_nodes) longjmp(parse.start, 1);
}

// Whether a block that is freed was a copy.
static bool forget(const void *address) {
  note((uintptr_t)address | 1);
  if (parse.nodes.count > 0) remove_block(&parse.nodes, address);
  size_t size = parse.copies.count > 0 ? remove_block(&parse.copies, address) : 0;
  parse.copied -= size;
  return size > 0;
}

static void *bounded_malloc(size_t size) {
  void *address = checked(malloc(size ? size : 1));
  if (parse.is_active) {
    note((uintptr_t)address);
    parse.last_malloc = size;
    if (size == parse.node_size) note_node(address);
  }
  return address;
}

static void *bounded_calloc(size_t count, size_t size) {
  void *address = checked(calloc(count ? count : 1, size ? size : 1));
  if (parse.is_active) {
    note((uintptr_t)address);
    note_copy(address, count * size);
  }
  return address;
}

static void *bounded_realloc(void *old, size_t size) {
  if (!old) return bounded_malloc(size);
  bool is_copy = parse.is_active && forget(old);
  void *address = checked(realloc(old, size ? size : 1));
  if (parse.is_active) note((uintptr_t)address);
  if (is_copy) note_copy(address, size);
  return address;
}

static void bounded_free(void *address) {
  if (parse.is_active && address) forget(address);
  free(address);
}

// Makes tree-sitter use the functions above. They and those that it uses before are interchangeable.
void aurora_bound_allocations(void) {
  ts_set_allocator(bounded_malloc, bounded_calloc, bounded_realloc, bounded_free);
}

// A language as tree-sitter is to use it, and the one that it was made of.
typedef struct {
  TSLanguage language;
  const TSLanguage *original;
} BoundedLanguage;

// Room for a state that is too long: what is beyond the end is an entry of a stack, or the length of a word.
enum { LONGEST_STATE = 4 * TREE_SITTER_SERIALIZATION_BUFFER_SIZE };
// How often a scanner may read on when the text has ended for it.
enum { MOST_READS_AT_END = 1 << 16 };

// Outside of a parse, for a parser of the caller with the language of a tree, a scanner does nothing.
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

// At the limit, the text ends for the scanner, which frees what it has on its way back. One that waits for more text is left.
static void bounded_advance(TSLexer *lexer, bool skip) {
  if (++parse.reads <= parse.most_reads) {
    parse.advance(lexer, skip);
    return;
  }
  if (parse.reads - parse.most_reads > MOST_READS_AT_END) longjmp(parse.start, 1);
  lexer->lookahead = 0;
  lexer->eof = is_at_end;
}

static bool bounded_scan(void *scanner, TSLexer *lexer, const bool *valid_symbols) {
  if (!parse.is_active) return false;
  parse.advance = lexer->advance;
  lexer->advance = bounded_advance;
  bool is_found = parse.original->external_scanner.scan(scanner, lexer, valid_symbols);
  if (parse.reads > parse.most_reads) longjmp(parse.start, 1);
  lexer->advance = parse.advance;
  return is_found;
}

static void bounded_deserialize(void *scanner, const char *state, unsigned length) {
  if (parse.is_active) parse.original->external_scanner.deserialize(scanner, state, length);
}

static unsigned bounded_serialize(void *scanner, char *buffer) {
  if (!parse.is_active) return 0;
  char state[LONGEST_STATE];
  unsigned length = parse.original->external_scanner.serialize(scanner, state);
  if (length > TREE_SITTER_SERIALIZATION_BUFFER_SIZE) longjmp(parse.start, 1);
  memcpy(buffer, state, length);
  return length;
}

// A language for `aurora_parse_bounded`, which is never freed: trees point to it. Null if the language is of a version whose
// layout is not known here.
const BoundedLanguage *aurora_bounded_language(const TSLanguage *language) {
  size_t size = 0;
  if (language->abi_version == 14) size = offsetof(TSLanguage, name);
  if (language->abi_version == 15) size = sizeof(TSLanguage);
  if (size == 0) return NULL;
  BoundedLanguage *bounded = checked(calloc(1, sizeof(BoundedLanguage)));
  memcpy(&bounded->language, language, size);
  bounded->original = language;
  if (language->external_scanner.scan) {
    bounded->language.external_scanner.create = bounded_create;
    bounded->language.external_scanner.destroy = bounded_destroy;
    bounded->language.external_scanner.scan = bounded_scan;
    bounded->language.external_scanner.serialize = bounded_serialize;
    bounded->language.external_scanner.deserialize = bounded_deserialize;
  }
  return bounded;
}

// The progress callback of the caller, which may use other parsers.
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
  // A new parser allocates the first node of its stack last.
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

// The tree of a text, or null: the progress callback has stopped the parse. If copies of subtrees hold more than
// `most_copied` bytes, stacks have more than `most_nodes` nodes, the state of the scanner is too long, or it reads more than
// `most_reads` characters, it is null as well, and `*is_exceeded` is true. From a callback of itself, it does nothing and gives
// null.
TSTree *aurora_parse_bounded(
  const BoundedLanguage *language,
  TSInput input,
  TSParseOptions options,
  size_t most_copied,
  size_t most_nodes,
  size_t most_reads,
  bool *is_exceeded
) {
  *is_exceeded = false;
  if (parse.has_begun) return NULL;
  parse.has_begun = true;
  parse.copies = new_table(FIRST_CAPACITY);
  parse.copied = 0;
  parse.most_copied = most_copied;
  parse.nodes = new_table(FIRST_CAPACITY);
  parse.most_nodes = most_nodes;
  parse.scanner = NULL;
  parse.reads = 0;
  parse.most_reads = most_reads;
  parse.node_size = SIZE_MAX;
  parse.log = checked(malloc(FIRST_LOG * sizeof(uintptr_t)));
  parse.log_length = 0;
  parse.log_capacity = FIRST_LOG;
  TSTree *volatile tree = NULL;
  if (setjmp(parse.start) == 0) {
    parse.is_active = true;
    tree = parse_whole(language, input, options);
    parse.is_active = false;
  } else {
    // Most scanners use the allocator of libc, so their blocks are not in the log.
    if (parse.scanner) bounded_destroy(parse.scanner);
    parse.is_active = false;
    *is_exceeded = true;
    Table left = blocks_of_log();
    for (size_t i = 0; i < left.capacity; i++) free(left.blocks[i].address);
    free(left.blocks);
  }
  free(parse.copies.blocks);
  free(parse.nodes.blocks);
  free(parse.log);
  parse.has_begun = false;
  return tree;
}

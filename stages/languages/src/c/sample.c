/* Queues of jobs. */
#include <stdio.h>
#include "queue.h"

#ifndef QUEUE_C
#define QUEUE_C

/* Most jobs in a queue. */
#define LIMIT 64
#define KEEP_EMPTY

/** The larger of two values. */
#define MAX(a, b) \
  ((a) > (b) ? (a) : (b))

/** One job. */
struct job {
  int id;
  /** What to run. */
  struct {
    void (*run)(struct job *);
    void *data;
  } action;
  union { int code; void *result; };
  enum { IDLE, BUSY } state;
};

/** A queue. */
typedef struct queue_s {
  struct job *jobs[LIMIT];
  int length;
} queue_t;

typedef enum { FIRST_IN, LAST_IN = 2 } order_t;
typedef union { long whole; char bytes[8]; } word_t;
typedef unsigned int job_id;
typedef struct job *job_ref;
/** Decides between two jobs. */
typedef int (*compare_fn)(const struct job *, const struct job *);

union value { int number; const char *text; };
enum color { RED, GREEN };

static queue_t queue, *current = &queue;
const char *const names[] = { "idle", "busy" };
static void (*handlers[2])(int);
struct { int hits, misses; } statistics;

/* Adds a job. */
extern int queue_add(queue_t *queue, struct job *job);
struct job *queue_first(void);
struct job **queue_all(int *length), *queue_last(void);

/* Whether a job is there.
 * Never blocks. */
static inline int
queue_has(const queue_t *q, job_id id)
{
  int i;

  for (i = 0; i < q->length; i++)
    if (q->jobs[i] != NULL && q->jobs[i]->id == (int)id)
      return 1;
  while (wait_for(id)) { }
  do { handlers[0](1); } while (0);
  return q->length ? q->jobs[0]->action.run == 0 : (*fallback)(id);
}

// The old style.
int queue_add(queue, job)
    queue_t *queue;
    struct job *job;
{
  switch (queue->length) {
  case LIMIT:
    return -1;
  default:
    queue->jobs[queue->length++] = job;
  }
  return MAX(queue->length, 1);
}

#ifdef SORTED
/* In order. */
compare_fn queue_order(void) { return by_id; }
#else
/* In any order. */
compare_fn queue_order(void) { return 0; }
#endif

int (*queue_hook(int which))(int) { return hooks[which]; }

__attribute__((constructor)) static void setup(void) { int local_value = 1; init(local_value); }

#endif

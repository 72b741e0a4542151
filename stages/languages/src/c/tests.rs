//! Tests for the outline of `sample.c`, and for the masking of macros and conditionals that the grammar cannot read.

use super::C;
use crate::snapshot::{constants_of, outline};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&C, include_str!("sample.c")), @r"
    import stdio.h *
    import queue.h *
    function MAX 13-14 #define MAX(a, b) | The larger of two values. |  | exported
    struct job 17-26 struct job | One job. |  | exported
    struct job::action 20-23 struct action | What to run. |  | exported
    enum job::state 25-25 enum state |  |  | exported
    struct queue_t 29-32 typedef struct queue_s queue_t | A queue. |  | exported
    enum order_t 34-34 typedef enum order_t |  |  | exported
    struct word_t 35-35 typedef union word_t |  |  | exported
    type job_id 36-36 typedef unsigned int job_id |  |  | exported
    type job_ref 37-37 typedef struct job *job_ref |  |  | exported
    type compare_fn 39-39 typedef int (*compare_fn)(const struct job *, const struct job *) | Decides between two jobs. |  | exported
    struct value 41-41 union value |  |  | exported
    enum color 42-42 enum color |  |  | exported
    struct statistics 47-47 struct statistics |  |  | exported
    function queue_add 50-50 extern int queue_add(queue_t *queue, struct job *job) | Adds a job. |  | exported
    function queue_first 51-51 struct job *queue_first(void) |  |  | exported
    function queue_all 52-52 struct job **queue_all(int *length), *queue_last(void) |  |  | exported
    function queue_has 56-67 static inline int queue_has(const queue_t *q, job_id id) | Whether a job is there.⏎Never blocks. | wait_for fallback | 3 branches | 3 loops
    function queue_add 70-81 int queue_add(queue, job) queue_t *queue; struct job *job | The old style. | MAX | 2 branches | exported
    function queue_order 85-85 compare_fn queue_order(void) | In order. |  | exported
    function queue_order 88-88 compare_fn queue_order(void) | In any order. |  | exported
    function queue_hook 91-91 int (*queue_hook(int which))(int) |  |  | exported
    function setup 93-93 __attribute__((constructor)) static void setup(void) |  | init
    constants: LIMIT KEEP_EMPTY IDLE BUSY queue_s FIRST_IN LAST_IN RED GREEN queue current names handlers
    ");
}

#[test]
fn constants_and_variables_outside_functions_are_listed() {
    let source = r##"
#define LIMIT 10
#ifndef GUARD_H
#define GUARD_H
#define SWITCH
#endif
enum { RED, GREEN = 2 };
extern int shared, *pointer;
static const char *const names[] = { "a" };
int table[2][3] = { { 1 } }, **deep;
void (*hook)(int), (*hooks[2])(int);
struct point { int x; } origin = { 0 };
void run(void) { static int local; const int other = 1; }
"##;
    assert_eq!(constants_of(&C, source), "LIMIT SWITCH RED GREEN shared pointer names table deep hook hooks origin");
}

#[test]
fn macros_do_not_hide_declarations() {
    let source = r##"
JNIEXPORT jint JNICALL
Java_demo_Stack_push(JNIEnv *env, jobject self)
{
  return CALL(env, self);
}
static int __init start(void) { return 0; }
API_PUBLIC(const char *) name_of(int id);
SYSCALL_DEFINE2(getcwd, char __user *, buf, unsigned long, size)
{
  return fill(buf, size);
}
void report(const char *format, ...) PRINTF_LIKE(1, 2);
DEFINE_LIST(waiters)
DEFINE_BLIT(waiters, 1Rgb)

DEFINE_BLIT(readers, 3Rgb)

FORCE_INLINE
NO_OVERFLOW
size_t measure(RASTER_ long x, const char *text)
{
  return x + OFFSET * va_arg(list, int);
}
struct PACKED header { int size; };
"##;
    insta::assert_snapshot!(outline(&C, source), @r"
    function Java_demo_Stack_push 2-6 JNIEXPORT jint JNICALL Java_demo_Stack_push(JNIEnv *env, jobject self) |  | CALL | exported
    function start 7-7 static int __init start(void) |  |
    function name_of 8-8 API_PUBLIC(const char *) name_of(int id) |  |  | exported
    function getcwd 9-12 SYSCALL_DEFINE2(getcwd, char __user *, buf, unsigned long, size) |  | fill | exported
    function report 13-13 void report(const char *format, ...) PRINTF_LIKE(1, 2) |  |  | exported
    function measure 19-24 FORCE_INLINE NO_OVERFLOW size_t measure(RASTER_ long x, const char *text) |  | va_arg | exported
    struct header 25-25 struct PACKED header |  |  | exported
    ");
}

#[test]
fn conditionals_that_split_a_statement_keep_their_first_branch() {
    let source = r##"
#ifdef __cplusplus
extern "C" {
#endif
int opened(int flags
#ifdef WIDE
           , int width
#endif
           );
#ifdef POSIX
int start(int fd) {
#else
int start(void *handle) {
#endif
  if (ready()) {
#ifdef LOG
    trace();
  } else if (quiet()) {
#endif
    run();
  }
  return 0;
}
#if A
int both(void) { return 1; }
#else
int both(void) { return 2; }
#endif
#ifdef __cplusplus
}
#endif
"##;
    insta::assert_snapshot!(outline(&C, source), @r"
    function opened 5-9 int opened(int flags #ifdef WIDE, int width #endif) |  |  | exported
    function start 11-23 int start(int fd) |  | ready trace quiet run | 2 branches | exported
    function both 25-25 int both(void) |  |  | exported
    function both 27-27 int both(void) |  |  | exported
    ");
}

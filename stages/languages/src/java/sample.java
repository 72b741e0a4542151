package com.example;

import java.util.List;
import static org.junit.Assert.*;

/** A repository of things. */
@Entity(name = "things")
public abstract class Things<A extends B> extends Base<A> implements Closeable, x.Sized {
  private final int limit = 1;

  /** Makes one. */
  @Inject
  public Things(int limit) { this.limit = limit; }

  @Override
  @SuppressWarnings({"a", "b"})
  public <X> List<X> get(@Nullable String key) throws Exception {
    for (X x : all) { if (x != null && open) store.touch(x); }
    return new ArrayList<>(wrap(Things::copy));
  }

  abstract void none();

  interface Visitor { void visit(); default void leave() {} }
  enum State { OPEN { void enter() {} }; void exit() {} }
  record Pair(int x, int y) { Pair { check(x); } }
}

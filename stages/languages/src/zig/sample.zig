//! A ring buffer.
//!
//! It never allocates.

const std = @import("std");
const Allocator = @import("std").mem.Allocator;
pub const config = @import("config.zig");
const c = @cImport({
    @cInclude("stdio.h");
});

pub const max_size = 64;
var instances: usize = 0;
pub const format = std.fmt.format;

/// A buffer of bytes.
pub const Ring = struct {
    items: [max_size]u8 = undefined,
    state: struct {
        read: usize,

        fn reset(self: *@This()) void {
            self.read = 0;
        }
    },

    const Self = @This();
    pub const empty = Ring{};

    /// Adds a byte.
    /// Fails if there is no room.
    pub fn push(self: *Self, byte: u8) !void {
        if (self.isFull() or byte == 0) return error.Full;
        for (self.items) |item| {
            check(item);
        }
        while (self.advance()) : (instances += 1) {}
        const kind = if (byte > 127) 1 else 2;
        switch (kind) {
            1 => log.warn("high", .{}),
            else => {},
        }
        const value = parse(byte) catch |err| return fail(err);
        const other = find(value) orelse 0;
        @import("trace.zig").record(other);
    }

    fn isFull(self: Self) bool {
        return self.state.read == max_size;
    }
};

const Color = enum { red, green };
pub const Value = union(enum) { int: i64, text: []const u8 };
const Handle = opaque {};
pub const Error = error{ Full, Closed };
const Callback = fn (byte: u8) void;

extern "c" fn puts(text: [*:0]const u8) c_int;

export fn ring_new() void {}

pub fn List(comptime T: type) type {
    return struct {
        items: []T,

        pub fn init() @This() {
            return .{ .items = &.{} };
        }
    };
}

fn @"odd name"() void {
    const hidden = 1;
    _ = hidden;
}

comptime {
    const checked = max_size;
    _ = checked;
}

// Covers the full buffer.
test "push fails if the buffer is full" {
    var ring = Ring{};
    try std.testing.expectError(error.Full, ring.push(1));
}

test List {
    _ = List(u8).init();
}

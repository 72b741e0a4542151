//! Tests for the outline of `sample.m`, and for the detection of headers.

use super::{OBJC, is_objc};
use crate::snapshot::{constants_of, outline};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&OBJC, include_str!("sample.m")), @r"
    import Foundation/Foundation.h *
    import StackView.h *
    import math.h *
    import UIKit *
    function CLAMP 8-8 #define CLAMP(x) |  |  | exported
    enum StackMode 14-17 typedef NS_ENUM(NSInteger, StackMode) |  |  | exported
    type StackHandler 18-18 typedef void (^StackHandler)(int code) |  |  | exported
    struct Offset 19-19 typedef struct Offset |  |  | exported
    interface StackObserver 25-30 @protocol StackObserver <NSObject, Sized> | What observes a stack. |  | is NSObject Sized | exported
    method StackObserver.stackDidChange: 27-27 - (void)stackDidChange:(int)count | Called after a change. |  | exported
    method StackObserver.title 29-29 @property (nonatomic, readonly) NSString *title |  |  | exported
    class StackView 33-45 @interface StackView : UIView <StackObserver, NSCopying> | A view of a stack. |  | is UIView StackObserver NSCopying | exported
    method StackView.name 37-37 @property (nonatomic, strong) NSString *name | The name. |  | exported
    method StackView.handler 38-38 @property (nonatomic, copy) void (^handler)(int) |  |  | exported
    method StackView.count 39-39 @property int count API_AVAILABLE(ios(10), macos(10.12)) |  |  | exported
    method StackView.initWithFrame:style: 42-42 - (instancetype)initWithFrame:(CGRect)frame style:(int)style NS_DESIGNATED_INITIALIZER | Makes a view. |  | exported
    method StackView.shared 43-43 + (instancetype)shared |  |  | exported
    method StackView.isOpen:: 44-44 - (BOOL)isOpen:(id)first :(id)second |  |  | exported
    implementation @interface StackView (Drawing) 47-49 @interface StackView (Drawing) |  |  | exported
    method StackView.draw 48-48 - (void)draw |  |  | of StackView | exported
    class Empty 51-52 @interface Empty : NSObject @end |  |  | is NSObject | exported
    implementation @implementation StackView 56-75 @implementation StackView |  |  | exported
    method StackView.initWithFrame:style: 60-66 - (instancetype)initWithFrame:(CGRect)frame style:(int)style | Fills in the frame. | initWithFrame setUp alloc init CLAMP | of StackView | 1 branches | exported
    method StackView.shared 68-74 + (instancetype)shared |  | dispatch_once new touch run log | of StackView | 3 branches | 1 loops | exported
    implementation @implementation StackView (Drawing) 77-79 @implementation StackView (Drawing) |  |  | exported
    method StackView.draw 78-78 - (void)draw |  | setNeedsDisplay | of StackView | exported
    function helper 82-82 static int helper(int x) | Counts. |
    function total 83-83 int *total(void) |  |  | exported
    constants: MARGIN StackModeOpen StackModeClosed kStackName counter
    ");
}

#[test]
fn constants_and_variables_outside_functions_are_listed() {
    let source = r##"
#define LIMIT 10
NSString *const kName = @"x";
typedef NS_OPTIONS(NSUInteger, Flags) { FlagA = 1, FlagB = 2 };
static int counter;
@implementation Foo
static int inside;
- (void)run { int local = 1; dispatch(^{ int deeper = 2; }); }
@end
"##;
    assert_eq!(constants_of(&OBJC, source), "LIMIT kName FlagA FlagB counter inside");
}

#[test]
fn the_text_of_a_header_decides_whether_it_is_objective_c() {
    assert!(is_objc("/* x */\n@interface Foo : NSObject\n@end\n"));
    assert!(is_objc("#import <Foundation/Foundation.h>\n"));
    assert!(!is_objc("#include <stdio.h>\n/** @interface of x */\nint f(void);\n"));
}

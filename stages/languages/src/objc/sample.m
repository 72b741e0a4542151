// Views of a stack.
#import <Foundation/Foundation.h>
#import "StackView.h"
#include <math.h>
@import UIKit;

#define MARGIN 8
#define CLAMP(x) MAX(0, (x))

NS_ASSUME_NONNULL_BEGIN

@class Item, Other;

typedef NS_ENUM(NSInteger, StackMode) {
  StackModeOpen,
  StackModeClosed = 2,
};
typedef void (^StackHandler)(int code);
typedef struct { int x; } Offset;

NSString *const kStackName = @"stack";
static int counter = 0;

/// What observes a stack.
@protocol StackObserver <NSObject, Sized>
/// Called after a change.
- (void)stackDidChange:(int)count;
@optional
@property (nonatomic, readonly) NSString *title;
@end

/// A view of a stack.
@interface StackView : UIView <StackObserver, NSCopying> {
  int _count;
}
/// The name.
@property (nonatomic, strong) NSString *name;
@property (nonatomic, copy) void (^handler)(int);
@property int count API_AVAILABLE(ios(10), macos(10.12));

/// Makes a view.
- (instancetype)initWithFrame:(CGRect)frame style:(int)style NS_DESIGNATED_INITIALIZER;
+ (instancetype)shared;
- (BOOL)isOpen:(id)first :(id)second;
@end

@interface StackView (Drawing)
- (void)draw;
@end

@interface Empty : NSObject
@end

NS_ASSUME_NONNULL_END

@implementation StackView
@synthesize name = _name;

// Fills in the frame.
- (instancetype)initWithFrame:(CGRect)frame style:(int)style {
  if (self = [super initWithFrame:frame]) {
    [self setUp:frame with:style];
    [[Item alloc] init].count = CLAMP(style);
  }
  return self;
}

+ (instancetype)shared {
  static StackView *view;
  dispatch_once(&token, ^{ int inside = 1; view = [StackView new]; });
  for (id item in items) { [item touch]; }
  @try { run(); } @catch (NSException *e) { [e log]; }
  return view != nil && counter ? view : nil;
}
@end

@implementation StackView (Drawing)
- (void)draw { [self setNeedsDisplay]; }
@end

/* Counts. */
static int helper(int x) { return x; }
int *total(void);

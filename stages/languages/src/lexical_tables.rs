//! Tables of the comment delimiters, quotes and keywords of all languages, for highlighting.

/// The tokens of a language that highlighting distinguishes.
pub(crate) struct LexicalTable {
    /// Family names of the languages, separated by spaces.
    pub(crate) languages: &'static str,
    /// Delimiters that begin a comment up to the end of the line.
    pub(crate) line_comments: &'static [&'static str],
    /// Delimiters of comments that may span lines.
    pub(crate) block_comment: Option<(&'static str, &'static str)>,
    /// Quotes of string literals, longer quotes first. The flag says whether the literal may span lines.
    pub(crate) strings: &'static [(&'static str, bool)],
    /// Reserved words, separated by spaces.
    pub(crate) keywords: &'static str,
}

impl LexicalTable {
    /// Returns the table for a language family.
    pub(crate) fn for_language(family: &str) -> Option<&'static Self> {
        TABLES.iter().find(|table| table.languages.split(' ').any(|name| name == family))
    }

    /// Whether a word is reserved.
    pub(crate) fn is_keyword(&self, word: &str) -> bool {
        self.keywords.split(' ').any(|keyword| keyword == word)
    }
}

pub(crate) static TABLES: &[LexicalTable] = &[
    LexicalTable {
        languages: "astro javascript svelte typescript vue",
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        strings: &[("`", true), ("\"", false), ("'", false)],
        keywords: "abstract as async await break case catch class const continue declare default delete do else enum export extends \
            false finally for from function get if implements import in instanceof interface let namespace new null of private \
            protected public readonly return set static super switch this throw true try type typeof undefined var void while \
            with yield",
    },
    LexicalTable {
        languages: "bash",
        line_comments: &["#"],
        block_comment: None,
        strings: &[("\"", true), ("'", true), ("`", false)],
        keywords: "alias break case cd continue coproc declare do done echo elif else esac eval exec exit export false fi for function \
            if in local printf read readonly return select set shift source then time trap true typeset unset until while",
    },
    LexicalTable {
        languages: "c",
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        strings: &[("\"", false), ("'", false)],
        keywords: "_Atomic _Bool _Generic _Noreturn _Static_assert _Thread_local alignas alignof auto bool break case char const \
            constexpr continue default do double else enum extern false float for goto if inline int long nullptr register \
            restrict return short signed sizeof static static_assert struct switch thread_local true typedef typeof union \
            unsigned void volatile while",
    },
    LexicalTable {
        languages: "cmake",
        line_comments: &["#"],
        block_comment: Some(("#[[", "]]")),
        strings: &[("\"", true)],
        keywords: "AND DEFINED EQUAL EXISTS FALSE GREATER LESS MATCHES NOT OFF ON OR STREQUAL TARGET TRUE VERSION_LESS block break \
            continue else elseif endblock endforeach endfunction endif endmacro endwhile foreach function if macro return while",
    },
    LexicalTable {
        languages: "containerfile",
        line_comments: &["#"],
        block_comment: None,
        strings: &[("\"", false), ("'", false)],
        keywords: "ADD ARG AS CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL MAINTAINER NONE ONBUILD RUN SHELL STOPSIGNAL USER \
            VOLUME WORKDIR",
    },
    LexicalTable {
        languages: "cpp",
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        strings: &[("\"", false), ("'", false)],
        keywords: "alignas alignof and asm auto bool break case catch char char16_t char32_t char8_t class co_await co_return co_yield \
            concept const const_cast consteval constexpr constinit continue decltype default delete do double dynamic_cast else \
            enum explicit export extern false final float for friend goto if inline int long mutable namespace new noexcept not \
            nullptr operator or override private protected public register reinterpret_cast requires return short signed sizeof \
            static static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename \
            typeof union unsigned using virtual void volatile wchar_t while",
    },
    LexicalTable {
        languages: "csharp",
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        strings: &[("\"\"\"", true), ("\"", false), ("'", false)],
        keywords: "abstract as async await base bool break byte case catch char checked class const continue decimal default delegate \
            do double else enum event explicit extern false finally fixed float for foreach get global goto if implicit in init \
            int interface internal is lock long namespace new null object operator out override params partial private protected \
            public readonly record ref required return sbyte sealed set short sizeof stackalloc static string struct switch this \
            throw true try typeof uint ulong unchecked unsafe ushort using value var virtual void volatile when where while with \
            yield",
    },
    LexicalTable {
        languages: "css",
        line_comments: &[],
        block_comment: Some(("/*", "*/")),
        strings: &[("\"", false), ("'", false)],
        keywords: "and auto charset from i import important inherit initial keyframes layer media none not only or supports to unset \
            var",
    },
    LexicalTable {
        languages: "dart",
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        strings: &[("\"\"\"", true), ("'''", true), ("\"", false), ("'", false)],
        keywords: "abstract as assert async await base bool break case catch class const continue covariant default deferred do double \
            dynamic else enum export extends extension external factory false final finally for get hide if implements import in \
            int interface is late library mixin new null num of on operator part required rethrow return sealed set show static \
            super switch sync this throw true try typedef var void when while with yield",
    },
    LexicalTable {
        languages: "elixir",
        line_comments: &["#"],
        block_comment: None,
        strings: &[("\"\"\"", true), ("'''", true), ("\"", true), ("'", false)],
        keywords: "after alias and case catch cond def defdelegate defexception defguard defguardp defimpl defmacro defmacrop defmodule \
            defp defprotocol defstruct do else end false fn for if import in nil not or quote raise receive require rescue super \
            true try unless unquote use when with",
    },
    LexicalTable {
        languages: "go",
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        strings: &[("`", true), ("\"", false), ("'", false)],
        keywords: "break case chan const continue default defer else fallthrough false for func go goto if import interface iota map \
            nil package range return select struct switch true type var",
    },
    LexicalTable {
        languages: "graphql",
        line_comments: &["#"],
        block_comment: None,
        strings: &[("\"\"\"", true), ("\"", false)],
        keywords: "directive enum extend false fragment implements input interface mutation null on query repeatable scalar schema \
            subscription true type union",
    },
    LexicalTable {
        languages: "groovy",
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        strings: &[("\"\"\"", true), ("'''", true), ("\"", false), ("'", false)],
        keywords: "abstract as assert boolean break byte case catch char class const continue def default do double else enum extends \
            false final finally float for goto if implements import in instanceof int interface it long native new null package \
            private protected public record return sealed short static strictfp super switch synchronized this throw throws \
            trait transient true try var void volatile while yield",
    },
    LexicalTable {
        languages: "haskell",
        line_comments: &["--"],
        block_comment: Some(("{-", "-}")),
        strings: &[("\"", false)],
        keywords: "as case class data deriving do else family forall foreign hiding if import in infix infixl infixr instance let mdo \
            module newtype of pattern qualified rec then type where",
    },
    LexicalTable {
        languages: "hcl",
        line_comments: &["#", "//"],
        block_comment: Some(("/*", "*/")),
        strings: &[("\"", false)],
        keywords: "any bool dynamic else endfor endif false for if in list locals map module null number object output provider \
            resource set string terraform true tuple variable",
    },
    LexicalTable {
        languages: "html xml",
        line_comments: &[],
        block_comment: Some(("<!--", "-->")),
        strings: &[("\"", true), ("'", false)],
        keywords: "",
    },
    LexicalTable {
        languages: "ini",
        line_comments: &["#", ";"],
        block_comment: None,
        strings: &[("\"", false)],
        keywords: "",
    },
    LexicalTable {
        languages: "java",
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        strings: &[("\"\"\"", true), ("\"", false), ("'", false)],
        keywords: "abstract assert boolean break byte case catch char class continue default do double else enum extends false final \
            finally float for if implements import instanceof int interface long native new null package private protected \
            public record return sealed short static super switch synchronized this throw throws transient true try var void \
            volatile while yield",
    },
    LexicalTable {
        languages: "json",
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        strings: &[("\"", false)],
        keywords: "false null true",
    },
    LexicalTable {
        languages: "kotlin",
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        strings: &[("\"\"\"", true), ("\"", false), ("'", false)],
        keywords: "abstract actual annotation as break by catch class companion const constructor continue crossinline data do else \
            enum expect external false final finally for fun get if import in infix init inline inner interface internal is \
            lateinit noinline null object open operator out override package private protected public reified return sealed set \
            super suspend tailrec this throw true try typealias val value var vararg when where while",
    },
    LexicalTable {
        languages: "lua",
        line_comments: &["--"],
        block_comment: None,
        strings: &[("\"", false), ("'", false)],
        keywords: "and break do else elseif end false for function goto if in local nil not or repeat return self then true until while",
    },
    LexicalTable {
        languages: "make",
        line_comments: &["#"],
        block_comment: None,
        strings: &[("\"", false), ("'", false)],
        keywords: "-include define else endef endif export ifdef ifeq ifndef ifneq include override private sinclude undefine unexport \
            vpath",
    },
    LexicalTable {
        languages: "objc",
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        strings: &[("\"", false), ("'", false)],
        keywords: "BOOL NO NULL YES _Atomic _Bool _Generic _Noreturn _Static_assert _Thread_local __block __strong __weak assign atomic \
            auto autoreleasepool bool break case catch char class const continue copy default do double dynamic else end enum \
            extern false finally float for goto id if implementation import in inline instancetype int interface long nil \
            nonatomic nonnull nullable optional package private property protected protocol public readonly readwrite register \
            required restrict return selector self short signed sizeof static strong struct super switch synchronized synthesize \
            throw true try typedef typeof union unsigned void volatile weak while",
    },
    LexicalTable {
        languages: "perl",
        line_comments: &["#"],
        block_comment: None,
        strings: &[("\"", false), ("'", false)],
        keywords: "and class cmp continue die do each else elsif eq eval field for foreach ge gt if last le local lt method my ne next \
            no not or our package redo require return say sub undef unless until use wantarray while xor",
    },
    LexicalTable {
        languages: "php",
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        strings: &[("\"", true), ("'", true), ("`", true)],
        keywords: "abstract and array as bool break callable case catch class clone const continue declare default do echo else elseif \
            empty enum extends false final finally float fn for foreach function global goto if implements include include_once \
            instanceof insteadof int interface isset iterable list match mixed namespace never new null object or parent print \
            private protected public readonly require require_once return self static string switch throw trait true try unset \
            use var void while xor yield",
    },
    LexicalTable {
        languages: "powershell",
        line_comments: &["#"],
        block_comment: Some(("<#", "#>")),
        strings: &[("\"", false), ("'", false)],
        keywords: "begin break catch class continue data do dynamicparam else elseif end enum exit filter finally for foreach function \
            hidden if in param process return static switch throw trap try until using while workflow",
    },
    LexicalTable {
        languages: "protobuf",
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        strings: &[("\"", false), ("'", false)],
        keywords: "bool bytes double edition enum extend extensions false fixed32 fixed64 float group import int32 int64 map message \
            oneof option optional package public repeated required reserved returns rpc service sfixed32 sfixed64 sint32 sint64 \
            stream string syntax to true uint32 uint64 weak",
    },
    LexicalTable {
        languages: "python",
        line_comments: &["#"],
        block_comment: None,
        strings: &[("\"\"\"", true), ("'''", true), ("\"", false), ("'", false)],
        keywords: "False None True and as assert async await break case class continue def del elif else except finally for from global \
            if import in is lambda match nonlocal not or pass raise return self try while with yield",
    },
    LexicalTable {
        languages: "r",
        line_comments: &["#"],
        block_comment: None,
        strings: &[("\"", true), ("'", true), ("`", false)],
        keywords: "FALSE Inf NA NULL NaN TRUE break else for function if in library next repeat require return source while",
    },
    LexicalTable {
        languages: "ruby",
        line_comments: &["#"],
        block_comment: Some(("=begin", "=end")),
        strings: &[("\"", false), ("'", false), ("`", false)],
        keywords: "BEGIN END alias and begin break case class def defined do else elsif end ensure false for if in module next nil not \
            or redo rescue retry return self super then true undef unless until when while yield",
    },
    // A quote may begin a lifetime, so character literals are not highlighted.
    LexicalTable {
        languages: "rust",
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        strings: &[("\"", true)],
        keywords: "Self as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move \
            mut pub ref return self static struct super trait true type unsafe use where while",
    },
    LexicalTable {
        languages: "scala",
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        strings: &[("\"\"\"", true), ("\"", false)],
        keywords: "abstract case catch class def derives do else end enum export extends extension false final finally for forSome \
            given if implicit import infix inline lazy macro match new null object opaque open override package private \
            protected return sealed super then this throw trait transparent true try type using val var while with yield",
    },
    LexicalTable {
        languages: "sql",
        line_comments: &["--"],
        block_comment: Some(("/*", "*/")),
        strings: &[("'", true), ("\"", false)],
        keywords: "ADD ALTER AND AS BEGIN BY CASE CREATE DEFAULT DELETE DROP ELSE END EXISTS FROM FUNCTION GROUP IF IN INDEX INSERT \
            INTO IS JOIN KEY NOT NULL ON OR ORDER PRIMARY REFERENCES RETURN RETURNS SELECT SET TABLE THEN TRIGGER UNION UNIQUE \
            UPDATE VALUES VIEW WHEN WHERE WITH add alter and as begin by case create default delete drop else end exists from \
            function group if in index insert into is join key not null on or order primary references return returns select set \
            table then trigger union unique update values view when where with",
    },
    LexicalTable {
        languages: "swift",
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        strings: &[("\"\"\"", true), ("\"", false)],
        keywords: "Any Self actor as associatedtype async await break case catch class continue convenience default defer deinit do \
            else enum extension fallthrough false fileprivate final for func get guard if import in indirect infix init inout \
            internal is isolated lazy let macro mutating nil nonisolated nonmutating open operator optional override postfix \
            precedencegroup prefix private protocol public repeat required rethrows return self set some static struct subscript \
            super switch throw throws true try typealias unowned var weak where while",
    },
    LexicalTable {
        languages: "toml",
        line_comments: &["#"],
        block_comment: None,
        strings: &[("\"\"\"", true), ("'''", true), ("\"", false), ("'", false)],
        keywords: "false inf nan true",
    },
    LexicalTable {
        languages: "yaml",
        line_comments: &["#"],
        block_comment: None,
        strings: &[("\"", true), ("'", true)],
        keywords: "false no null off on true yes",
    },
    LexicalTable {
        languages: "zig",
        line_comments: &["//"],
        block_comment: None,
        strings: &[("\"", false), ("'", false)],
        keywords: "align allowzero and anyframe anytype asm async await break callconv catch comptime const continue defer else enum \
            errdefer error export extern false fn for if inline linksection noalias noinline null opaque or orelse packed pub \
            resume return struct suspend switch test threadlocal true try undefined union unreachable usingnamespace var \
            volatile while",
    },
];

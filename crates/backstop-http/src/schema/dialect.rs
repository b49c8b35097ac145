//! The dialects, as data.

/// What one vendor accepts.
///
/// The ready ones are constants; a copy with other fields is a dialect for a server that differs.
///
/// ```
/// use backstop_http::schema::{Dialect, Limits};
///
/// // A server that takes OpenAI's strict schemas, but only five levels deep.
/// let mine = Dialect { name: "mine", limits: Limits { depth: Some(5), ..Limits::NONE }, ..Dialect::OPENAI_STRICT };
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// For messages.
    pub name: &'static str,
    /// The root must be an object without alternatives; other roots are wrapped.
    pub object_root: bool,
    /// How schemas are rewritten. `None`: they are sent as they are.
    pub rules: Option<Rules>,
    /// What the totals of a schema may be.
    pub limits: Limits,
}

/// How schemas are rewritten. All rewriting dialects have local references, `anyOf` instead of `oneOf`, and no
/// `allOf`: those are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Keywords that are sent, beside those that shape the schema (`type`, `properties`, `items`, `anyOf`, …).
    pub keywords: &'static [&'static str],
    /// What is done about properties that are not listed.
    pub additional: Additional,
    /// Every property must be required; optional ones become nullable.
    pub all_required: bool,
    /// What references may do.
    pub refs: Refs,
    /// How types are written.
    pub types: Types,
    /// What an `enum` may list.
    pub enums: Enums,
    /// Whether `const` is known; it becomes an `enum` of one value otherwise.
    pub constants: bool,
    /// Whether a schema without a type is accepted.
    pub untyped: bool,
    /// Whether `prefixItems` is known.
    pub tuples: bool,
    /// Which `format`s are known.
    pub formats: &'static [&'static str],
    /// Which `pattern`s are known, if the keyword is.
    pub patterns: Patterns,
    /// The largest `minItems` that is accepted, if the keyword is.
    pub min_items: Option<u64>,
    /// Write `propertyOrdering`.
    pub ordering: bool,
    /// Constraints that are not known go into the description, where the model reads them.
    pub describe: bool,
}

/// What a dialect does about properties that an object does not list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Additional {
    /// `additionalProperties: false` must stand on every object.
    Closed,
    /// `additionalProperties` is known, also with a schema.
    Known,
    /// `additionalProperties` is not known, and every object must list properties.
    Unknown,
}

/// What references may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refs {
    /// They stand, and point into `$defs`.
    Defs(Recursion),
    /// They are not known: their targets are put in their place.
    Inlined,
}

/// Whether a schema may contain itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recursion {
    /// It may.
    Allowed,
    /// It may, below a property that is not required.
    BelowOptional,
    /// It may not.
    Forbidden,
}

/// How types are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Types {
    /// As in JSON Schema; a list of types, one of them `null`, is known.
    JsonSchema,
    /// As in OpenAPI 3.0: one type in capital letters, and `nullable`.
    OpenApi,
}

/// What an `enum` may list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enums {
    /// Any JSON.
    Any,
    /// Strings, numbers and booleans.
    Primitives,
    /// Strings and numbers.
    StringsAndNumbers,
    /// Strings.
    Strings,
}

/// Which `pattern`s are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patterns {
    /// All.
    All,
    /// Those that begin with `^` and end with `$`.
    Anchored,
}

/// What the totals of a schema may be. `None`: no limit is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Objects within objects.
    pub depth: Option<usize>,
    /// Properties, all objects together.
    pub properties: Option<usize>,
    /// Values of all `enum`s together.
    pub enum_values: Option<usize>,
    /// Characters of one `enum` of strings with more than [`LARGE_ENUM`](Self::LARGE_ENUM) values.
    pub large_enum_chars: Option<usize>,
    /// Characters of all names and of all `enum` and `const` values together.
    pub chars: Option<usize>,
    /// Properties that are not required.
    pub optional: Option<usize>,
    /// Places with several types.
    pub unions: Option<usize>,
}

impl Limits {
    /// No limit is known.
    pub const NONE: Self = Self {
        depth: None,
        properties: None,
        enum_values: None,
        large_enum_chars: None,
        chars: None,
        optional: None,
        unions: None,
    };

    /// From how many values on an `enum` counts as large.
    pub const LARGE_ENUM: usize = 250;
}

const STRICT_FORMATS: &[&str] =
    &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// The answer must be an object, and the vendor checks nothing else.
const ANY_OBJECT: Dialect = Dialect { name: "object", object_root: true, rules: None, limits: Limits::NONE };

impl Dialect {
    /// OpenAI's `json_schema` with `strict: true`, and its strict tools.
    pub const OPENAI_STRICT: Self = Self {
        name: "OpenAI strict",
        object_root: true,
        rules: Some(Rules {
            keywords: &[
                "title",
                "pattern",
                "format",
                "minimum",
                "maximum",
                "exclusiveMinimum",
                "exclusiveMaximum",
                "multipleOf",
                "minItems",
                "maxItems",
            ],
            additional: Additional::Closed,
            all_required: true,
            refs: Refs::Defs(Recursion::Allowed),
            types: Types::JsonSchema,
            enums: Enums::Any,
            constants: true,
            untyped: false,
            tuples: false,
            formats: STRICT_FORMATS,
            patterns: Patterns::All,
            min_items: None,
            ordering: false,
            describe: true,
        }),
        limits: Limits {
            depth: Some(10),
            properties: Some(5_000),
            enum_values: Some(1_000),
            large_enum_chars: Some(15_000),
            chars: Some(120_000),
            optional: None,
            unions: None,
        },
    };

    /// OpenAI's `json_schema` without `strict`: a hint to the model, not checked by the vendor.
    pub const OPENAI_LOOSE: Self = Self { name: "OpenAI loose", ..ANY_OBJECT };

    /// Anthropic's output format and its strict tools.
    pub const ANTHROPIC: Self = Self {
        name: "Anthropic",
        object_root: true,
        rules: Some(Rules {
            keywords: &["title", "format", "minItems"],
            additional: Additional::Closed,
            all_required: false,
            refs: Refs::Defs(Recursion::Forbidden),
            types: Types::JsonSchema,
            enums: Enums::Primitives,
            constants: true,
            untyped: false,
            tuples: false,
            formats: &[
                "date-time",
                "time",
                "date",
                "duration",
                "email",
                "hostname",
                "ipv4",
                "ipv6",
                "uuid",
                "uri",
            ],
            patterns: Patterns::All,
            min_items: Some(1),
            ordering: false,
            describe: true,
        }),
        limits: Limits { optional: Some(24), unions: Some(16), ..Limits::NONE },
    };

    /// Anthropic's `input_schema` of a tool that is not strict.
    pub const ANTHROPIC_TOOL: Self = Self { name: "Anthropic tool", ..ANY_OBJECT };

    /// Gemini's `responseJsonSchema` and `parametersJsonSchema`.
    pub const GEMINI_JSON: Self = Self {
        name: "Gemini JSON Schema",
        object_root: false,
        rules: Some(Rules {
            keywords: &["title", "format", "minItems", "maxItems", "minimum", "maximum"],
            additional: Additional::Known,
            all_required: false,
            refs: Refs::Defs(Recursion::BelowOptional),
            types: Types::JsonSchema,
            enums: Enums::StringsAndNumbers,
            constants: false,
            untyped: true,
            tuples: true,
            formats: &["date-time", "date", "time", "int32", "int64", "float", "double"],
            patterns: Patterns::All,
            min_items: None,
            ordering: true,
            describe: true,
        }),
        limits: Limits::NONE,
    };

    /// Gemini's older `responseSchema`, a subset of OpenAPI 3.0.
    pub const GEMINI_OPENAPI: Self = Self {
        name: "Gemini OpenAPI schema",
        object_root: false,
        rules: Some(Rules {
            keywords: &[
                "format",
                "minItems",
                "maxItems",
                "minimum",
                "maximum",
                "minLength",
                "maxLength",
                "pattern",
            ],
            additional: Additional::Unknown,
            all_required: false,
            refs: Refs::Inlined,
            types: Types::OpenApi,
            enums: Enums::Strings,
            constants: false,
            untyped: false,
            tuples: false,
            formats: &["date-time", "int32", "int64", "float", "double"],
            patterns: Patterns::All,
            min_items: None,
            ordering: true,
            describe: true,
        }),
        limits: Limits::NONE,
    };

    /// Ollama's `format`, and other servers that turn a schema into a grammar (llama.cpp, vLLM).
    pub const GRAMMAR: Self = Self {
        name: "grammar",
        object_root: false,
        rules: Some(Rules {
            keywords: &[
                "title",
                "format",
                "pattern",
                "minItems",
                "maxItems",
                "minLength",
                "maxLength",
                "minimum",
                "maximum",
                "exclusiveMinimum",
                "exclusiveMaximum",
            ],
            additional: Additional::Known,
            all_required: false,
            refs: Refs::Defs(Recursion::Allowed),
            types: Types::JsonSchema,
            enums: Enums::Any,
            constants: true,
            untyped: true,
            tuples: true,
            formats: &["date", "time", "date-time", "uuid"],
            patterns: Patterns::Anchored,
            min_items: None,
            ordering: false,
            // A grammar never shows the model a description.
            describe: false,
        }),
        limits: Limits::NONE,
    };

    /// For JSON mode with the schema in the prompt: any schema whose root is an object.
    pub const PROMPT: Self = Self { name: "prompt", ..ANY_OBJECT };
}

//! The shape of the options that only one adapter understands.

/// Declares the options of one adapter: a struct whose fields are all optional and not sent unless they are set, with a
/// method for each that sets it. After `=` stands what the method takes. A second list has fields that are lists; their
/// methods are written by hand.
///
/// ```
/// backstop_http::provider_options! {
///     /// What only this vendor has.
///     MyOptions for "mine" {
///         /// How hard it tries.
///         effort: String = impl Into<String>,
///     } {
///         /// What it is told beside.
///         hints: Vec<String>,
///     }
/// }
///
/// let request = backstop_core::Request::new("x").options(&MyOptions::new().effort("low"))?;
/// assert_eq!(request.provider_options["mine"].to_string(), r#"{"effort":"low"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[macro_export]
macro_rules! provider_options {
    (
        $(#[$about:meta])* $options:ident for $provider:literal {
            $($(#[$doc:meta])* $name:ident: $kind:ty = $given:ty,)*
        } $({
            $($(#[$list_doc:meta])* $list:ident: Vec<$item:ty>,)*
        })?
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default)]
        #[non_exhaustive]
        pub struct $options {
            $($(#[$doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $name: Option<$kind>,)*
            $($($(#[$list_doc])* #[serde(skip_serializing_if = "Vec::is_empty")] pub $list: Vec<$item>,)*)?
        }

        impl $options {
            /// Nothing set.
            #[must_use]
            pub fn new() -> Self {
                Self::default()
            }

            $(
                $(#[$doc])*
                #[must_use]
                pub fn $name(mut self, value: $given) -> Self {
                    self.$name = Some(value.into());
                    self
                }
            )*
        }

        impl backstop_core::ProviderOptions for $options {
            const PROVIDER: &'static str = $provider;
        }
    };
}

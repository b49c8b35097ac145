//! What every HTTP adapter of backstop shares.

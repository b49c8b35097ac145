//! The chain, the circuit breaker and the failure taxonomy of backstop.

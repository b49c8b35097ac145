//! One typed async call that comes back with a valid answer from whichever LLM provider can give one.

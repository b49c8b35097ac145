//! Scripted provider and loopback LLM server for tests of backstop applications.

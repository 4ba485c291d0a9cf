//! Behaviour of the password range service.

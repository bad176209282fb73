"""Refinement: a model reads a session and lists its facts, which are checked and merged with the known ones. This
package builds the prompt, parses the reply and derives the facts.
"""

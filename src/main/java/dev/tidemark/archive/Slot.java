package dev.tidemark.archive;

/**
 * The place of an excerpt.
 *
 * @param cycle its roll file
 * @param index its number in the file, from 0
 */
record Slot(int cycle, long index) {}

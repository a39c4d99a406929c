/** What leads back from something that was done, and the word for it. */
export interface UndoAction {
  readonly label: 'undo' | 'blockAgain'
  run(): void
}

/**
 * What the way back from a block, or from its end, is to be called.
 *
 * A block can be undone: unblocking takes back what it did and no more, of a user's block the containers that it took
 * along. An unblock cannot. With each block is stored who did it and when, and whether it fell on a container by itself or
 * with its owner, and no request says "as it was": it would write into the store, and into the log, that somebody else
 * blocked it, or earlier. Putting together something close from several requests was thought of; it fails between them,
 * and for a thousand users nobody knows beforehand which of their containers were unblocked one by one. So an unblock is
 * followed by the offer of another block, in those words: a container's own, or a user's with all their containers.
 * @param wanted what was done: blocked, or not
 */
export const undoLabelFor = (wanted: boolean): UndoAction['label'] => (wanted ? 'undo' : 'blockAgain')

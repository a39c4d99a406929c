/** An action that reverses another one, and its label. */
export interface UndoAction {
  readonly label: 'undo' | 'blockAgain'
  run(): void
}

/**
 * The label of the action that reverses a block or an unblock.
 * A block can be undone: an unblock reverses exactly what it did, including the cascade of a user's block to their
 * containers. An unblock cannot: each block is stored with its actor, its time and whether it cascaded, and no request
 * restores these. A new block would be stored and logged as another administrator's, or at another time; a combination
 * of several requests could fail between them, and for a thousand users it is unknown which containers were blocked
 * separately. So after an unblock the page offers another block, in these words: of the container, or of a user with
 * all their containers.
 * @param wanted the state that was set: blocked, or not
 */
export const undoLabelFor = (wanted: boolean): UndoAction['label'] => (wanted ? 'undo' : 'blockAgain')

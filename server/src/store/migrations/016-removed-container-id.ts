import { addColumn, type Up } from './columns.ts'

/** The engine's id of a deleted container, which finds it when it was renamed on the engine. */
export const removedContainerId: Up = (db) => addColumn(db, 'removals', 'container_id', 'text')

import { addColumn, type Up } from './columns.ts'

/** What users chose for the parameters of a template. */
export const parameters: Up = (db) => addColumn(db, 'user_containers', 'parameters', 'text')

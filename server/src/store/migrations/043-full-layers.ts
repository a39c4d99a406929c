import { addColumn, type Up } from './columns.ts'

/** Containers that Berth stopped because of what they had written outside of their homes. */
export const fullLayers: Up = async (db) => {
  await addColumn(db, 'user_containers', 'full_layer', 'bigint')
}

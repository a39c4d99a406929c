import type { ConnectionCheck } from '#/store/open/postgres-dialect.ts'

/**
 * For each connection of a follower that reads: it cannot write, and reads where the leader writes, so that what the leader has
 * answered is seen. @throws {Error} from the check, for a standby of the database
 */
export const readOnly: ConnectionCheck = async (client) => {
  await client.query('set session characteristics as transaction read only')
  const { rows } = await client.query<{ isStandby: boolean }>('select pg_is_in_recovery() as "isStandby"')
  if (rows[0]?.isStandby) throw new Error('the database is a standby')
}

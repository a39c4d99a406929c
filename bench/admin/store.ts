import { sql } from 'kysely'
import { openDatabase } from '../../server/src/store/database.ts'
import { fillStore, withoutTimeouts } from '../accounts-store.ts'
import { fillGroups, fillUsage } from './groups.ts'

const [minute, day] = [60_000, 86_400_000]

/** How many of a hundred containers with an engine id run; spread over the whole store. */
export const runningOfHundred = 3
/** The engine's id of this user's container. */
export const containerIdOf = (userId: number) => `bench${userId}`

/**
 * A store like a university's after some years: users with one container each; one in 50 never verified, one in 7 is
 * blocked, one in 5 never signed in, ten are administrators; one container in four is not in the engine. As many audit
 * entries as users. They are in a thousand groups. @param url as in `fillStore` @param days with sums of use of every user
 */
export async function fillUniversity(url: string | null, dataDir: string, people: number, days: number): Promise<void> {
  await fillStore(url, dataDir, { people, links: 1 })
  const { close, ...database } = await openDatabase(url, dataDir)
  const db = url === null ? database.db : await withoutTimeouts(url)
  const now = Date.now()
  const run = (text: string) => sql.raw(text).execute(db)
  const lastUsed = `case when id % 5 = 0 then null else ${now} - (id * 7919 % 100003) * ${minute} end`
  for (let from = 0; from < people; from += 10_000) {
    const some = `id > ${from} and id <= ${Math.min(people, from + 10_000)}`
    await run(`update users set last_used = ${lastUsed}, created_at = ${now - 300 * day} + id * 1000,
        is_blocked = case when id % 7 = 0 then 1 else 0 end, is_admin = case when id % 10000 = 1 then 1 else 0 end,
        state = case when id % 50 = 0 then 'registered' when id % 3 = 0 then 'verified' else state end
      where ${some}`)
    await run(`update user_containers set last_used = ${lastUsed}, created_at = ${now - 300 * day} + id * 1000,
        container_type = case when id % 3 = 0 then 'prod' else container_type end,
        is_blocked = case when user_id % 7 = 0 then 1 else 0 end,
        container_id = case when id % 4 = 0 then null else 'bench' || user_id end
      where ${some}`)
    await run(`insert into audit_log (at, actor_id, actor_email, action, target, detail, position, hash)
      select ${now - 300 * day} + id * 4 * ${minute}, 1 + id % 10, 'admin' || (id % 10), 'user.block', 'user:' || id, '{}', id, ''
      from users where ${some}`)
  }
  await fillGroups(run, url !== null, people)
  await fillUsage(run, people, days)
  // Autovacuum would do it within a minute; Berth never analyzes SQLite.
  if (url !== null) await run('analyze')
  if (url !== null) await db.destroy()
  await close()
}

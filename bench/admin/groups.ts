import { usageColumns } from '../../server/src/store/usage-sums.ts'
import { numbersUpTo } from '../accounts-store.ts'

/** Groups of the store; each user but those of the load is in one. */
export const groupCount = 1_000
const types = ['dev', 'prod', 'lab']
const day = 86_400_000

type Run = (text: string) => Promise<unknown>

/** A thousand groups, of a hundred members each with 100,000 people, some with an open invitation. */
export async function fillGroups(run: Run, isPostgres: boolean, people: number): Promise<void> {
  const now = Date.now()
  const numbers = numbersUpTo(groupCount, isPostgres)
  await run(`${numbers} insert into user_groups (name, description, source, types, created_at)
    select 'Course ' || n, 'Course number ' || n || ' of the bench', 'local',
      case when n % 2 = 0 then '["dev","prod"]' else null end, ${now - 300 * day} from numbers`)
  await run(`insert into group_members (group_id, user_id, role, source, created_at)
    select 1 + id % ${groupCount}, id, case when id <= ${groupCount} then 'manager' else 'member' end, 'local', ${now}
    from users where id <= ${people}`)
  await run(`insert into group_invitations (group_id, email, role, invited_by, created_at)
    select 1 + id % ${groupCount}, 'invited' || id || '@crowd.test', 'member', 'bench', ${now} from users where id <= ${people / 10}`)
}

/**
 * Sums of use of every user in three types on every day, of two months, of groups, and of all: what a store has at most.
 * @param days up to today
 */
export async function fillUsage(run: Run, people: number, days: number): Promise<void> {
  const now = Date.now()
  const periods = Array.from({ length: days }, (_, ago) => new Date(now - ago * day).toISOString().slice(0, 10))
  for (const period of periods.toReversed()) await fillPeriod(run, 'day', period, people)
  for (const month of monthsBefore(now, 24))
    await fillPeriod(run, 'month', month, people, month >= monthsBefore(now, 2)[0]!)
}

const monthsBefore = (now: number, count: number) =>
  Array.from({ length: count }, (_, ago) => {
    const at = new Date(now)
    at.setUTCDate(1)
    at.setUTCMonth(at.getUTCMonth() - count + 1 + ago)
    return at.toISOString().slice(0, 7)
  })

async function fillPeriod(run: Run, unit: 'day' | 'month', period: string, people: number, hasUsers = true) {
  const names = types.map((type) => `select '${type}' as type`).join(' union all ')
  const insert = (kind: string, subject: string, of: string, factor: number) => {
    const values = usageColumns.map((_, at) => (at === 0 ? `(3600 + ${subject} * 7919 % 20011) * ${factor}` : `${at}`))
    return run(`insert into usage_sums (unit, period, kind, subject_id, container_type, ${usageColumns.join(', ')})
      select '${unit}', '${period}', '${kind}', ${subject} as subject_id, type, ${values.join(', ')}
      from ${of} order by subject_id, type`)
  }
  if (hasUsers)
    await insert('user', 'users.id', `(select id from users where id <= ${people}) users, (${names}) types`, 1)
  await insert('group', 'user_groups.id', `(select id from user_groups) user_groups, (${names}) types`, 100)
  await insert('all', '0', `(${names}) types`, 100_000)
}
